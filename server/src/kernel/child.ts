import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

/** How to start, check and stop a supervised child process. */
export type ChildPlan = {
  name: string
  /** Starts a new process. Any error counts as a failed start. */
  spawn(): Promise<ChildProcess>
  /** Resolves once this process answers. It is retried until the process exits or `readyMs` passes. */
  ready(signal: AbortSignal): Promise<void>
  /** Throws when the process does not answer. Three failures in a row end the process with SIGKILL. */
  ping(signal: AbortSignal): Promise<void>
  /** Asks the process to exit. It is killed when it is still running after `stopMs`. */
  stop(child: ChildProcess): void
  readyMs?: number
  stopMs?: number
}

export type ChildState =
  | { kind: 'starting' }
  | { kind: 'up'; pid: number; sinceMs: number; restarts: number }
  | { kind: 'down'; reason: string; restarts: number }
  | { kind: 'stopped' }

export type SupervisedChild = {
  state(): ChildState
  /** Ends the running process at once; the supervisor starts the next one. */
  kill(): void
  close(): Promise<void>
}

const BACK_OFF_MS = [200, 500, 1_000, 2_000, 5_000] as const
const PING_EVERY_MS = 1_000
/** With PING_EVERY_MS and MISSES_MAX this ends a hanging child within 15 s. */
const PING_BOUND_MS = 3_000
const MISSES_MAX = 3
const READY_POLL_MS = 30
const READY_MS = 60_000
const STOP_MS = 10_000
/** A child that ran this long has recovered: the next crash restarts the back-off. */
const SETTLED_MS = 60_000

/** Starts the child, resolves when it is first ready, and restarts it until closed. */
export async function supervise(plan: ChildPlan, deps: { clock: Clock; log: Logger }): Promise<SupervisedChild> {
  const { clock } = deps
  const log = deps.log.child({ child: plan.name })
  const stopping = new AbortController()
  let current: ChildProcess | undefined
  let state: ChildState = { kind: 'starting' }
  let restarts = 0

  async function startOnce(): Promise<ChildProcess> {
    const child = await plan.spawn()
    current = child
    const exited = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`${plan.name} exited before it was ready (status ${code ?? signal})`)
    })
    exited.catch(() => undefined)
    preferAsVictim(child, log)
    const gaveUp = new AbortController()
    const bound = AbortSignal.any([AbortSignal.timeout(plan.readyMs ?? READY_MS), gaveUp.signal, stopping.signal])
    try {
      await Promise.race([pollReady(bound), exited])
      if (stopping.signal.aborted) throw new Error(`${plan.name} was stopped while it started`)
    } catch (cause) {
      child.kill('SIGKILL')
      throw cause
    } finally {
      gaveUp.abort()
    }
    return child
  }

  async function pollReady(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return await plan.ready(signal)
      } catch (cause) {
        if (signal.aborted) throw new Error(`${plan.name} did not become ready in time`, { cause })
        await clock.sleep(READY_POLL_MS, signal).catch(() => undefined)
      }
    }
  }

  async function watch(child: ChildProcess): Promise<string> {
    const ended = new AbortController()
    // A child that is stopping may drain for longer than the pings allow; only stopMs bounds it.
    const pinged = AbortSignal.any([ended.signal, stopping.signal])
    const exit =
      child.exitCode !== null || child.signalCode !== null ? Promise.resolve([child.exitCode, child.signalCode]) : once(child, 'exit')
    const pings = (async () => {
      let misses = 0
      while (!pinged.aborted) {
        await clock.sleep(PING_EVERY_MS, pinged).catch(() => undefined)
        if (pinged.aborted) return
        try {
          await plan.ping(AbortSignal.any([pinged, AbortSignal.timeout(PING_BOUND_MS)]))
          misses = 0
        } catch (cause) {
          if (pinged.aborted) return
          misses += 1
          log.warn({ misses, err: cause }, 'child does not answer')
          if (misses >= MISSES_MAX) child.kill('SIGKILL')
        }
      }
    })()
    const [code, signal] = await exit
    ended.abort()
    await pings
    return `status ${code ?? signal}`
  }

  async function keepRunning(first: ChildProcess): Promise<void> {
    let child = first
    let backOff = 0
    while (!stopping.signal.aborted) {
      const upSince = clock.monotonicMs()
      state = { kind: 'up', pid: child.pid ?? 0, sinceMs: clock.nowMs(), restarts }
      const reason = await watch(child)
      if (stopping.signal.aborted) return
      if (clock.monotonicMs() - upSince > SETTLED_MS) backOff = 0
      for (;;) {
        restarts += 1
        state = { kind: 'down', reason, restarts }
        const waitMs = BACK_OFF_MS[Math.min(backOff, BACK_OFF_MS.length - 1)] ?? 5_000
        log.warn({ reason, restarts, wait_ms: waitMs }, 'child ended, starting it again')
        await clock.sleep(waitMs, stopping.signal).catch(() => undefined)
        if (stopping.signal.aborted) return
        backOff += 1
        try {
          child = await startOnce()
          break
        } catch (cause) {
          log.warn({ err: cause }, 'child did not start')
        }
      }
    }
  }

  const first = await startOnce().catch((cause) => {
    state = { kind: 'stopped' }
    throw cause
  })
  const running = keepRunning(first)

  return {
    state: () => state,
    kill: () => void current?.kill('SIGKILL'),
    close: async () => {
      stopping.abort()
      const child = current
      if (child && child.exitCode === null && child.signalCode === null) {
        const exit = once(child, 'exit')
        plan.stop(child)
        const late = setTimeout(() => child.kill('SIGKILL'), plan.stopMs ?? STOP_MS)
        await exit
        clearTimeout(late)
      }
      await running
      state = { kind: 'stopped' }
    },
  }
}

/** Makes the kernel end the child before the service when memory runs out. Linux only. */
function preferAsVictim(child: ChildProcess, log: Logger): void {
  if (process.platform !== 'linux' || child.pid === undefined) return
  try {
    writeFileSync(`/proc/${child.pid}/oom_score_adj`, '500')
  } catch (cause) {
    log.debug({ err: cause }, 'could not set the out-of-memory preference')
  }
}
