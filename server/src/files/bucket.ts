import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { gone, unavailable } from '../kernel/errors.ts'
import { type Depot, DepotFull, type Draft, type Part } from './files.ts'
import type { BucketPlace } from './place.ts'

type Sdk = typeof import('@aws-sdk/client-s3')
/** A Bucket is the client with its commands, and where things lie. */
type Bucket = { sdk: Sdk; client: S3Client; Bucket: string; keyOf(key: string): string }

const CONNECT_MS = 5_000
/** SILENT_MS is how long a connection may be silent before it counts as dead. */
const SILENT_MS = 60_000
const TRIES_MAX = 3
/** Parts of a bucket have a least size and a greatest number, so that those of very large files are larger. */
const PART_BYTES_MIN = 5 * 2 ** 20
const LATE_PART_BYTES_MIN = 64 * 2 ** 20
const EARLY_PARTS = 4_000
const PART_NUMBER_MAX = 10_000

/** openBucket keeps each file as one object, uploaded in parts. The client is loaded with the first question, since few deployments need it. */
export function openBucket(place: BucketPlace): Depot {
  let loaded: Promise<Bucket> | undefined
  /** ask runs one question to the bucket; what it refuses is told in words of ours. */
  async function ask<T>(question: (bucket: Bucket) => Promise<T>): Promise<T> {
    loaded ??= load(place)
    try {
      return await question(await loaded)
    } catch (cause) {
      throw troubleOf(cause)
    }
  }
  return {
    partBytesMin: (parts) => (parts < EARLY_PARTS ? PART_BYTES_MIN : LATE_PART_BYTES_MIN),
    begin: (key) => ask((bucket) => beginUpload(bucket, key)),
    put: (draft, after, { turn, bytes }) => ask((bucket) => putPart(bucket, draft, numberAfter(after, turn), { turn, bytes })),
    finish: (draft, parts) => ask((bucket) => finishUpload(bucket, draft, parts)),
    read: (key, _parts, { start, end }) =>
      start >= end ? Promise.resolve(Readable.from([])) : ask((bucket) => readObject(bucket, key, start, end)),
    remove: (draft) => ask((bucket) => removeAll(bucket, draft)),
    refusal: () =>
      ask(({ sdk, client, Bucket }) => client.send(new sdk.HeadBucketCommand({ Bucket }))).then(
        () => undefined,
        (trouble: Error) => trouble.message,
      ),
    strays: (beforeMs) => ask((bucket) => oldKeys(bucket, place.prefix, beforeMs)),
    placeId: async () => `bucket ${place.endpoint ?? place.region} ${place.bucket}/${place.prefix}`,
    close: async () => (await loaded?.catch(() => undefined))?.client.destroy(),
  }
}

async function load({ bucket, prefix, endpoint, region, credentials, hostStyle }: BucketPlace): Promise<Bucket> {
  const sdk = await import('@aws-sdk/client-s3')
  const client = new sdk.S3Client({
    region,
    forcePathStyle: !hostStyle,
    maxAttempts: TRIES_MAX,
    // Not every server knows the newer checksums; each part goes with its MD5, which all of them check.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENT_MS },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials ? { credentials: { accessKeyId: credentials.id, secretAccessKey: credentials.secret.reveal() } } : {}),
  })
  return { sdk, client, Bucket: bucket, keyOf: (key) => prefix + key }
}

/** A PartName tells the number of a part in its upload, the turn it was written in, and the tag the bucket gave it. */
const PartName = /^(\d+)-(\d+)-(.+)$/

function readName({ name }: Part): { number: number; turn: number; tag: string } {
  const [, number, turn, tag] = PartName.exec(name) ?? []
  if (tag === undefined) throw gone('the file was begun in a place that is no longer used')
  return { number: Number(number), turn: Number(turn), tag }
}

/**
 * numberAfter leaves out the numbers that an earlier writer may still be writing to, one for each turn: a part that arrives late then changes
 * nothing that counts. Numbers need only rise.
 */
function numberAfter(parts: readonly Part[], turn: number): number {
  const last = parts.findLast(({ bytes }) => bytes > 0)
  const before = last ? readName(last) : { number: 0, turn: 0 }
  const number = before.number + Math.max(1, turn - before.turn)
  if (number > PART_NUMBER_MAX) throw new DepotFull('the file is larger than what the bucket takes as one')
  return number
}

async function beginUpload({ sdk, client, Bucket, keyOf }: Bucket, key: string): Promise<Draft> {
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key: keyOf(key) }))
  if (!UploadId) throw new Error('the bucket gave no id to an upload')
  return { key, upload: UploadId }
}

type Written = { turn: number; bytes: Uint8Array }

async function putPart({ sdk, client, Bucket, keyOf }: Bucket, draft: Draft, number: number, { turn, bytes }: Written): Promise<Part> {
  // A bucket takes no part of nothing; finishUpload knows what to do.
  if (bytes.byteLength === 0) return { name: `${number}-${turn}-none`, bytes: 0 }
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
  if (!ETag) throw new Error('the bucket gave no tag to a part')
  return { name: `${number}-${turn}-${ETag.replaceAll('"', '')}`, bytes: bytes.byteLength }
}

async function finishUpload(bucket: Bucket, draft: Draft, parts: readonly Part[]): Promise<void> {
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

/** abortUploads leaves nothing of a file behind that is not its object: the bucket would keep it, unseen, for ever. */
async function abortUploads(bucket: Bucket, { key, upload }: Draft): Promise<void> {
  const { sdk, client, Bucket, keyOf } = bucket
  const Key = keyOf(key)
  const others = (await uploadsOf(bucket, Key)).filter((other) => other.key === Key).map(({ id }) => id)
  for (const UploadId of new Set([upload, ...others].filter((id) => id !== ''))) {
    await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((failure) => {
      if (nameOf(failure) !== 'NoSuchUpload') throw failure
    })
  }
}

async function removeAll(bucket: Bucket, draft: Draft): Promise<void> {
  const { sdk, client, Bucket, keyOf } = bucket
  await abortUploads(bucket, draft)
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: keyOf(draft.key) }))
}

async function readObject({ sdk, client, Bucket, keyOf }: Bucket, key: string, start: number, end: number): Promise<Readable> {
  const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: keyOf(key), Range: `bytes=${start}-${end - 1}` }))
  return Body as Readable
}

type Upload = { key: string; id: string; sinceMs: number }

/** uploadsOf are the uploads under way whose keys begin so; none where the server has no such list. */
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

/** troubleOf says what the operator has to look at; the whole of it is in our log. */
function troubleOf(cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof DepotFull || 'status' in cause) return cause
  const { code, $metadata } = cause as { code?: unknown; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  if (status === 507 || /Full$|QuotaExceeded$/.test(cause.name)) return new DepotFull('the bucket for exports has no room left', { cause })
  if (cause.name === 'NoSuchUpload') return gone('what was written of the file is gone from the bucket')
  if (cause.name === 'NoSuchKey') return gone('the file is gone from the bucket')
  if (status !== undefined) return unavailable(`the bucket for exports refused with ${status} ${cause.name}`, { cause })
  return unavailable(`the bucket for exports could not be reached (${typeof code === 'string' ? code : cause.name})`, { cause })
}
