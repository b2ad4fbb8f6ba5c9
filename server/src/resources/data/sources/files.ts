import { constants } from 'node:fs'
import { type FileHandle, open, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { DirectoryOrigin } from '@dendro/api'
import type { SourceDirectory } from '../../../world.ts'
import { isWithin, openedFor } from './directories.ts'
import { filePattern, reachesFolders } from './file-pattern.ts'

/** A file that a source reads. `part` names its place on the disk. */
export type SourceFile = {
  readonly path: string
  readonly name: string
  readonly part: string
  readonly size: number
  readonly changedMs: number
}

/** The origin cannot be read. The message is for the caller. */
export class OriginError extends Error {}

export const FILES_MAX = 10_000
const FOLDERS_MAX = 10_000
/** How many files are examined at once. */
const STATS_AT_ONCE = 32

export type OpenDirectory = { readonly directory: string; readonly root: string }

/** Follows the links of the directory and of the opened one, and refuses a directory that lies elsewhere. */
export async function openDirectory(opened: readonly SourceDirectory[], orgId: string, directory: string): Promise<OpenDirectory> {
  const allowed = openedFor(opened, orgId, directory)
  if (allowed === undefined)
    throw new OriginError('the operator has not opened this directory to the organization (DENDRO_SOURCE_DIRECTORIES)')
  const root = await realpath(allowed).catch(() => undefined)
  const real = await realpath(directory).catch(() => undefined)
  if (root === undefined || real === undefined) throw new OriginError('the directory does not exist on this machine, or cannot be read')
  if (!isWithin(root, real)) throw new OriginError('the directory leads out of the directories that the operator has opened')
  return { directory: real, root }
}

/** The files of a directory that match. Links count as what they lead to, if that lies below the opened directory. */
export async function listFiles({ directory, root }: OpenDirectory, { files: pattern }: DirectoryOrigin): Promise<SourceFile[]> {
  const isWanted = filePattern(pattern)
  const found = new Map<string, SourceFile>()
  const folders = [directory]
  for (let next = 0; next < folders.length; next += 1) {
    const folder = folders[next] ?? ''
    const entries = await readdir(folder, { withFileTypes: true }).catch((cause: NodeJS.ErrnoException) => {
      if (folder === directory) throw new OriginError(`the directory cannot be read (${cause.code})`, { cause })
      return []
    })
    const wanted: { readonly path: string; readonly name: string; readonly isLink: boolean }[] = []
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!reachesFolders(pattern)) continue
        if (folders.length >= FOLDERS_MAX) throw new OriginError(`the directory has more than ${FOLDERS_MAX} folders`)
        folders.push(path)
      } else if (entry.isFile() || entry.isSymbolicLink()) {
        const name = relative(directory, path)
        if (isWanted(name)) wanted.push({ path, name, isLink: entry.isSymbolicLink() })
      }
    }
    for (let at = 0; at < wanted.length; at += STATS_AT_ONCE) {
      const some = wanted.slice(at, at + STATS_AT_ONCE)
      for (const file of await Promise.all(some.map(({ path, name, isLink }) => statFile(root, path, name, isLink))))
        if (file && !found.has(file.part)) found.set(file.part, file)
      if (found.size > FILES_MAX) throw new OriginError(`more than ${FILES_MAX} files match; files must name fewer of them`)
    }
  }
  return [...found.values()]
}

async function statFile(root: string, path: string, name: string, isLink: boolean): Promise<SourceFile | undefined> {
  try {
    const real = isLink ? await realpath(path) : path
    if (!isWithin(root, real)) return undefined
    const found = await stat(real)
    if (!found.isFile()) return undefined
    const { dev, ino, size, mtimeMs } = found
    return { path: real, name, part: `${dev}:${ino}`, size, changedMs: mtimeMs }
  } catch {
    // It was removed or renamed meanwhile.
    return undefined
  }
}

/** Opens a file of the list; undefined when another one is in its place by now. */
export async function openFile({ root }: OpenDirectory, file: SourceFile): Promise<FileHandle | undefined> {
  const handle = await open(file.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EACCES' || cause.code === 'EPERM') throw new OriginError(`${file.name} cannot be read (${cause.code})`, { cause })
      return undefined
    },
  )
  if (!handle) return undefined
  const { dev, ino } = await handle.stat()
  // A folder on the way may have been replaced by a link.
  const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => file.path)
  if (`${dev}:${ino}` === file.part && isWithin(root, real)) return handle
  await handle.close()
  return undefined
}
