import { Readable } from 'node:stream'
import type { ForwardDestination } from '@dendro/api'
import { DENDRO_EVENTS } from '../../../http/dendro-events.ts'
import { DeliveryError, type Outgoing, type OutgoingRequest } from '../../../outgoing/outgoing.ts'
import { bucketTrouble, objectStoreOptions, type SignedRequest, urlOfSigned } from '../../../outgoing/signed-request.ts'
import type { World } from '../../../world.ts'

/** A body with the headers that describe it. */
export type PackedEvents = {
  readonly bytes: Uint8Array
  readonly encoding: 'gzip' | 'zstd' | undefined
  readonly contentType: string
  /** True for lines that another Dendro stores as the events that they were. */
  readonly isOwn: boolean
}

/** The credentials of a destination. */
export type DestinationSecrets = {
  readonly secret_access_key?: string
  readonly password?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Stores an object, and deletes it. Both throw a DeliveryError. */
export type ObjectTarget = { put(key: string, packed: PackedEvents): Promise<void>; remove(key: string): Promise<void>; close(): void }
/** Posts a payload under an id that repeats have too. Throws a DeliveryError. */
export type PostTarget = { post(id: string, packed: PackedEvents): Promise<void> }

type DestinationWorld = Pick<World, 'outgoing' | 'forwardBucket'>
type S3Destination = Extract<ForwardDestination, { destination_type: 'S3' }>
type HttpDestination = Extract<ForwardDestination, { destination_type: 'HTTP' }>

/** How long a request may take with a large payload. */
const BOUND_MS = 30_000
const DEFAULT_REGION = 'us-east-1'

/** Opens a URL that takes payloads. */
export const openPostTarget = (
  { outgoing }: DestinationWorld,
  { url }: HttpDestination,
  secrets: DestinationSecrets,
  signal: AbortSignal | undefined,
): PostTarget => ({
  post: async (id, { bytes, encoding, contentType, isOwn }) => {
    const { status } = await outgoing.post(
      {
        url,
        headers: {
          'content-type': contentType,
          ...secrets.headers,
          'idempotency-key': id,
          ...(isOwn ? { [DENDRO_EVENTS]: 'ndjson' } : {}),
          ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
        },
        body: bytes,
        boundMs: BOUND_MS,
      },
      signal,
    )
    if (status < 200 || status > 299) throw new DeliveryError(`the target answered with status ${status}`, { isRetryable: true })
  },
})

/** Opens a bucket: with the credentials of the destination, or that of the operator. */
export async function openObjectTarget(
  world: DestinationWorld,
  destination: S3Destination,
  secrets: DestinationSecrets,
  signal: AbortSignal | undefined,
): Promise<ObjectTarget> {
  const { outgoing, prefix, ...access } = accessTo(world, destination, secrets)
  const sdk = await import('@aws-sdk/client-s3')
  const client = new sdk.S3Client({
    ...access,
    ...objectStoreOptions((request) => sendSigned(outgoing, request, signal)),
  })
  const at = (key: string) => ({ Bucket: destination.bucket, Key: prefix + key })
  const failed = (cause: unknown): never => {
    throw bucketTrouble(cause, 'could not be used')
  }
  return {
    put: async (key, { bytes, contentType }) => {
      const { storage_class: StorageClass } = destination
      const command = new sdk.PutObjectCommand({
        ...at(key),
        Body: bytes,
        ContentLength: bytes.byteLength,
        ContentType: contentType,
        ...(StorageClass === 'STANDARD' ? {} : { StorageClass }),
      })
      await client.send(command).catch(failed)
    },
    remove: async (key) => void (await client.send(new sdk.DeleteObjectCommand(at(key))).catch(failed)),
    close: () => client.destroy(),
  }
}

type BucketAccess = {
  readonly outgoing: Outgoing
  readonly prefix: string
  readonly region: string
  readonly forcePathStyle: boolean
  readonly endpoint?: string
  readonly credentials?: { accessKeyId: string; secretAccessKey: string }
}

function accessTo({ outgoing, forwardBucket }: DestinationWorld, destination: S3Destination, secrets: DestinationSecrets): BucketAccess {
  const { bucket, endpoint, region = DEFAULT_REGION, access_key_id: accessKeyId } = destination
  if (accessKeyId !== undefined) {
    const credentials = { accessKeyId, secretAccessKey: secrets.secret_access_key ?? '' }
    const at = endpoint === undefined ? {} : { endpoint }
    return { outgoing, prefix: '', region, forcePathStyle: endpoint !== undefined, credentials, ...at }
  }
  if (forwardBucket?.location.bucket !== bucket) {
    throw new DeliveryError('the operator has configured no credentials for this bucket (DENDRO_FORWARD_URL); give access_key_id', {
      isRetryable: true,
    })
  }
  const { location } = forwardBucket
  return {
    outgoing: forwardBucket.outgoing,
    prefix: location.prefix,
    region: location.region,
    forcePathStyle: !location.hostStyle,
    ...(location.endpoint === undefined ? {} : { endpoint: location.endpoint }),
    ...(location.credentials
      ? { credentials: { accessKeyId: location.credentials.id, secretAccessKey: location.credentials.secret.reveal() } }
      : {}),
  }
}

/** Sends a request of the SDK like every request to an address that callers choose. */
async function sendSigned(outgoing: Outgoing, request: SignedRequest, signal: AbortSignal | undefined) {
  const { method, headers, body } = request
  const answer = await outgoing.post(
    {
      method: method as NonNullable<OutgoingRequest['method']>,
      url: urlOfSigned(request),
      headers,
      body: body instanceof Uint8Array ? body : '',
      boundMs: BOUND_MS,
    },
    signal,
  )
  return { response: { statusCode: answer.status, headers: {}, body: Readable.from([Buffer.from(answer.body)]) } }
}
