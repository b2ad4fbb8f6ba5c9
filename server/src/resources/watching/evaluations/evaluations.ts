import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { readClock, readingOf } from '../../data/retention/retention.ts'
import { Evaluator } from './evaluator.ts'
import {
  claimDue,
  deleteOldEvaluations,
  deleteOldEvents,
  deleteOldGroupHistory,
  deleteOldNotifications,
  releaseLeases,
  renewLeases,
  selectLastEvaluation,
} from './rows.ts'
import { absenceBefore } from './time-gaps.ts'

export { backtest } from './backtest.ts'
export type { EvaluationRecord } from './rows.ts'

/** Monitors due within this time are evaluated early, since monitors evaluated together share scans. */
const EARLY_MS = 5_000
const BATCH_MAX = 500
const POLL_MS = 1_000
/** How long the monitors of a dead process stay claimed; less than one interval. */
const LEASE_MS = 30_000
const RENEW_MS = 10_000
const STOP_MS = 5_000

export type EvaluationBounds = { pollMs?: number; leaseMs?: number }
export type RunningEvaluations = { close(): Promise<void> }

/** Evaluates all monitors that are due and returns their number. */
export type EvaluationRound = (signal: AbortSignal) => Promise<number>

/** Any number of processes share the monitors by lease. */
export function createEvaluationRound(world: World, { leaseMs = LEASE_MS }: EvaluationBounds = {}): EvaluationRound & { holder: string } {
  let evaluator: Evaluator | undefined
  const holder = world.ids.uuid()
  const round = async (signal: AbortSignal): Promise<number> => {
    let evaluated = 0
    evaluator ??= new Evaluator(world, absenceBefore((await selectLastEvaluation(world.meta))?.last ?? undefined, world.clock.nowMs()))
    const own = evaluator
    for (;;) {
      const dueMs = world.clock.nowMs() + EARLY_MS
      const claimed = await claimDue(world.meta, { holder, dueMs, leaseMs, rowsMax: BATCH_MAX })
      if (claimed.length === 0) return evaluated
      await whileRenewing(world, holder, leaseMs, () => own.evaluateAll(claimed, signal))
      evaluated += claimed.length
      if (claimed.length < BATCH_MAX) return evaluated
    }
  }
  return Object.assign(round, { holder })
}

async function whileRenewing<T>({ meta, log }: World, holder: string, leaseMs: number, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(
    () => void renewLeases(meta, holder, leaseMs).catch((err) => log.warn({ err }, 'leases of monitors could not be renewed')),
    RENEW_MS,
  )
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** Evaluates monitors when they are due, until closed. Closing aborts running evaluations and releases their leases. */
export function startEvaluations(world: World, bounds: EvaluationBounds = {}): RunningEvaluations {
  const { clock, log, meta } = world
  const stopping = new AbortController()
  const round = createEvaluationRound(world, bounds)
  const watch = async (): Promise<void> => {
    let isTroubled = false
    while (!stopping.signal.aborted) {
      try {
        await round(stopping.signal)
        isTroubled = false
      } catch (err) {
        if (!stopping.signal.aborted) log[isTroubled ? 'debug' : 'warn']({ err }, 'monitors could not be evaluated')
        isTroubled = true
      }
      await clock.sleep(bounds.pollMs ?? POLL_MS, stopping.signal).catch(() => undefined)
    }
  }
  const watching = watch()
  return {
    close: async () => {
      stopping.abort()
      const given = new AbortController()
      await Promise.race([watching.finally(() => given.abort()), clock.sleep(STOP_MS, given.signal).catch(() => undefined)])
      await releaseLeases(meta, round.holder).catch((err) => log.warn({ err }, 'leases of monitors could not be released'))
    },
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Evaluations without a change are kept for a day, others for a month, and the history for half a year. */
const PLAIN_KEPT_MS = DAY_MS
const CHANGE_KEPT_MS = 30 * DAY_MS
const HISTORY_KEPT_MS = 180 * DAY_MS

/** Deletes old evaluations and history, unless the clock may be wrong. */
export const monitorSweep = ({ meta, clock }: Pick<World, 'meta' | 'clock'>): JobKind => ({
  name: 'monitor history',
  everyMs: HOUR_MS,
  run: async ({ payload }) => {
    const nowMs = clock.nowMs()
    const { reading, isTrusted } = readClock(readingOf(payload.reading), nowMs, clock.report?.())
    const again = { againInMs: HOUR_MS, payload: { reading } }
    if (!isTrusted) return again
    await deleteOldEvaluations(meta, { plainMs: nowMs - PLAIN_KEPT_MS, changeMs: nowMs - CHANGE_KEPT_MS })
    await deleteOldEvents(meta, nowMs - HISTORY_KEPT_MS)
    await deleteOldGroupHistory(meta, nowMs - HISTORY_KEPT_MS)
    await deleteOldNotifications(meta, nowMs - HISTORY_KEPT_MS)
    return again
  },
})
