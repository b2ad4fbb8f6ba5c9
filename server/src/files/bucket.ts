import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { gone, unavailable } from '../kernel/errors.ts'
import { type BlobStore, BlobStoreFull, type FilePart, type PendingFile } from './files.ts'
import type { BucketLocation } from './location.ts'

type Sdk = typeof import('@aws-sdk/client-s3')
/** An S3 client with its commands, and the location of the files. */
export type Bucket = { sdk: Sdk; client: S3Client; Bucket: string; keyOf(key: string): string }

const CONNECT_MS = 5_000
/** A connection without traffic for this long counts as dead. */
const IDLE_MS = 60_000
const TRIES_MAX = 3
/** Buckets limit the number of parts and their minimum size. Parts of very large files are therefore larger. */
const PART_BYTES_MIN = 5 * 2 ** 20
const LATE_PART_BYTES_MIN = 64 * 2 ** 20
const EARLY_PARTS = 4_000
const PART_NUMBER_MAX = 10_000

/** Stores each file as one object, uploaded in parts. The SDK is loaded on first use, because few deployments need it. */
export function openBucket(place: BucketLocation): BlobStore {
  let loaded: Promise<Bucket> | undefined
  /** Runs one operation and translates the errors of the bucket. */
  async function withBucket<T>(operation: (bucket: Bucket) => Promise<T>): Promise<T> {
    loaded ??= loadBucket(place)
    try {
      return await operation(await loaded)
    } catch (cause) {
      throw toFailure(cause)
    }
  }
  return {
    partBytesMin: (parts) => (parts < EARLY_PARTS ? PART_BYTES_MIN : LATE_PART_BYTES_MIN),
    begin: (key) => withBucket((bucket) => beginUpload(bucket, key)),
    put: (draft, after, { epoch, bytes }) => withBucket((bucket) => putPart(bucket, draft, numberAfter(after, epoch), { epoch, bytes })),
    finish: (draft, parts) => withBucket((bucket) => finishUpload(bucket, draft, parts)),
    read: (key, _parts, { start, end }) =>
      start >= end ? Promise.resolve(Readable.from([])) : withBucket((bucket) => readObject(bucket, key, start, end)),
    remove: (draft) => withBucket((bucket) => removeAll(bucket, draft)),
    unavailableReason: () =>
      withBucket(({ sdk, client, Bucket }) => client.send(new sdk.HeadBucketCommand({ Bucket }))).then(
        () => undefined,
        (trouble: Error) => trouble.message,
      ),
    keysUntouchedSince: (beforeMs) => withBucket((bucket) => oldKeys(bucket, place.prefix, beforeMs)),
    locationId: async () => `bucket ${place.endpoint ?? place.region} ${place.bucket}/${place.prefix}`,
    close: async () => (await loaded?.catch(() => undefined))?.client.destroy(),
  }
}

/** Makes the client of a bucket. Nothing is sent yet. */
export async function loadBucket({ bucket, prefix, endpoint, region, credentials, hostStyle }: BucketLocation): Promise<Bucket> {
  const sdk = await import('@aws-sdk/client-s3')
  const client = new sdk.S3Client({
    region,
    forcePathStyle: !hostStyle,
    maxAttempts: TRIES_MAX,
    // Not every server knows the newer checksums; each part goes with its MD5, which all of them check.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials ? { credentials: { accessKeyId: credentials.id, secretAccessKey: credentials.secret.reveal() } } : {}),
  })
  return { sdk, client, Bucket: bucket, keyOf: (key) => prefix + key }
}

/** A part name holds the part number of the upload, the epoch of the writer, and the ETag. */
const PartName = /^(\d+)-(\d+)-(.+)$/

function readName({ name }: FilePart): { number: number; epoch: number; tag: string } {
  const [, number, epoch, tag] = PartName.exec(name) ?? []
  if (tag === undefined) throw gone('the file was started in a storage location that is no longer configured')
  return { number: Number(number), epoch: Number(epoch), tag }
}

/**
 * Skips the part numbers that an earlier writer may still be uploading, one for each epoch. A late part then cannot overwrite a part that
 * counts. Numbers only have to increase.
 */
function numberAfter(parts: readonly FilePart[], epoch: number): number {
  const last = parts.findLast(({ bytes }) => bytes > 0)
  const before = last ? readName(last) : { number: 0, epoch: 0 }
  const number = before.number + Math.max(1, epoch - before.epoch)
  if (number > PART_NUMBER_MAX) throw new BlobStoreFull('the file exceeds the maximum object size of the bucket')
  return number
}

async function beginUpload({ sdk, client, Bucket, keyOf }: Bucket, key: string): Promise<PendingFile> {
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key: keyOf(key) }))
  if (!UploadId) throw new Error('the bucket returned no upload id')
  return { key, upload: UploadId }
}

type NumberedContent = { epoch: number; bytes: Uint8Array }

async function putPart(
  { sdk, client, Bucket, keyOf }: Bucket,
  draft: PendingFile,
  number: number,
  { epoch, bytes }: NumberedContent,
): Promise<FilePart> {
  // A bucket refuses an empty part. finishUpload handles empty files.
  if (bytes.byteLength === 0) return { name: `${number}-${epoch}-none`, bytes: 0 }
  const { ETag } = await client.send(
    new sdk.UploadPartCommand({
      Bucket,
      Key: keyOf(draft.key),
      UploadId: draft.upload,
      PartNumber: number,
      Body: bytes,
      ContentLength: bytes.byteLength,
      ContentMD5: createHash('md5').update(bytes).digest('base64'),
    }),
  )
  if (!ETag) throw new Error('the bucket returned no ETag for a part')
  return { name: `${number}-${epoch}-${ETag.replaceAll('"', '')}`, bytes: bytes.byteLength }
}

async function finishUpload(bucket: Bucket, draft: PendingFile, parts: readonly FilePart[]): Promise<void> {
  const { sdk, client, Bucket, keyOf } = bucket
  const [Key, whole] = [keyOf(draft.key), parts.filter(({ bytes }) => bytes > 0)]
  if (whole.length === 0) {
    await client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: new Uint8Array(), ContentLength: 0 }))
  } else {
    const Parts = whole.map(readName).map(({ number, tag }) => ({ PartNumber: number, ETag: `"${tag}"` }))
    const completed = new sdk.CompleteMultipartUploadCommand({ Bucket, Key, UploadId: draft.upload, MultipartUpload: { Parts } })
    const sizeMeant = whole.reduce((sum, { bytes }) => sum + bytes, 0)
    await client.send(completed).catch(async (failure) => {
      if (nameOf(failure) !== 'NoSuchUpload') throw failure
      const found = await client.send(new sdk.HeadObjectCommand({ Bucket, Key })).catch(() => undefined)
      if (found?.ContentLength !== sizeMeant) throw failure
    })
  }
  await abortUploads(bucket, draft)
}

/** Aborts every other upload for the key. The bucket would keep their parts forever, invisibly. */
async function abortUploads(bucket: Bucket, { key, upload }: PendingFile): Promise<void> {
  const { sdk, client, Bucket, keyOf } = bucket
  const Key = keyOf(key)
  const others = (await uploadsOf(bucket, Key)).filter((other) => other.key === Key).map(({ id }) => id)
  for (const UploadId of new Set([upload, ...others].filter((id) => id !== ''))) {
    await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((failure) => {
      if (nameOf(failure) !== 'NoSuchUpload') throw failure
    })
  }
}

async function removeAll(bucket: Bucket, draft: PendingFile): Promise<void> {
  const { sdk, client, Bucket, keyOf } = bucket
  await abortUploads(bucket, draft)
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: keyOf(draft.key) }))
}

async function readObject({ sdk, client, Bucket, keyOf }: Bucket, key: string, start: number, end: number): Promise<Readable> {
  const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: keyOf(key), Range: `bytes=${start}-${end - 1}` }))
  return Body as Readable
}

type Upload = { key: string; id: string; sinceMs: number }

/** Lists the open uploads whose keys have the prefix. Returns none where the server does not support listing. */
async function uploadsOf({ sdk, client, Bucket }: Bucket, prefix: string): Promise<Upload[]> {
  const found: Upload[] = []
  let at: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {}
  for (;;) {
    const page = await client.send(new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: prefix, ...at })).catch((failure) => {
      if (UNKNOWN_LIST.includes(nameOf(failure))) return undefined
      throw failure
    })
    for (const { Key = '', UploadId = '', Initiated } of page?.Uploads ?? [])
      found.push({ key: Key, id: UploadId, sinceMs: Initiated?.getTime() ?? 0 })
    if (!page?.IsTruncated || !page.NextKeyMarker) return found
    at = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
  }
}

const UNKNOWN_LIST = ['NotImplemented', 'MethodNotAllowed']

async function oldKeys(bucket: Bucket, prefix: string, beforeMs: number): Promise<string[]> {
  const { sdk, client, Bucket } = bucket
  const old = new Set<string>()
  const note = (key: string, sinceMs: number) => sinceMs < beforeMs && old.add(key.slice(prefix.length))
  let token: string | undefined
  do {
    const page = await client.send(
      new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix, ...(token === undefined ? {} : { ContinuationToken: token }) }),
    )
    for (const { Key = '', LastModified } of page.Contents ?? []) note(Key, LastModified?.getTime() ?? 0)
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token !== undefined)
  for (const { key, sinceMs } of await uploadsOf(bucket, prefix)) note(key, sinceMs)
  return [...old]
}

const nameOf = (failure: unknown): string => (failure instanceof Error ? failure.name : '')

/** Returns an error for the operator. The original error is kept as the cause for the log. */
function toFailure(cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof BlobStoreFull || 'status' in cause) return cause
  const { code, $metadata } = cause as { code?: unknown; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  if (status === 507 || /Full$|QuotaExceeded$/.test(cause.name)) return new BlobStoreFull('the bucket for exports is full', { cause })
  if (cause.name === 'NoSuchUpload') return gone('the unfinished upload no longer exists in the bucket')
  if (cause.name === 'NoSuchKey') return gone('the file no longer exists in the bucket')
  if (status !== undefined) return unavailable(`the bucket for exports answered ${status} ${cause.name}`, { cause })
  return unavailable(`the bucket for exports could not be reached (${typeof code === 'string' ? code : cause.name})`, { cause })
}
