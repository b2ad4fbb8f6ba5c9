import { execFile } from 'node:child_process'
import { readFile, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'

/** PATIENCE is what an old server gets: its lifeline has asked it to leave when our predecessor died; then we ask, then we end it. */
const PATIENCE = [
  { waitMs: 10_000, signal: 'SIGQUIT' },
  { waitMs: 5_000, signal: 'SIGKILL' },
  { waitMs: 5_000, signal: 'SIGKILL' },
] as const
const POLL_MS = 50

/**
 * endOldServer leaves the directory without a server and without the note of its process id. PostgreSQL refuses to start while that number
 * is any living process's, which after a power cut or in a new container it often is; so the caller must hold the lock on the directory, and
 * we look whether the process is what the note says. That no other process still uses the old shared memory PostgreSQL checks itself.
 */
export async function endOldServer(pgDir: string, deps: { clock: Clock; log: Log }): Promise<void> {
  const note = join(pgDir, 'postmaster.pid')
  const pid = Number((await readFile(note, 'utf8').catch(() => '')).split('\n')[0])
  for (const { waitMs, signal } of PATIENCE) {
    if (await leaves(pid, pgDir, waitMs, deps.clock)) {
      await rm(note, { force: true })
      return
    }
    deps.log.warn({ pid, signal }, 'an old postgres is still there, ending it')
    process.kill(pid, signal)
  }
  throw new Error(`the old PostgreSQL of ${pgDir}, process ${pid}, does not end; end it by hand`)
}

async function leaves(pid: number, pgDir: string, waitMs: number, clock: Clock): Promise<boolean> {
  const untilMs = clock.monotonicMs() + waitMs
  while (await serves(pid, pgDir)) {
    if (clock.monotonicMs() > untilMs) return false
    await clock.sleep(POLL_MS)
  }
  return true
}

/** serves reports whether the process is a PostgreSQL on this directory: that is where it works. */
async function serves(pid: number, pgDir: string): Promise<boolean> {
  if (!(pid > 0)) return false
  const dir = await realpath(pgDir)
  if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === dir
  const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  return stdout.includes('postgres') && stdout.includes(pgDir)
}
