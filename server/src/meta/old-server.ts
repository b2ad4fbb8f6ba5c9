import { execFile } from 'node:child_process'
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'

type EndStep = { waitMs: number; signal: 'SIGQUIT' | 'SIGKILL' }

/** For a complete server: its lifeline asked it to stop when the previous process died. Then it is asked again, then killed. */
const SERVER_STEPS: readonly EndStep[] = [
  { waitMs: 10_000, signal: 'SIGQUIT' },
  { waitMs: 3_000, signal: 'SIGKILL' },
  { waitMs: 5_000, signal: 'SIGKILL' },
]
/** For processes whose postmaster is dead: they exit within moments unless they are stopped or stuck. */
const REST_STEPS: readonly EndStep[] = [
  { waitMs: 1_000, signal: 'SIGKILL' },
  { waitMs: 5_000, signal: 'SIGKILL' },
]
const POLL_MS = 20

/**
 * Ends all PostgreSQL processes that use the directory and removes the pid file. PostgreSQL refuses to start while the pid in that file
 * belongs to any living process, which is likely after a power cut or in a new container; so this checks what the process is. The caller
 * must hold the lock on the directory: any process that still runs there is an orphan.
 */
export async function endOldServer(pgDir: string, deps: { clock: Clock; log: Logger }): Promise<void> {
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
    deps.log.warn({ pids, signal }, 'old postgres processes still running, ending them')
    for (const pid of pids) end(pid, signal)
  }
  throw new Error(`the old PostgreSQL of ${pgDir} does not stop; stop process ${(await processesOf(dir, noted)).join(', ')} manually`)
}

async function waitForEnd(dir: string, noted: number, waitMs: number, clock: Clock): Promise<number[]> {
  const untilMs = clock.monotonicMs() + waitMs
  for (;;) {
    const pids = await processesOf(dir, noted)
    if (pids.length === 0 || clock.monotonicMs() > untilMs) return pids
    await clock.sleep(POLL_MS)
  }
}

/** Finds the PostgreSQL processes that work in the directory. Without /proc only the postmaster can be found. */
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

function end(pid: number, signal: EndStep['signal']): void {
  try {
    process.kill(pid, signal)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH')) throw cause
  }
}
