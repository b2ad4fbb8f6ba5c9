import { execFile } from 'node:child_process'
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'

type Step = { waitMs: number; signal: 'SIGQUIT' | 'SIGKILL' }

/** SERVER_STEPS are for a whole server: its lifeline has asked it to leave when our predecessor died; then we ask, then we end it. */
const SERVER_STEPS: readonly Step[] = [
  { waitMs: 10_000, signal: 'SIGQUIT' },
  { waitMs: 3_000, signal: 'SIGKILL' },
  { waitMs: 5_000, signal: 'SIGKILL' },
]
/** REST_STEPS are for processes whose server is dead: they notice within moments, unless they are stopped or stuck. */
const REST_STEPS: readonly Step[] = [
  { waitMs: 1_000, signal: 'SIGKILL' },
  { waitMs: 5_000, signal: 'SIGKILL' },
]
const POLL_MS = 20

/**
 * endOldServer leaves the directory without any process of a server and without the note of its process id. PostgreSQL refuses to start while
 * that number is any living process's, which after a power cut or in a new container it often is; so we look what the process is. The caller
 * must hold the lock on the directory: what still runs there serves nobody.
 */
export async function endOldServer(pgDir: string, deps: { clock: Clock; log: Log }): Promise<void> {
  const note = join(pgDir, 'postmaster.pid')
  const noted = Number((await readFile(note, 'utf8').catch(() => '')).split('\n')[0])
  const dir = await realpath(pgDir)
  const running = await processesOf(dir, noted)
  for (const { waitMs, signal } of running.includes(noted) ? SERVER_STEPS : REST_STEPS) {
    const pids = await waitForEnd(dir, noted, waitMs, deps.clock)
    if (pids.length === 0) {
      await rm(note, { force: true })
      return
    }
    deps.log.warn({ pids, signal }, 'an old postgres is still there, ending it')
    for (const pid of pids) end(pid, signal)
  }
  throw new Error(`the old PostgreSQL of ${pgDir} does not end; end process ${(await processesOf(dir, noted)).join(', ')} by hand`)
}

async function waitForEnd(dir: string, noted: number, waitMs: number, clock: Clock): Promise<number[]> {
  const untilMs = clock.monotonicMs() + waitMs
  for (;;) {
    const pids = await processesOf(dir, noted)
    if (pids.length === 0 || clock.monotonicMs() > untilMs) return pids
    await clock.sleep(POLL_MS)
  }
}

/** processesOf finds the PostgreSQL processes that work in the directory; without /proc only the server's own can be told. */
async function processesOf(dir: string, noted: number): Promise<number[]> {
  if (process.platform !== 'linux') return (await serves(noted, dir)) ? [noted] : []
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0)
  const found = await Promise.all(pids.map((pid) => worksIn(pid, dir)))
  return pids.filter((_, n) => found[n])
}

async function worksIn(pid: number, dir: string): Promise<boolean> {
  const where = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  return where === dir && (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).startsWith('postgres')
}

async function serves(pid: number, dir: string): Promise<boolean> {
  if (!(pid > 0)) return false
  const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  return stdout.includes('postgres') && stdout.includes(dir)
}

function end(pid: number, signal: Step['signal']): void {
  try {
    process.kill(pid, signal)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH')) throw cause
  }
}
