import type { ProcessRole } from './http/process-roles.ts'
import type { RateLimiter } from './http/rate-limit.ts'
import { auditTrail } from './ingest/audit-trail.ts'
import { canary } from './ingest/canary.ts'
import type { JobKind } from './jobs/job.ts'
import { every } from './kernel/every.ts'
import { removeWindows } from './meta/counters.ts'
import { forgetPosts } from './meta/post-claims.ts'
import { removeUsageMinutes } from './meta/usage-counts.ts'
import type { ApiKeyUses } from './resources/access/api-keys/api-keys.ts'
import type { SessionUses } from './resources/access/auth/auth.ts'
import { signOnRecheck } from './resources/access/sign-on/sign-on.ts'
import { coldMoves } from './resources/data/cold-storage/cold-storage.ts'
import type { Heartbeats } from './resources/data/datasets/datasets.ts'
import { deleteOldCreationCounts } from './resources/data/datasets/datasets.ts'
import { ledgerRecount, ledgerRollup, openLedgerPresence, PRESENCE_EVERY_MS } from './resources/data/ledger/ledger.ts'
import type { ParserCounts } from './resources/data/parsers/parsers.ts'
import { deleteOldParserMinutes } from './resources/data/parsers/parsers.ts'
import { type ClockReading, eventRemoval, orphanSweep, readClock } from './resources/data/retention/retention.ts'
import { exporting, exportRemoval } from './resources/queries/exports/exports.ts'
import { forwarding } from './resources/queries/forward-configs/forward-configs.ts'
import type { LiveTails } from './resources/queries/live-tail/live-tail.ts'
import type { Searches } from './resources/queries/search/search.ts'
import { forgetPages } from './resources/queries/search/search.ts'
import { backupSchedule, backupTasks } from './resources/service/backups/backups.ts'
import { monitorSweep, startEvaluations } from './resources/watching/evaluations/evaluations.ts'
import { insightEvaluation } from './resources/watching/insights/insights.ts'
import { notificationDelivery } from './resources/watching/notifications/notifications.ts'
import type { World } from './world.ts'

/**
 * The work of a process besides requests: jobs, each of which one process of the deployment runs, and loops that every process runs. Every
 * `sweepEveryMs` the process removes old data of the whole deployment; without it, it does not.
 */
export type BackgroundWork = {
  kinds: readonly JobKind[]
  loops: readonly ((world: World) => { close(): Promise<void> })[]
  sweepEveryMs?: number
  /** Whether the process has a lease in the ledger, so that the others know that it counts events. */
  isInLedger?: boolean
  /** Whether the process reads sources. */
  readsSources?: boolean
}

const SWEEP_EVERY_MS = 60_000
/** Long enough to compare a year with the one before. */
const USAGE_KEPT_MS = 2 * 366 * 86_400_000
/** The longest window of the counters that do not count requests. */
const WINDOW_MIN_MS = 60_000
const GIVE_BACK_EVERY_MS = 1_000
const FLUSH_EVERY_MS = 3_000

export const workOf = (world: World, roles: readonly ProcessRole[]): BackgroundWork =>
  roles.includes('work')
    ? {
        kinds: jobKinds(world),
        loops: [startEvaluations],
        sweepEveryMs: SWEEP_EVERY_MS,
        isInLedger: true,
        readsSources: roles.includes('ingest'),
      }
    : { kinds: [], loops: [], isInLedger: true, readsSources: roles.includes('ingest') }

/** Lists every kind of job; a kind that is missing here never runs. */
export const jobKinds = (world: World): readonly JobKind[] => [
  monitorSweep(world),
  insightEvaluation(world),
  ledgerRecount(world),
  ledgerRollup(world),
  eventRemoval(world),
  orphanSweep(world),
  coldMoves(world),
  notificationDelivery(world),
  exporting(world),
  exportRemoval(world),
  forwarding(world),
  auditTrail(world),
  canary(world),
  backupTasks(world),
  backupSchedule(world),
  signOnRecheck(world),
]

/** Small work that each process repeats. `atStop` runs when the process stops. */
export type Chore = { everyMs: number; failed: string; run: () => Promise<unknown>; atStop?: () => Promise<unknown> }

/** Repeats the chores until `stop`; `flush` then runs what the stop of a process needs. */
export function startChores({ clock, log }: World, chores: readonly Chore[]): { stop(): Promise<void>; flush(): Promise<void> } {
  const stopping = new AbortController()
  const running = chores.map(({ everyMs, failed, run }) =>
    every(everyMs, { clock, log, signal: stopping.signal, first: 'later', failed }, run),
  )
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(running)
    },
    flush: async () => {
      for (const { atStop, failed } of chores) await atStop?.().catch((err) => log.warn({ err }, failed))
    },
  }
}

/** flushes write counts that are kept in memory to the stores. */
export function flushes({
  limiters,
  heartbeats,
  keyUses,
  sessionUses,
  parserCounts,
}: {
  limiters: readonly RateLimiter[]
  heartbeats: Heartbeats
  keyUses: ApiKeyUses
  sessionUses: SessionUses
  parserCounts: ParserCounts
}): readonly Chore[] {
  const giveBack = (idleMs?: number) => Promise.all(limiters.map((limiter) => limiter.giveBackIdle(idleMs)))
  const flush = (counts: { flush(): Promise<unknown> }, failed: string): Chore => ({
    everyMs: FLUSH_EVERY_MS,
    failed,
    run: () => counts.flush(),
    atStop: () => counts.flush(),
  })
  return [
    flush(heartbeats, 'heartbeats of datasets could not be written'),
    flush(keyUses, 'the last uses of API keys could not be written'),
    flush(sessionUses, 'the last uses of sessions could not be written'),
    flush(parserCounts, 'counts of parsers could not be written'),
    { everyMs: GIVE_BACK_EVERY_MS, failed: 'unused requests could not be given back', run: () => giveBack(), atStop: () => giveBack(0) },
  ]
}

/** Renews the lease of this process in the ledger. */
export async function presence(world: World, { isInLedger }: BackgroundWork): Promise<readonly Chore[]> {
  if (!isInLedger) return []
  const { renew, leave } = await openLedgerPresence(world)
  return [{ everyMs: PRESENCE_EVERY_MS, failed: 'the ledger lease of this process could not be renewed', run: renew, atStop: leave }]
}

/** sweeps remove old data of all processes, so only a process whose clock is that of the deployment may run them. */
export function sweeps(
  world: World,
  { sweepEveryMs: everyMs }: BackgroundWork,
  { windowMs, searches, tails }: { windowMs: number; searches: Searches; tails: LiveTails },
): readonly Chore[] {
  if (everyMs === undefined) return []
  const { meta, clock } = world
  let reading: ClockReading | undefined
  /** Waits until the clock can be trusted, since usage cannot be counted again. */
  const removeUsage = async (): Promise<void> => {
    const nowMs = clock.nowMs()
    const read = readClock(reading, nowMs, clock.report?.())
    reading = read.reading
    if (read.isTrusted) await removeUsageMinutes(meta, nowMs - USAGE_KEPT_MS)
  }
  return [
    { everyMs, failed: 'old counts of parsers could not be removed', run: () => deleteOldParserMinutes(world) },
    { everyMs, failed: 'old counts of new datasets could not be removed', run: () => deleteOldCreationCounts(world) },
    { everyMs, failed: 'old pages of searches could not be removed', run: () => forgetPages(world) },
    { everyMs, failed: 'abandoned live tails could not be removed', run: () => tails.removeIdle() },
    { everyMs, failed: 'old searches could not be removed', run: () => searches.forget() },
    { everyMs, failed: 'old usage could not be removed', run: removeUsage },
    { everyMs, failed: 'old claims of posts could not be removed', run: () => forgetPosts(meta) },
    {
      everyMs,
      failed: 'old windows could not be removed',
      run: () => removeWindows(meta, clock.nowMs() - 2 * Math.max(windowMs, WINDOW_MIN_MS)),
    },
  ]
}
