import { close, constants, open as openFile } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { DataType, load, open as openLibrary } from 'ffi-rs'

export type DataDirLock = { release(): Promise<void> }

const LIBC = { linux: 'libc.so.6', darwin: '/usr/lib/libSystem.B.dylib' } as Record<string, string>
const LOCK_EX = 2
const LOCK_NB = 4
/** HOLDER_TRIES × HOLDER_WAIT_MS is how long a refusal waits for a new holder to write its name. */
const HOLDER_TRIES = 10
const HOLDER_WAIT_MS = 20

/**
 * Locks the data directory for this process and creates it (0700) when it is missing. The lock is the kernel's (flock). It is released
 * however its holder ends, so there are no stale locks, no takeover races and no reused pids, and it works between containers that share a
 * volume. The content of the file only names the holder.
 */
export async function lockDataDir(dir: string): Promise<DataDirLock> {
  const path = join(resolve(dir), 'lock')
  await makeDir(resolve(dir))
  const fd = await promisify(openFile)(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  if (!flock(fd)) {
    await promisify(close)(fd)
    throw new Error(`the data directory ${resolve(dir)} is in use by ${await readHolder(path)}; stop that one or choose another directory`)
  }
  await writeFile(path, `${process.pid} ${hostname()} ${new Date().toISOString()}\n`)
  let held = true
  return {
    release: async () => {
      if (!held) return
      held = false
      await promisify(close)(fd)
    },
  }
}

/**
 * Creates a directory with its missing parents. Node's recursive mkdir never returns where no directory can be created, as in /proc, and
 * reports EEXIST for any kind of file.
 */
async function makeDir(dir: string): Promise<void> {
  const made = await tryMake(dir)
  if (made === 'made') return
  if (made.code === 'EEXIST' && (await stat(dir)).isDirectory()) return
  if (made.code !== 'ENOENT' || dirname(dir) === dir) throw made
  await makeDir(dirname(dir))
  const again = await tryMake(dir)
  if (again !== 'made' && again.code !== 'EEXIST') throw again
}

const tryMake = (dir: string): Promise<'made' | NodeJS.ErrnoException> =>
  mkdir(dir, { mode: 0o700 }).then(
    () => 'made' as const,
    (cause: NodeJS.ErrnoException) => cause,
  )

/** Returns whether the lock was free. Node opens files close-on-exec, so no child inherits it. */
function flock(fd: number): boolean {
  openLibrary({ library: 'libc', path: LIBC[process.platform] ?? 'libc.so' })
  const status = load({
    library: 'libc',
    funcName: 'flock',
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I32],
    paramsValue: [fd, LOCK_EX | LOCK_NB],
  })
  return status === 0
}

async function readHolder(path: string): Promise<string> {
  for (let tries = 0; tries < HOLDER_TRIES; tries += 1) {
    const [pid, host, since] = (await readFile(path, 'utf8')).trim().split(' ')
    if (since) return `process ${pid} on ${host}, started at ${since}`
    await new Promise((done) => setTimeout(done, HOLDER_WAIT_MS))
  }
  return 'another process'
}
