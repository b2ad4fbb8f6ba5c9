import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Terminal } from './terminal.ts'

/**
 * The progress of sending: everything before `offset` is stored; the batch of `pending` bytes after it may be. Idempotency keys begin with `run`, or with a
 * digest of the batch where it is empty.
 */
export type IngestState = {
  run: string
  head: string
  offset: number
  pending: number
  accepted: number
  rejected: number
  duplicates: number
}

const HEAD_BYTES = 4_096

/** `$XDG_STATE_HOME/dendro/ingest/`, by default in `~/.local/state`; one file for each combination of file and target. */
export function stateFile({ env }: Pick<Terminal, 'env'>, target: readonly string[]): string | undefined {
  const home = env.HOME || env.USERPROFILE
  const base = env.XDG_STATE_HOME || (home ? join(home, '.local', 'state') : undefined)
  const name = createHash('sha256').update(JSON.stringify(target)).digest('hex').slice(0, 32)
  return base && join(base, 'dendro', 'ingest', `${name}.json`)
}

const start = { head: '', offset: 0, pending: 0, accepted: 0, rejected: 0, duplicates: 0 }

/** A run that stores what it sends, whatever was sent before. */
export const newRun = (): IngestState => ({ ...start, run: randomUUID() })

/** A run that stores what no other run has stored within the life of an idempotency key. */
export const repeatableRun = (): IngestState => ({ ...start, run: '' })

/** Reads the progress of an interrupted run. Undefined when there is none, or when the file has other content than then. */
export async function readState(path: string, file: string): Promise<IngestState | undefined> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR') throw cause
  })
  const state = text === undefined ? undefined : parseState(text)
  if (!state) return undefined
  return state.head === (await headOf(file, state.offset + state.pending)) ? state : undefined
}

function parseState(text: string): IngestState | undefined {
  try {
    return { ...start, ...(JSON.parse(text) as IngestState) }
  } catch {
    return undefined
  }
}

/** Replaces the state in one step. */
export async function writeState(path: string, state: IngestState): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  await writeFile(draft, JSON.stringify(state), { mode: 0o600 })
  await rename(draft, path)
}

export const removeState = (path: string): Promise<void> => rm(path, { force: true })

/** A digest of the beginning of a file, which recognizes a replaced file. Empty when the file is shorter than `bytes`. */
export async function headOf(file: string, bytes: number): Promise<string> {
  const handle = await open(file, 'r')
  try {
    if ((await handle.stat()).size < bytes) return ''
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, Math.min(HEAD_BYTES, bytes), 0)
    return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex')
  } finally {
    await handle.close()
  }
}
