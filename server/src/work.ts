import { auditTrail } from './ingest/audit-trail.ts'
import type { JobKind } from './jobs/job.ts'
import { removeWindows } from './meta/counters.ts'
import { forgetPosts } from './meta/post-claims.ts'
import { removeUsageMinutes } from './meta/usage-counts.ts'
import { forgetBirths } from './resources/data/datasets/datasets.ts'
import { ledgerRecount, ledgerRollup } from './resources/data/ledger/ledger.ts'
import { forgetParserMinutes } from './resources/data/parsers/parsers.ts'
import { eventRemoval, orphanSweep, type Reading, readClock } from './resources/data/retention/retention.ts'
import { exporting, exportRemoval } from './resources/queries/exports/exports.ts'
import type { LiveTails } from './resources/queries/live-tail/live-tail.ts'
import type { Searches } from './resources/queries/search/search.ts'
import { forgetPages } from './resources/queries/search/search.ts'
import { monitorSweep, startWatching } from './resources/watching/evaluations/evaluations.ts'
import { notificationDelivery } from './resources/watching/notifications/notifications.ts'
import type { World } from './world.ts'

/**
 * Work is what a process does besides answering: jobs, one process each, and loops of every process, which share what they do themselves.
 * Every sweepEveryMs it removes what is old by its clock, of the whole deployment; without one it leaves that to others.
 */
export type Work = {
  kinds: readonly JobKind[]
  loops: readonly ((world: World) => { close(): Promise<void> })[]
  sweepEveryMs?: number
}

const SWEEP_EVERY_MS = 60_000
/** USAGE_KEPT_MS lets a year be compared with the one before. */
const USAGE_KEPT_MS = 2 * 366 * 86_400_000

/** WINDOW_MIN_MS is the longest window of what is counted beside requests. */
const WINDOW_MIN_MS = 60_000

export const allWork = (world: World): Work => ({ kinds: jobKinds(world), loops: [startWatching], sweepEveryMs: SWEEP_EVERY_MS })

/** jobKinds are the work that survives a restart: what is not in this list is never done. */
export const jobKinds = (world: World): readonly JobKind[] => [
  monitorSweep(world),
  ledgerRecount(world),
  ledgerRollup(world),
  eventRemoval(world),
  orphanSweep(world),
  notificationDelivery(world),
  exporting(world),
  exportRemoval(world),
  auditTrail(world),
]

type Sweep = { everyMs: number; failed: string; chore: () => Promise<unknown> }

/** sweeps remove what is too old for anybody, also of other processes: so the clock must be that of all. */
export function sweeps(
  world: World,
  { sweepEveryMs: everyMs }: Work,
  { windowMs, searches, tails }: { windowMs: number; searches: Searches; tails: LiveTails },
): readonly Sweep[] {
  if (everyMs === undefined) return []
  const { meta, clock } = world
  let reading: Reading | undefined
  /** removeUsage waits until the clock has gone on steadily, since usage cannot be counted again. */
  const removeUsage = async (): Promise<void> => {
    const nowMs = clock.nowMs()
    const read = readClock(reading, nowMs, clock.report?.())
    reading = read.reading
    if (read.isTrusted) await removeUsageMinutes(meta, nowMs - USAGE_KEPT_MS)
  }
  return [
    { everyMs, failed: 'old counts of parsers could not be removed', chore: () => forgetParserMinutes(world) },
    { everyMs, failed: 'old counts of new datasets could not be removed', chore: () => forgetBirths(world) },
    { everyMs, failed: 'old pages of searches could not be removed', chore: () => forgetPages(world) },
    { everyMs, failed: 'live tails that nobody watches could not be removed', chore: () => tails.forget() },
    { everyMs, failed: 'old searches could not be removed', chore: () => searches.forget() },
    { everyMs, failed: 'old usage could not be removed', chore: removeUsage },
    { everyMs, failed: 'old claims of posts could not be removed', chore: () => forgetPosts(meta) },
    {
      everyMs,
      failed: 'old windows could not be removed',
      chore: () => removeWindows(meta, clock.nowMs() - 2 * Math.max(windowMs, WINDOW_MIN_MS)),
    },
  ]
}
