import { fileURLToPath } from 'node:url'
import { Secret } from '../kernel/secret.ts'

/** An S3-compatible bucket. Without credentials the SDK uses those of the machine. */
export type BucketLocation = {
  kind: 'bucket'
  bucket: string
  /** The prefix of all keys: empty, or ending with a slash. */
  prefix: string
  /** Undefined selects the default endpoint of the region. */
  endpoint: string | undefined
  region: string
  credentials: { id: string; secret: Secret } | undefined
  /** Whether the bucket name is part of the host name (virtual-hosted style) instead of the path. */
  hostStyle: boolean
}

export type FileLocation = BucketLocation | { kind: 'directory'; dir: string }

const FORM = 'must look like s3://bucket/prefix?endpoint=https://host:9000&region=eu-west-1 or file:///directory'
const OPTIONS = ['endpoint', 'region', 'style']

/** Parses DENDRO_EXPORT_URL. Errors never repeat the URL, because it may contain a secret. */
export function parseFileLocation(text: string): FileLocation {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'file:' && url.host === '') return { kind: 'directory', dir: fileURLToPath(url) }
  const { hostname: bucket = '', searchParams: options = new URLSearchParams() } = url ?? {}
  if (url?.protocol !== 's3:' || url.port !== '' || !/^[a-z0-9][a-z0-9._-]{1,62}$/.test(bucket)) throw new Error(FORM)
  const odd = [...options.keys()].find((name) => !OPTIONS.includes(name))
  if (odd !== undefined) throw new Error(`has options other than ${OPTIONS.join(', ')}`)
  const endpoint = options.get('endpoint') ?? undefined
  if (endpoint !== undefined && !/^https?:\/\/[^/]+/.test(endpoint)) throw new Error('must have an http or https address as its endpoint')
  const style = options.get('style') ?? (endpoint === undefined ? 'host' : 'path')
  if (style !== 'host' && style !== 'path') throw new Error('must have host or path as its style')
  if ((url.username === '') !== (url.password === '')) throw new Error('must have both a key and its secret, or neither')
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  return {
    kind: 'bucket',
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    region: options.get('region') ?? 'us-east-1',
    credentials:
      url.username === '' ? undefined : { id: decodeURIComponent(url.username), secret: new Secret(decodeURIComponent(url.password)) },
    hostStyle: style === 'host',
  }
}
