import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { readClock, readingOf } from '../../data/retention/retention.ts'
import { Looker } from './evaluator.ts'
import {
  claimDue,
  deleteOldEvaluations,
  deleteOldEvents,
  deleteOldGroupHistory,
  deleteOldNotifications,
  giveBackLeases,
  renewLeases,
  selectLastLook,
} from './rows.ts'
import { absenceBefore } from './time-gaps.ts'

/** EARLY_MS brings monitors forward that are due soon: those that look together share scans, and nobody looks less than once a minute. */
const EARLY_MS = 5_000
const BATCH_MAX = 200
const POLL_MS = 1_000
/** LEASE_MS is how long a dead process keeps its monitors from the others: less than one interval. */
const LEASE_MS = 30_000
const RENEW_MS = 10_000
const STOP_MS = 5_000

export type WatchBounds = { pollMs?: number; leaseMs?: number }
export type Watch = { close(): Promise<void> }

/** A Round looks with all monitors that are due, and tells how many those were. */
export type Round = (signal: AbortSignal) => Promise<number>

/** openRound is the work of one process; any number of processes share the monitors by lease. */
export function openRound(world: World, { leaseMs = LEASE_MS }: WatchBounds = {}): Round & { holder: string } {
  let looker: Looker | undefined
  const holder = world.ids.uuid()
  const round = async (signal: AbortSignal): Promise<number> => {
    let looked = 0
    looker ??= new Looker(world, absenceBefore((await selectLastLook(world.meta))?.last ?? undefined, world.clock.nowMs()))
    const own = looker
    for (;;) {
      const dueMs = world.clock.nowMs() + EARLY_MS
      const claimed = await claimDue(world.meta, { holder, dueMs, leaseMs, rowsMax: BATCH_MAX })
      if (claimed.length === 0) return looked
      await whileRenewing(world, holder, leaseMs, () => own.lookAll(claimed, signal))
      looked += claimed.length
      if (claimed.length < BATCH_MAX) return looked
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

/** startWatching looks with monitors as they become due, until closed; closing ends the looks under way and gives their leases back. */
export function startWatching(world: World, bounds: WatchBounds = {}): Watch {
  const { clock, log, meta } = world
  const stopping = new AbortController()
  const round = openRound(world, bounds)
  const watch = async (): Promise<void> => {
    let isTroubled = false
    while (!stopping.signal.aborted) {
      try {
        await round(stopping.signal)
        isTroubled = false
      } catch (err) {
        if (!stopping.signal.aborted) log[isTroubled ? 'debug' : 'warn']({ err }, 'monitors could not be looked after')
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
      await giveBackLeases(meta, round.holder).catch((err) => log.warn({ err }, 'leases of monitors could not be given back'))
    },
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A look at which nothing happened is kept for a day, one that tells of something for a month, and history for half a year. */
const PLAIN_KEPT_MS = DAY_MS
const CHANGE_KEPT_MS = 30 * DAY_MS
const HISTORY_KEPT_MS = 180 * DAY_MS

/** monitorSweep removes records of looks and history that are old, unless the clock may be wrong. */
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
