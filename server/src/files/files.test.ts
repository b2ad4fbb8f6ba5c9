import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { BlobStoreFull } from './files.ts'
import { openBlobStore } from './open-files.ts'

const run = promisify(execFile)
const MIB = 2 ** 20
const root = await mkdtemp(join(tmpdir(), 'dendro-depot-'))
const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', root]).then(
  () => true,
  () => false,
)
if (!mounted) process.stderr.write('THE TEST OF A FULL DEPOT DID NOT RUN: it needs the right to mount\n')
afterAll(async () => {
  if (mounted) await run('umount', ['-l', root])
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const bytes = (size: number, byte: number) => Buffer.alloc(size, byte)

test('a file consists of its listed parts only, and is read in any range', async () => {
  const blobs = openBlobStore({ kind: 'directory', dir: join(root, 'files') })
  const draft = await blobs.begin('one')
  const first = await blobs.put(draft, [], { epoch: 1, bytes: bytes(10, 65) })
  const parts = [first, await blobs.put(draft, [first], { epoch: 2, bytes: bytes(5, 66) })]
  await blobs.put(draft, [first], { epoch: 1, bytes: bytes(7, 67) })
  await blobs.finish(draft, parts)
  const read = async (start: number, end: number) => (await buffer(await blobs.read('one', parts, { start, end }))).toString()
  expect(await read(0, 15)).toBe(`${'A'.repeat(10)}BBBBB`)
  expect(await read(8, 12)).toBe('AABB')
  expect(await read(10, 11)).toBe('B')
  expect(await read(3, 3)).toBe('')
  expect(await blobs.keysUntouchedSince(Number.MAX_SAFE_INTEGER)).toEqual(['one'])
  expect(await blobs.keysUntouchedSince(0)).toEqual([])
  await blobs.remove(draft)
  await blobs.remove(draft)
  expect(await blobs.keysUntouchedSince(Number.MAX_SAFE_INTEGER)).toEqual([])
})

test.skipIf(!mounted)('a full disk has its own error, before an export starts', async () => {
  const blobs = openBlobStore({ kind: 'directory', dir: join(root, 'files') })
  expect(await blobs.unavailableReason()).toContain('is full')
  const draft = await blobs.begin('two')
  await expect(blobs.put(draft, [], { epoch: 1, bytes: bytes(4 * MIB, 65) })).rejects.toThrow(BlobStoreFull)
})
