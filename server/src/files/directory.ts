import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, mkdir, open, readdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { gone } from '../kernel/errors.ts'
import { type BlobStore, BlobStoreFull, type ByteRange, type FilePart } from './files.ts'

/** Free space that stays reserved for the stores, which may share the disk. */
const FREE_BYTES_MIN = 512 * 2 ** 20
const FULL_SHARE = 0.95
/** The file that holds the id of the directory. */
const ID_FILE = '.place'

/** Stores each file as a directory with one file per part. A part is either complete or absent. */
export function openDirectory(dir: string): BlobStore {
  const pathOf = (key: string): string => join(dir, key)
  return {
    partBytesMin: () => 0,
    begin: async (key) => {
      await mkdir(pathOf(key), { recursive: true, mode: 0o700 })
      return { key, upload: '' }
    },
    put: async ({ key, upload }, after, { epoch, bytes }) => {
      if (upload !== '') throw gone('the file was started in a storage location that is no longer configured')
      return withFullDiskError(() => putPart(pathOf(key), `${after.length + 1}-${epoch}`, bytes))
    },
    finish: async () => undefined,
    read: async (key, parts, span) => Readable.from(readParts(pathOf(key), parts, span), { objectMode: false }),
    remove: ({ key }) => rm(pathOf(key), { recursive: true, force: true }),
    unavailableReason: async () => {
      const { bavail, bfree, blocks, bsize } = await statfs(await nearestExisting(dir))
      const free = bavail * bsize
      const isFull = free < FREE_BYTES_MIN || 1 - bavail / Math.max(1, blocks - bfree + bavail) >= FULL_SHARE
      return isFull ? `the disk for exports is full: ${Math.floor(free / 2 ** 20)} MiB are free` : undefined
    },
    keysUntouchedSince: (beforeMs) => oldEntries(dir, beforeMs),
    locationId: () => directoryId(dir),
    close: async () => undefined,
  }
}

/** Writes a part and syncs it to disk. An existing part of this name was never counted, so it is overwritten. */
async function putPart(path: string, name: string, bytes: Uint8Array): Promise<FilePart> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const file = await open(join(path, name), 'w', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
  return { name, bytes: bytes.byteLength }
}

const FULL_CODES = ['ENOSPC', 'EDQUOT', 'EFBIG']

async function withFullDiskError<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    if (!FULL_CODES.includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause
    throw new BlobStoreFull('there is no space left on the disk for exports', { cause })
  }
}

async function* readParts(path: string, parts: readonly FilePart[], { start, end }: ByteRange): AsyncGenerator<Buffer> {
  let at = 0
  for (const { name, bytes } of parts) {
    const [from, until] = [Math.max(start - at, 0), Math.min(end - at, bytes)]
    at += bytes
    if (from >= until) continue
    yield* createReadStream(join(path, name), { start: from, end: until - 1 })
  }
}

/** Returns the directory, or its nearest existing ancestor. */
async function nearestExisting(dir: string): Promise<string> {
  const isThere = await stat(dir).then(
    () => true,
    () => false,
  )
  return isThere || dirname(dir) === dir ? dir : nearestExisting(dirname(dir))
}

/** Returns the id of the directory, which is the same from every mount. It is created once, atomically. */
async function directoryId(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const path = join(dir, ID_FILE)
  const draft = `${path}.${randomUUID()}`
  const known = await readId(path)
  if (known !== undefined) return known
  await writeFile(draft, randomUUID(), { mode: 0o600, flush: true })
  await link(draft, path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause
  })
  await rm(draft)
  const made = await readId(path)
  if (made === undefined) throw new Error(`the id file of the directory ${dir} could not be created; see DENDRO_EXPORT_URL`)
  return made
}

async function readId(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
    return undefined
  })
  return text === undefined ? undefined : `directory ${text.trim()}`
}

async function oldEntries(dir: string, beforeMs: number): Promise<string[]> {
  const names = await readdir(dir).catch(() => [])
  const old: string[] = []
  for (const name of names) {
    if (name === ID_FILE) continue
    const found = await stat(join(dir, name)).catch(() => undefined)
    if (found && found.mtimeMs < beforeMs) old.push(name)
  }
  return old
}
