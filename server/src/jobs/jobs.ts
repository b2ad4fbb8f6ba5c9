import type { Db } from '../meta/meta.ts'
import type { World } from '../world.ts'
import type { JobKind } from './job.ts'
import { claimJob, freeFirstAttempts, insertJob, keepRecurring, releaseLease } from './rows.ts'
import { type JobExecution, runJob } from './running.ts'

export { LeaseLost } from './running.ts'

export type NewJob = {
  kind: string
  orgId: string | undefined
  /** Identifies the subject of the job. Enqueueing the same key twice creates one job. */
  key: string
  payload: Record<string, unknown>
  dueMs?: number
}

/** Enqueues a job in the transaction that makes it necessary, so that both are committed or neither. */
export async function enqueue(world: Pick<World, 'clock' | 'ids'>, tx: Db, job: NewJob): Promise<void> {
  const nowMs = world.clock.nowMs()
  const { kind, key, payload } = job
  await insertJob(tx, { id: world.ids.uuid(), org_id: job.orgId ?? null, kind, key, payload, nowMs, dueMs: job.dueMs ?? nowMs })
}

/**
 * Releases the leases of dead processes at a start when no other process can be running. A job that was already started twice may have
 * crashed its process. It keeps its lease until the lease expires, so that it cannot crash this process at once.
 */
export const releaseDeadLeases = async (meta: Db): Promise<void> => void (await freeFirstAttempts(meta))

export type WorkerOptions = {
  pollMs?: number
  leaseMs?: number
  /** How long a stop waits for running jobs. */
  stopMs?: number
}

/** How long the jobs of a dead process stay blocked. */
const LEASE_MS = 30_000
const POLL_MS = 1_000
const STOP_MS = 5_000
/** How many jobs a process runs at once, each of another kind. One slow kind never blocks the others. */
const RUNNING_MAX = 4
const RECURRING_EVERY_MS = 60_000
const CLOCK_SETBACK_MS = 2_000

export type Worker = {
  /** Aborts running jobs and waits until they have released their leases, but not for long. */
  close(): Promise<void>
  /** Releases the leases of jobs that did not stop in time. Call it when they can no longer change anything but metadata, which `hold` protects. */
  giveBack(): Promise<void>
}

/** Runs jobs of the given kinds until it is closed. */
export function startWorker(
  world: Pick<World, 'meta' | 'clock' | 'ids' | 'log'>,
  kinds: readonly JobKind[],
  bounds: WorkerOptions = {},
): Worker {
  const { meta, clock, ids, log } = world
  const { pollMs = POLL_MS, leaseMs = LEASE_MS, stopMs = STOP_MS } = bounds
  const holder = ids.uuid()
  const stopping = new AbortController()
  const running = new Map<string, JobExecution>()
  const recurring = kinds.filter(({ everyMs }) => everyMs !== undefined).map(({ name }) => name)
  let keptMs = Number.NEGATIVE_INFINITY
  let keptNowMs = 0

  /** Whether wall-clock time fell behind monotonic time. Due times may then be far too late. */
  const wasSetBack = (): boolean => clock.nowMs() - keptNowMs < clock.monotonicMs() - keptMs - CLOCK_SETBACK_MS

  async function keepAllRecurring(): Promise<void> {
    const isFirst = keptMs === Number.NEGATIVE_INFINITY
    if (!isFirst && clock.monotonicMs() - keptMs < RECURRING_EVERY_MS && !wasSetBack()) return
    const nowMs = clock.nowMs()
    for (const { name, everyMs, isDueAtStart } of kinds) {
      if (everyMs === undefined) continue
      const dueMaxMs = isFirst && isDueAtStart ? nowMs : nowMs + everyMs
      await keepRecurring(meta, { id: ids.uuid(), kind: name, nowMs, dueMs: nowMs, dueMaxMs })
    }
    keptMs = clock.monotonicMs()
    keptNowMs = nowMs
  }

  /** Starts the job that has been due longest, if a kind and a slot are free for it. */
  async function startOne(): Promise<boolean> {
    const free = kinds.filter(({ name }) => !running.has(name)).map(({ name }) => name)
    if (stopping.signal.aborted || running.size >= RUNNING_MAX || free.length === 0) return false
    const claimedMs = clock.monotonicMs()
    const row = await claimJob(meta, { kinds: free, recurring, holder, nowMs: clock.nowMs(), leaseMs })
    const kind = kinds.find(({ name }) => name === row?.kind)
    if (!row || !kind) return false
    if (stopping.signal.aborted) {
      await releaseLease(meta, row)
      return false
    }
    const started = runJob(world, kind, row, { leaseMs, claimedMs, stopping: stopping.signal })
    running.set(kind.name, started)
    void started.ended.then(() => running.delete(kind.name))
    return true
  }

  async function work(): Promise<void> {
    let isTroubled = false
    while (!stopping.signal.aborted) {
      try {
        await keepAllRecurring()
        while (await startOne());
        isTroubled = false
      } catch (err) {
        log[isTroubled ? 'debug' : 'warn']({ err }, 'jobs could not be claimed')
        isTroubled = true
      }
      await clock.sleep(pollMs, stopping.signal).catch(() => undefined)
    }
  }

  const working = work()
  return {
    close: async () => {
      stopping.abort()
      const given = new AbortController()
      // A claim may be waiting for the store, so it counts as running too.
      const allEnded = async (): Promise<void> => {
        await working
        await Promise.all([...running.values()].map((job) => job.ended))
      }
      const ended = allEnded().finally(() => given.abort())
      await Promise.race([ended, clock.sleep(stopMs, given.signal).catch(() => undefined)])
      if (running.size > 0) log.warn({ kinds: [...running.keys()] }, 'jobs did not stop in time')
    },
    giveBack: async () => {
      for (const job of running.values())
        await job.giveBack().catch((err) => log.warn({ err }, 'a job could not be given back, its lease will expire'))
    },
  }
}
