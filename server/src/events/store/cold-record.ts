import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { COLD_METADATA_DIR, type ColdStorage } from './cold-disk.ts'
import { eventsDir, storeDir } from './engine.ts'

/** The bucket that the store has used, without its credentials. */
const Place = z.object({ bucket: z.string(), prefix: z.string(), endpoint: z.string().optional() })

const recordFile = (dataDir: string): string => join(eventsDir(dataDir), 'cold-storage.json')

/**
 * Refuses a start without the bucket in which events lie, or with another one: the engine would not start, and say nothing of use. The place is
 * recorded before the first event goes there. The address of the bucket may change, because a bucket moves with its objects.
 */
export async function checkColdStorage(dataDir: string, cold: ColdStorage | undefined): Promise<void> {
  const before = await readRecord(dataDir)
  if (before && (cold === undefined || !isSame(before, cold)) && (await hasColdParts(dataDir))) {
    const where = `s3://${before.bucket}/${before.prefix}`
    throw new Error(
      `events of ${eventsDir(dataDir)} lie in ${where}, which DENDRO_COLD_STORAGE ${cold ? 'does not name' : 'must name'}; with DENDRO_COLD_AFTER=off they move back to the disk first`,
    )
  }
  if (cold === undefined || (before && isSame(before, cold))) return
  const { bucket, prefix, endpoint } = cold.location
  await mkdir(eventsDir(dataDir), { recursive: true, mode: 0o700 })
  await writeFile(recordFile(dataDir), JSON.stringify({ bucket, prefix, endpoint }), { mode: 0o600 })
}

const isSame = (before: z.output<typeof Place>, { location }: ColdStorage): boolean =>
  before.bucket === location.bucket && before.prefix === location.prefix

async function readRecord(dataDir: string): Promise<z.output<typeof Place> | undefined> {
  const text = await readFile(recordFile(dataDir), 'utf8').catch(ifAbsent(undefined))
  return text === undefined ? undefined : Place.parse(JSON.parse(text))
}

/** Whether a part of a table lies in the bucket: the engine keeps a folder for each, in the folder of its table. */
async function hasColdParts(dataDir: string): Promise<boolean> {
  const root = join(storeDir(dataDir), COLD_METADATA_DIR, 'store')
  const found = await readdir(root, { recursive: true, withFileTypes: true }).catch(ifAbsent([]))
  return found.some((entry) => entry.isFile() && entry.name === 'checksums.txt')
}

const ifAbsent =
  <T>(otherwise: T) =>
  (cause: NodeJS.ErrnoException): T => {
    if (cause.code !== 'ENOENT') throw cause
    return otherwise
  }
