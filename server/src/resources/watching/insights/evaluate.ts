import type { World } from '../../../world.ts'
import { retentionDays } from '../../data/retention/retention.ts'
import type { Write } from './collect.ts'
import { DAY_MS, HOUR_MS, KEPT_MS } from './collect.ts'
import {
  selectAbsentPatterns,
  selectActive,
  selectGrownKeys,
  selectHours,
  selectJumpCandidates,
  selectNewPatterns,
  selectParsed,
  selectSilentSenders,
  selectUnqueried,
  selectVerbose,
  selectWatchedMonitors,
} from './evaluation-rows.ts'
import type { InsightFinding } from './finding.ts'
import { BYTES_MIN, ERRORS_MIN, EVENTS_MIN, findJumps } from './jumps.ts'
import { reconcile } from './reconcile.ts'
import { deleteInsights, selectInsights, upsertInsights } from './rows.ts'
import {
  findNewPatterns,
  findSilentSenders,
  findVanishedPatterns,
  KNOWN_MIN_MS,
  NEW_EVENTS_MIN,
  NEW_FOR_MS,
  PATTERN_HOURS_MIN,
  PATTERN_SILENT_MIN_MS,
  SENDER_HOURS_MIN,
  SENDER_SILENT_MIN_MS,
} from './silence.ts'
import {
  DEBUG_EVENTS_MIN,
  DEBUG_SHARE_MIN,
  EXPLODED_FOR_MS,
  findExplodedFields,
  findIdleMonitors,
  findParserMismatches,
  findUnqueried,
  findVerboseDatasets,
  PARSED_LINES_MIN,
  UNQUERIED_BYTES_MIN,
  UNQUERIED_MS,
} from './standing.ts'

const WEEK_MS = 7 * DAY_MS
/** Candidates have at least this many times the median; the decision compares more closely. */
const CANDIDATE_FACTOR = 2
const COMPARED_DAYS = 28
/** A silence of this length is known to everybody; the sender then counts as gone. */
const SENDER_GONE_MS = 14 * DAY_MS
const PATTERN_GONE_MS = 7 * DAY_MS

type EvaluateWorld = Pick<World, 'meta' | 'clock' | 'ids' | 'deployment'>
/** The last full hour, since when the service has been running, and whether insights that change by the day are due. */
export type EvaluatedHour = { readonly hourMs: number; readonly awakeMs: number; readonly isDaily: boolean }

const HOURLY: readonly InsightFinding['name'][] = [
  'volume_jumped',
  'errors_jumped',
  'cost_jumped',
  'sender_silent',
  'new_patterns',
  'patterns_vanished',
  'fields_exploded',
  'monitor_never_fires',
  'monitor_always_fires',
  'debug_logs_received',
  'parser_config_mismatch',
]
const DAILY: readonly InsightFinding['name'][] = ['never_queried']

/** Evaluates one organization with a fixed number of statements. Returns the number of its insights. */
export async function evaluateOrganization(world: EvaluateWorld, write: Write, orgId: string, hour: EvaluatedHour): Promise<number> {
  const { meta, clock, ids } = world
  const findings = [...(await hourlyFindings(world, orgId, hour)), ...(hour.isDaily ? await unqueriedFindings(world, orgId, hour) : [])]
  const names = new Set([...HOURLY, ...(hour.isDaily ? DAILY : [])])
  const known = await selectInsights(meta, orgId)
  const evaluation = { orgId, atMs: hour.hourMs + HOUR_MS, nowMs: clock.nowMs(), newId: () => ids.uuid(), names }
  const { written, ended } = reconcile(known, findings, evaluation)
  await write(async (tx) => {
    await upsertInsights(tx, written)
    await deleteInsights(
      tx,
      orgId,
      ended.map(({ id }) => id),
    )
  })
  return written.length
}

async function hourlyFindings(
  { meta, clock }: EvaluateWorld,
  orgId: string,
  { hourMs, awakeMs }: EvaluatedHour,
): Promise<InsightFinding[]> {
  const endMs = hourMs + HOUR_MS
  const comparedMs = Array.from({ length: COMPARED_DAYS }, (_, index) => hourMs - (index + 1) * DAY_MS)
  const bounds = {
    hourMs,
    factor: CANDIDATE_FACTOR,
    eventsMin: EVENTS_MIN,
    errorsMin: ERRORS_MIN,
    bytesMin: BYTES_MIN,
    comparedMs,
    createdBeforeMs: endMs - WEEK_MS,
  }
  const candidates = (await selectJumpCandidates(meta, orgId, bounds)).map(({ log_id }) => log_id)
  const hours = Map.groupBy(await selectHours(meta, orgId, candidates, { fromMs: hourMs - KEPT_MS, toMs: endMs }), ({ log_id }) => log_id)
  const firstBeforeMs = endMs - KNOWN_MIN_MS
  const senders = await selectSilentSenders(meta, orgId, {
    hoursMin: SENDER_HOURS_MIN,
    silentSinceMs: endMs - SENDER_SILENT_MIN_MS,
    missedSinceMs: endMs - SENDER_GONE_MS,
    firstBeforeMs,
  })
  const absent = await selectAbsentPatterns(meta, orgId, {
    hoursMin: PATTERN_HOURS_MIN,
    silentSinceMs: endMs - PATTERN_SILENT_MIN_MS,
    missedSinceMs: endMs - PATTERN_GONE_MS,
    firstBeforeMs,
  })
  const active = new Set(
    (await selectActive(meta, orgId, [...new Set(absent.map(({ log_id }) => log_id))], hourMs)).map(({ log_id }) => log_id),
  )
  const fresh = await selectNewPatterns(meta, orgId, { sinceMs: endMs - NEW_FOR_MS, weekMs: WEEK_MS, eventsMin: NEW_EVENTS_MIN })
  const day = { fromMs: endMs - DAY_MS, toMs: endMs }
  const verbose = await selectVerbose(meta, orgId, { ...day, eventsMin: DEBUG_EVENTS_MIN, share: DEBUG_SHARE_MIN })
  const today = hourMs - (hourMs % DAY_MS)
  return [
    ...[...hours].flatMap(([logId, own]) => findJumps(logId, own, hourMs)),
    ...findSilentSenders(senders, endMs, awakeMs),
    ...findNewPatterns(fresh, endMs),
    ...findVanishedPatterns(absent, { endMs, awakeMs, active }),
    ...findExplodedFields(await selectGrownKeys(meta, orgId, today - EXPLODED_FOR_MS + DAY_MS)),
    ...findVerboseDatasets(verbose, endMs),
    ...findParserMismatches(await selectParsed(meta, orgId, { ...day, linesMin: PARSED_LINES_MIN }), endMs),
    ...findIdleMonitors(await selectWatchedMonitors(meta, orgId, { nowMs: clock.nowMs(), weekMs: WEEK_MS }), endMs),
  ]
}

async function unqueriedFindings(world: EvaluateWorld, orgId: string, { hourMs }: EvaluatedHour): Promise<readonly InsightFinding[]> {
  const endMs = hourMs + HOUR_MS
  const rows = await selectUnqueried(world.meta, orgId, {
    fromMs: endMs - WEEK_MS,
    toMs: endMs,
    beforeMs: endMs - UNQUERIED_MS,
    bytesMin: UNQUERIED_BYTES_MIN,
  })
  const daysOf = await retentionDays(world, orgId)
  return findUnqueried(
    rows.map((row) => ({ ...row, days: daysOf(row) })),
    endMs,
  )
}
