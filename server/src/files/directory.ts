import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, mkdir, open, readdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { gone } from '../kernel/errors.ts'
import { type Depot, DepotFull, type Part, type Span } from './files.ts'

/** FREE_BYTES_MIN is left to the stores, which may lie on the same disk. */
const FREE_BYTES_MIN = 512 * 2 ** 20
const FULL_SHARE = 0.95
/** MARK is the file that tells this directory from others. */
const MARK = '.place'

/** openDirectory keeps each file as a directory of its parts, so that a part is whole or not there. */
export function openDirectory(dir: string): Depot {
  const placeOf = (key: string): string => join(dir, key)
  return {
    partBytesMin: () => 0,
    begin: async (key) => {
      await mkdir(placeOf(key), { recursive: true, mode: 0o700 })
      return { key, upload: '' }
    },
    put: async ({ key, upload }, after, { turn, bytes }) => {
      if (upload !== '') throw gone('the file was begun in a place that is no longer used')
      return refusingFull(() => putPart(placeOf(key), `${after.length + 1}-${turn}`, bytes))
    },
    finish: async () => undefined,
    read: async (key, parts, span) => Readable.from(readParts(placeOf(key), parts, span), { objectMode: false }),
    remove: ({ key }) => rm(placeOf(key), { recursive: true, force: true }),
    refusal: async () => {
      const { bavail, bfree, blocks, bsize } = await statfs(await nearest(dir))
      const free = bavail * bsize
      const isFull = free < FREE_BYTES_MIN || 1 - bavail / Math.max(1, blocks - bfree + bavail) >= FULL_SHARE
      return isFull ? `the disk for exports is full: ${Math.floor(free / 2 ** 20)} MiB are free` : undefined
    },
    strays: (beforeMs) => oldEntries(dir, beforeMs),
    placeId: () => keptMark(dir),
    close: async () => undefined,
  }
}

/** putPart writes a part anew, since what is there under its name was never counted, and returns when the disk has it. */
async function putPart(place: string, name: string, bytes: Uint8Array): Promise<Part> {
  await mkdir(place, { recursive: true, mode: 0o700 })
  const file = await open(join(place, name), 'w', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  const folder = await open(place, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
  return { name, bytes: bytes.byteLength }
}

const FULL_CODES = ['ENOSPC', 'EDQUOT', 'EFBIG']

async function refusingFull<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    if (!FULL_CODES.includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause
    throw new DepotFull('there is no space left on the disk for exports', { cause })
  }
}

async function* readParts(place: string, parts: readonly Part[], { start, end }: Span): AsyncGenerator<Buffer> {
  let at = 0
  for (const { name, bytes } of parts) {
    const [from, until] = [Math.max(start - at, 0), Math.min(end - at, bytes)]
    at += bytes
    if (from >= until) continue
    yield* createReadStream(join(place, name), { start: from, end: until - 1 })
  }
}

/** nearest is the directory, or the one above it that is there already. */
async function nearest(dir: string): Promise<string> {
  const isThere = await stat(dir).then(
    () => true,
    () => false,
  )
  return isThere || dirname(dir) === dir ? dir : nearest(dirname(dir))
}

/** keptMark is what a directory is known by, wherever it is seen from; it is made once, whole. */
async function keptMark(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const path = join(dir, MARK)
  const draft = `${path}.${randomUUID()}`
  const known = await readMark(path)
  if (known !== undefined) return known
  await writeFile(draft, randomUUID(), { mode: 0o600, flush: true })
  await link(draft, path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause
  })
  await rm(draft)
  const made = await readMark(path)
  if (made === undefined) throw new Error(`the mark of the directory ${dir} cannot be kept there; see DENDRO_EXPORT_URL`)
  return made
}

async function readMark(path: string): Promise<string | undefined> {
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
    if (name === MARK) continue
    const found = await stat(join(dir, name)).catch(() => undefined)
    if (found && found.mtimeMs < beforeMs) old.push(name)
  }
  return old
}
