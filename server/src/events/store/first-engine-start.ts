import { constants } from 'node:fs'
import { access, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { eventsDir, storeDir } from './engine.ts'

/** A part directory of a partition by day, or of any table with named partitions. The table of migrations has none. */
const PART_OF_PARTITION = /^(?!all_)[0-9a-z]+_\d+_\d+_\d+(_\d+)?$/

const markFile = (dataDir: string): string => join(eventsDir(dataDir), 'made')

/** True when a start on this directory has completed once; before that no event can be stored. */
export const isInitialized = (dataDir: string): Promise<boolean> =>
  access(markFile(dataDir), constants.F_OK).then(
    () => true,
    () => false,
  )

/** Durable once it resolves. */
export async function markInitialized(dataDir: string): Promise<void> {
  const file = await open(markFile(dataDir), 'w', 0o600)
  try {
    await file.writeFile('The first start on this directory came to its end.\n')
    await file.sync()
  } finally {
    await file.close()
  }
  const dir = await open(eventsDir(dataDir), 'r')
  try {
    await dir.sync()
  } finally {
    await dir.close()
  }
}

/**
 * Removes the remains of an interrupted first start and returns whether there were any. No engine may be running there. It removes nothing
 * once a start has completed, or when parts with rows exist, as in a directory that was copied without its mark.
 */
export async function clearInterruptedStart(dataDir: string): Promise<boolean> {
  if (await isInitialized(dataDir)) return false
  if (await hasRows(dataDir)) return false
  await rm(storeDir(dataDir), { recursive: true, force: true })
  return true
}

async function hasRows(dataDir: string): Promise<boolean> {
  const entries = await readdir(storeDir(dataDir), { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.some((entry) => entry.isDirectory() && PART_OF_PARTITION.test(entry.name))
}
