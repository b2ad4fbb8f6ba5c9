import type { Readable } from 'node:stream'
import type { ListObjectsV2Command, ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import type { BucketOrigin } from '@dendro/api'
import { badField } from '../../../kernel/errors.ts'
import { DeliveryError, type Outgoing } from '../../../outgoing/outgoing.ts'
import { bucketTrouble, objectStoreOptions, type SignedRequest, urlOfSigned } from '../../../outgoing/signed-request.ts'
import type { OriginSecrets } from './secrets.ts'

/** An object of a bucket. Its tag changes with its content. */
export type SourceObject = { readonly key: string; readonly tag: string; readonly size: number; readonly modifiedMs: number }

export type SourceBucket = {
  /** The objects below the prefix in the order of their keys, page by page. */
  list(): AsyncGenerator<readonly SourceObject[]>
  /** The object that has a key now; undefined for none. */
  find(key: string): Promise<SourceObject | undefined>
  /** The bytes of an object. Throws ObjectChanged when it has other content by now, or is gone. */
  read(object: Pick<SourceObject, 'key' | 'tag'>): Promise<Readable>
  /** Some bytes of an object; fewer at its end. */
  readRange(object: SourceObject, position: number, length: number): Promise<Uint8Array>
  close(): void
}

/** An object has other content by now, or is gone. */
export class ObjectChanged extends Error {}

const DEFAULT_REGION = 'us-east-1'
const LIST_MS = 30_000
/** How long an object may take to be read. */
const READ_MS = 600_000
/** How long some bytes of an object may take. */
const RANGE_MS = 60_000

export function checkBucket(outgoing: Outgoing, { endpoint }: BucketOrigin): void {
  if (endpoint === undefined) return
  outgoing.check(endpoint, 'origin.endpoint')
  const { pathname, search, hash } = new URL(endpoint)
  if (pathname !== '/' || search !== '' || hash !== '') throw badField('origin.endpoint', 'must be a server, without a path')
}

/** Opens a bucket. Its requests go the way of all requests to addresses that callers choose. */
export async function openSourceBucket(
  outgoing: Outgoing,
  { bucket: Bucket, prefix, endpoint, region = DEFAULT_REGION, access_key_id: accessKeyId }: BucketOrigin,
  { secret_access_key: secretAccessKey = '' }: OriginSecrets,
  signal?: AbortSignal,
): Promise<SourceBucket> {
  const sdk = await import('@aws-sdk/client-s3')
  const client = new sdk.S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: endpoint !== undefined,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...objectStoreOptions((request) => sendSigned(outgoing, request, signal)),
  })
  const failed = (cause: unknown): never => {
    throw bucketTrouble(cause, 'could not be read')
  }
  const failedOrChanged = (cause: unknown): never => {
    if (isChange(cause)) throw new ObjectChanged('it was changed or removed before it was read', { cause })
    return failed(cause)
  }
  return {
    list: async function* () {
      for (let from: string | undefined = ''; from !== undefined; ) {
        const command: ListObjectsV2Command = new sdk.ListObjectsV2Command({
          Bucket,
          Prefix: prefix,
          ...(from === '' ? {} : { ContinuationToken: from }),
        })
        const { Contents = [], NextContinuationToken }: ListObjectsV2CommandOutput = await client.send(command).catch(failed)
        yield Contents.flatMap(({ Key = '', Size = 0, ...found }) => (Key === '' || Size === 0 ? [] : [objectOf(Key, Size, found)]))
        from = NextContinuationToken
      }
    },
    read: async ({ key, tag }) => {
      const command = new sdk.GetObjectCommand({ Bucket, Key: key, ...sameContent(tag) })
      return (await client.send(command).catch(failedOrChanged)).Body as Readable
    },
    find: async (key) => {
      const found = await client.send(new sdk.HeadObjectCommand({ Bucket, Key: key })).catch((cause: unknown) => {
        if (isChange(cause)) return undefined
        return failed(cause)
      })
      return found && objectOf(key, found.ContentLength ?? 0, found)
    },
    readRange: async ({ key, tag, size }, position, length) => {
      const end = Math.min(size, position + length)
      if (position >= end) return new Uint8Array()
      const Range = `bytes=${position}-${end - 1}`
      const command = new sdk.GetObjectCommand({ Bucket, Key: key, Range, ...sameContent(tag) })
      const { Body, ContentRange } = await client.send(command).catch(failedOrChanged)
      if (ContentRange === undefined && (position > 0 || end < size)) {
        ;(Body as Readable).destroy()
        throw new DeliveryError('the bucket cannot read a part of an object', { isRetryable: false })
      }
      return bytesOfRange(Body as Readable, end - position)
    },
    close: () => client.destroy(),
  }
}

type FoundObject = { readonly ETag?: string | undefined; readonly LastModified?: Date | undefined }

const objectOf = (key: string, size: number, { ETag = '', LastModified }: FoundObject): SourceObject => ({
  key,
  tag: ETag.replaceAll('"', ''),
  size,
  modifiedMs: LastModified?.getTime() ?? 0,
})

const sameContent = (tag: string) => (tag === '' ? {} : { IfMatch: `"${tag}"` })

/** The answer to a HEAD has no body, so that its error has only a general name. */
const isChange = (cause: unknown): boolean => {
  const { name = '', $metadata } = cause as { name?: string; $metadata?: { httpStatusCode?: number } }
  return $metadata?.httpStatusCode === 412 || ['NoSuchKey', 'NotFound'].includes(name)
}

async function bytesOfRange(body: Readable, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let filled = 0
  try {
    for await (const part of body as AsyncIterable<Uint8Array>) {
      if (filled + part.length > length) throw new DeliveryError('the bucket sent more than was requested', { isRetryable: true })
      bytes.set(part, filled)
      filled += part.length
    }
  } catch (cause) {
    throw bucketTrouble(cause, 'could not be read')
  }
  if (filled < length) throw new DeliveryError('the bucket sent less than was requested', { isRetryable: true })
  return bytes
}

/** Lists the first objects. */
export async function testBucket(outgoing: Outgoing, origin: BucketOrigin, secrets: OriginSecrets): Promise<void> {
  const bucket = await openSourceBucket(outgoing, origin, secrets)
  try {
    await bucket.list().next()
  } finally {
    bucket.close()
  }
}

async function sendSigned(outgoing: Outgoing, request: SignedRequest, signal?: AbortSignal) {
  const { method, query = {}, headers } = request
  const isRange = Object.keys(headers).some((name) => name.toLowerCase() === 'range')
  const boundMs = isRange ? RANGE_MS : query['list-type'] === undefined ? READ_MS : LIST_MS
  const answer = await outgoing.open(
    { method: method === 'HEAD' ? 'HEAD' : 'GET', url: urlOfSigned(request), headers, body: '', boundMs },
    signal,
  )
  return { response: { statusCode: answer.status, headers: answer.headers, body: answer.body } }
}
