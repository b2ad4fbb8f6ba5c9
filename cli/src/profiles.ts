import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UsageError } from './failure.ts'
import type { Terminal } from './terminal.ts'

/** A service and the credential for it. */
export type Profile = { url: string; key?: string; token?: string; expires_at?: number; name?: string }
export type Profiles = { current: string; profiles: ReadonlyMap<string, Profile> }

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

/** `$XDG_CONFIG_HOME/dendro/config.json`, by default in `~/.config`. */
export function configFile({ env }: Pick<Terminal, 'env'>): string | undefined {
  const base = env.XDG_CONFIG_HOME || (env.HOME || env.USERPROFILE ? join(env.HOME || env.USERPROFILE || '', '.config') : undefined)
  return base && join(base, 'dendro', 'config.json')
}

export async function readProfiles(terminal: Terminal): Promise<Profiles> {
  const file = configFile(terminal)
  const text = file === undefined ? undefined : await readFile(file, 'utf8').catch(unlessMissing)
  if (file === undefined || text === undefined) return { current: 'default', profiles: new Map() }
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) {
    terminal.err(`dendro: other users can read ${file}; run: chmod 600 ${file}`)
  }
  return parseProfiles(text, file)
}

function unlessMissing(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR') throw cause
  return undefined
}

function parseProfiles(text: string, file: string): Profiles {
  try {
    const { current, profiles } = JSON.parse(text) as { current: string; profiles: Record<string, Profile> }
    return { current, profiles: new Map(Object.entries(profiles)) }
  } catch {
    throw new UsageError(`${file} is not a valid configuration; remove it and log in again`)
  }
}

/** Replaces the file in one step. Only its owner can read it at any time. */
export async function writeProfiles(terminal: Terminal, { current, profiles }: Profiles): Promise<string> {
  const file = configFile(terminal)
  if (file === undefined) throw new UsageError('no place for the configuration: set HOME or XDG_CONFIG_HOME')
  await mkdir(dirname(file), { recursive: true, mode: FOLDER_MODE })
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, `${JSON.stringify({ current, profiles: Object.fromEntries(profiles) }, undefined, 2)}\n`, { mode: FILE_MODE })
  await chmod(draft, FILE_MODE)
  await rename(draft, file)
  return file
}
