import { buffer } from 'node:stream/consumers'
import { buildApp } from 'fauxqs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BlobStore } from './files.ts'
import { diagnoseBlobStore, openBlobStore, parseFileLocation } from './open-files.ts'

const MIB = 2 ** 20
const LEAST = 5 * MIB

const server = buildApp({ logger: false })
const depots: BlobStore[] = []
let endpoint = ''
beforeAll(async () => {
  endpoint = await server.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  for (const blobs of depots) await blobs.close()
  await server.close()
})

const addressOf = (bucket: string, at = endpoint): string => `s3://key:se%2Fcret@${bucket}/some/where?endpoint=${at}&region=eu-west-1`

function blobStoreIn(bucket: string, at?: string): BlobStore {
  const blobs = openBlobStore(parseFileLocation(addressOf(bucket, at)))
  depots.push(blobs)
  return blobs
}

/** A bucket can be deleted only when it has neither objects nor open uploads. */
const isUnused = async (bucket: string): Promise<boolean> => (await fetch(`${endpoint}/${bucket}`, { method: 'DELETE' })).status === 204

async function makeBucket(bucket: string): Promise<BlobStore> {
  expect((await fetch(`${endpoint}/${bucket}`, { method: 'PUT' })).status).toBe(200)
  return blobStoreIn(bucket)
}

const bytes = (size: number, char: string) => Buffer.alloc(size, char)

test('a file in a bucket has the listed parts and none of a late writer, is read in any range, and is deleted completely', async () => {
  const blobs = await makeBucket('parts')
  expect(await blobs.unavailableReason()).toBeUndefined()
  const draft = await blobs.begin('one')
  const first = await blobs.put(draft, [], { epoch: 1, bytes: bytes(LEAST, 'a') })
  const second = await blobs.put(draft, [first], { epoch: 3, bytes: bytes(LEAST, 'b') })
  await blobs.put(draft, [first], { epoch: 2, bytes: bytes(LEAST, 'x') })
  const third = await blobs.put(draft, [first, second], { epoch: 3, bytes: bytes(5, 'c') })
  await blobs.put(draft, [first], { epoch: 2, bytes: bytes(LEAST, 'y') })
  const parts = [first, second, third]
  await blobs.finish(draft, parts)
  await blobs.finish(draft, parts)
  const read = async (start: number, end: number) => (await buffer(await blobs.read('one', parts, { start, end }))).toString()
  expect(await read(0, 3)).toBe('aaa')
  expect(await read(LEAST - 2, LEAST + 2)).toBe('aabb')
  expect(await read(2 * LEAST - 1, 2 * LEAST + 5)).toBe('bccccc')
  expect(await read(7, 7)).toBe('')
  expect((await read(0, 2 * LEAST + 5)).length).toBe(2 * LEAST + 5)
  expect(await blobs.keysUntouchedSince(Number.MAX_SAFE_INTEGER)).toEqual(['one'])
  expect(await blobs.keysUntouchedSince(0)).toEqual([])
  await blobs.remove(draft)
  await blobs.remove(draft)
  expect(await isUnused('parts')).toBe(true)
})

test('a file that is never finished leaves nothing behind when it is removed, and a file of nothing is an empty one', async () => {
  const blobs = await makeBucket('rests')
  const never = await blobs.begin('never')
  await blobs.put(never, [], { epoch: 1, bytes: bytes(10, 'a') })
  expect(await isUnused('rests')).toBe(false)
  await blobs.remove(never)
  const empty = await blobs.begin('empty')
  const part = await blobs.put(empty, [], { epoch: 1, bytes: bytes(0, 'a') })
  await blobs.finish(empty, [part])
  expect(await blobs.keysUntouchedSince(Number.MAX_SAFE_INTEGER)).toEqual(['empty'])
  await blobs.remove(empty)
  expect(await isUnused('rests')).toBe(true)
})

test('errors of a bucket are explained, and never contain the secret', async () => {
  const blobs = await makeBucket('trouble')
  const draft = await blobs.begin('one')
  const part = await blobs.put(draft, [], { epoch: 1, bytes: bytes(10, 'a') })
  await blobs.remove(draft)
  await expect(blobs.put(draft, [part], { epoch: 1, bytes: bytes(10, 'b') })).rejects.toMatchObject({ status: 410 })
  await expect(blobs.finish(draft, [part])).rejects.toMatchObject({ status: 410 })
  await expect(blobs.read('one', [part], { start: 0, end: 1 })).rejects.toMatchObject({ status: 410 })
  const elsewhere = await blobs.begin('two')
  await expect(blobs.put(elsewhere, [{ name: '1-1', bytes: 3 }], { epoch: 1, bytes: bytes(1, 'a') })).rejects.toMatchObject({ status: 410 })
  const [absent, silent] = [blobStoreIn('nobody-made-this'), blobStoreIn('trouble', 'http://127.0.0.1:1')]
  expect(await absent.unavailableReason()).toMatch(/^the bucket for exports answered 404/)
  expect(await silent.unavailableReason()).toBe('the bucket for exports could not be reached (ECONNREFUSED)')
  expect(await diagnoseBlobStore(parseFileLocation(addressOf('trouble')))).toMatchObject({
    ok: true,
    what: expect.stringContaining('trouble'),
  })
  expect(await diagnoseBlobStore(parseFileLocation(addressOf('nobody-made-this')))).toMatchObject({
    ok: false,
    what: expect.stringContaining('404'),
  })
  await expect(absent.begin('one')).rejects.toMatchObject({ status: 503 })
  const thrown = await silent.begin('one').catch((failure) => failure)
  expect(JSON.stringify([thrown, String(thrown), parseFileLocation(addressOf('trouble'))])).not.toMatch(/se(%2F|\/)cret/)
})

test('a file started in a directory cannot be continued in a bucket, nor the reverse', async () => {
  const [bucket, directory] = [await makeBucket('moved'), openBlobStore({ kind: 'directory', dir: '/nowhere' })]
  const draft = await bucket.begin('one')
  await expect(directory.put(draft, [], { epoch: 1, bytes: bytes(1, 'a') })).rejects.toMatchObject({ status: 410 })
  await expect(bucket.finish({ key: 'one', upload: '' }, [{ name: '1-1', bytes: 3 }])).rejects.toMatchObject({ status: 410 })
  await bucket.remove(draft)
})

test.each([
  ['s3://bucket', { bucket: 'bucket', prefix: '', endpoint: undefined, region: 'us-east-1', credentials: undefined, hostStyle: true }],
  ['s3://bucket/a/b/?region=eu-west-1', { prefix: 'a/b/', region: 'eu-west-1' }],
  ['s3://bucket?endpoint=http://10.0.0.3:9000', { endpoint: 'http://10.0.0.3:9000', hostStyle: false }],
  ['s3://bucket?endpoint=https://s3.example.com&style=host', { hostStyle: true }],
  ['s3://id:a%2Fb@bucket', { credentials: { id: 'id', secret: expect.objectContaining({}) } }],
  ['file:///mnt/exports', { kind: 'directory', dir: '/mnt/exports' }],
])('%s is a valid location', (text, place) => {
  expect(parseFileLocation(text)).toMatchObject(place)
})

test.each([
  ['/mnt/exports', 'must look like'],
  ['s3://', 'must look like'],
  ['s3://Bucket_of_Mine:9000/x', 'must look like'],
  ['http://bucket.example.com', 'must look like'],
  ['file://host/mnt', 'must look like'],
  ['s3://bucket?endpoint=10.0.0.3:9000', 'must have an http or https address as its endpoint'],
  ['s3://bucket?regoin=eu', 'has options other than'],
  ['s3://bucket?style=dns', 'must have host or path as its style'],
  ['s3://key@bucket', 'must have both a key and its secret'],
])('%s is refused: it %s', (text, rule) => {
  expect(() => parseFileLocation(text)).toThrow(rule)
})
