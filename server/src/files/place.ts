import { fileURLToPath } from 'node:url'
import { Secret } from '../kernel/secret.ts'

/** A BucketPlace is a bucket with the interface of S3; without credentials those of the machine are used. */
export type BucketPlace = {
  kind: 'bucket'
  bucket: string
  /** prefix is what the keys of files begin with: empty, or with a slash at its end. */
  prefix: string
  /** endpoint is undefined for the one that goes with the region. */
  endpoint: string | undefined
  region: string
  credentials: { id: string; secret: Secret } | undefined
  /** hostStyle puts the name of the bucket into the host name instead of the path. */
  hostStyle: boolean
}

/** A Place is where files are kept. */
export type Place = BucketPlace | { kind: 'directory'; dir: string }

const FORM = 'must look like s3://bucket/prefix?endpoint=https://host:9000&region=eu-west-1 or file:///directory'
const OPTIONS = ['endpoint', 'region', 'style']

/** parsePlace reads where files are kept; what it refuses it does not repeat, since a secret may stand in it. */
export function parsePlace(text: string): Place {
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
