import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncPath } from '../meta/dump.ts'

/** While this file exists, the stores of the data directory are half restored. */
const markOf = (dataDir: string): string => join(dataDir, 'restoring')

/** Whether an earlier restore into the directory has not come to its end. */
export const hasUnfinishedRestore = async (dataDir: string): Promise<boolean> => (await readMark(dataDir)) !== undefined

/** Returns the function that removes the mark. */
export async function writeUnfinishedMark(dataDir: string, name: string): Promise<() => Promise<void>> {
  const path = markOf(dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(`${name}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await syncPath(dataDir)
  return async () => {
    await rm(path)
    await syncPath(dataDir)
  }
}

const readMark = (dataDir: string): Promise<string | undefined> =>
  readFile(markOf(dataDir), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
    return undefined
  })

/** A service must not start on half-restored stores: it would found a new organization there. */
export async function refuseUnfinishedRestore(dataDir: string): Promise<void> {
  const name = await readMark(dataDir)
  if (name === undefined) return
  throw new Error(
    `the backup ${name.trim()} was not restored to its end in ${dataDir}; restore it again with \`node server/src/main.ts restore-backup ${name.trim()}\``,
  )
}
