import { selectArrivedByHour, selectLevelsByHour, selectPatternsOfHour } from '../../../events/ledger/hours.ts'
import { NIL_ID } from '../../../kernel/ids.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import {
  type HourRow,
  removeOldHours,
  removeOldKeys,
  removeOldPatterns,
  removeOldSenders,
  updateKeys,
  updatePatternsKnown,
  updateQueried,
  upsertHours,
  upsertPatterns,
  upsertSenders,
} from './counter-rows.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** How long hourly counts are kept; the same hour of four weeks can be compared. */
export const KEPT_MS = 28 * DAY_MS
/** Patterns are counted only for recent hours, because they are counted from the pattern numbers of events. */
const PATTERNS_BACK_MS = 3 * DAY_MS
/** The maximum number of events whose patterns are counted in an hour, and of patterns that are written. Datasets beyond are left out, the largest first. */
export const PATTERN_EVENTS_MAX = 20_000_000
const PATTERNS_MAX = 50_000
/** A dataset with more patterns in an hour is not watched for new ones. */
const PATTERNS_PER_DATASET = 200
const ROWS_PER_STATEMENT = 5_000
/** The datasets whose keys one statement counts. */
const KEYS_AT_ONCE = 1_000

type CollectWorld = Pick<World, 'events' | 'meta' | 'log'>
/** Runs a write while the lease of the job is held. */
export type Write = <T>(work: (tx: Db) => Promise<T>) => Promise<T>

/**
 * Collects the counts of full hours of all organizations. The number of statements does not depend on the number of datasets, except for one write for
 * each 5,000 rows.
 */
export async function collectHours(
  world: CollectWorld,
  write: Write,
  {
    fromMs,
    toMs,
    freshMs,
    nowMs,
  }: { fromMs: number; toMs: number /** Hours before it were collected already. */; freshMs: number; nowMs: number },
): Promise<void> {
  const arrived = await selectArrivedByHour(world.events, { fromMs, toMs })
  const levels = await selectLevelsByHour(world.events, { fromMs, toMs })
  const hours = new Map<string, HourRow>()
  const rowOf = (logId: string, hourMs: number): HourRow => {
    const known = hours.get(`${logId} ${hourMs}`)
    const row = known ?? { log_id: logId, hour_ms: hourMs, events: 0, bytes: 0, counted: 0, errors: 0, debugs: 0 }
    hours.set(`${logId} ${hourMs}`, row)
    return row
  }
  for (const { logId, hourMs, events, bytes } of arrived) {
    const row = rowOf(logId, hourMs)
    row.events += events
    row.bytes += bytes
  }
  for (const { logId, hourMs, counted, errors, debugs } of levels) Object.assign(rowOf(logId, hourMs), { counted, errors, debugs })
  await inParts([...hours.values()], (rows) => write((tx) => upsertHours(tx, rows)))
  const bySender = Map.groupBy(arrived, ({ hourMs }) => hourMs)
  for (let hourMs = Math.max(fromMs, freshMs); hourMs < toMs; hourMs += HOUR_MS) {
    const at = { hourMs, gapsSinceMs: hourMs - KEPT_MS }
    const senders = (bySender.get(hourMs) ?? [])
      .filter(({ identityId }) => identityId !== NIL_ID)
      .map(({ logId, identityId }) => ({ log_id: logId, identity_id: identityId }))
    await inParts(senders, (rows) => write((tx) => upsertSenders(tx, at, rows)))
    if (hourMs >= nowMs - PATTERNS_BACK_MS) await collectPatterns(world, write, at, hours)
  }
  await write((tx) => updateQueried(tx, { fromMs, toMs }))
}

async function collectPatterns(
  { events }: CollectWorld,
  write: Write,
  at: { hourMs: number; gapsSinceMs: number },
  hours: ReadonlyMap<string, HourRow>,
): Promise<void> {
  const sized = [...hours.values()].filter(({ hour_ms, counted }) => hour_ms === at.hourMs && counted > 0)
  const { taken, left } = withinBudget(sized)
  const found = await selectPatternsOfHour(events, at.hourMs, taken, PATTERNS_PER_DATASET)
  const byLog = [...Map.groupBy(found, ({ logId }) => logId)].sort(([, a], [, b]) => a.length - b.length)
  const rows: { log_id: string; pattern: string; events: number }[] = []
  const known = left.map((log_id) => ({ log_id, is_complete: false }))
  for (const [log_id, patterns] of byLog) {
    const isComplete = (patterns[0]?.patterns ?? 0) <= PATTERNS_PER_DATASET && rows.length + patterns.length <= PATTERNS_MAX
    known.push({ log_id, is_complete: isComplete })
    if (isComplete) for (const { pattern, events: count } of patterns) rows.push({ log_id, pattern, events: count })
  }
  await inParts(rows, (some) => write((tx) => upsertPatterns(tx, at, some)))
  await inParts(known, (some) => write((tx) => updatePatternsKnown(tx, at.hourMs, some)))
}

/** Chooses the datasets whose patterns are counted: the smallest first, while their events are within the budget. */
export function withinBudget(
  hours: readonly Pick<HourRow, 'log_id' | 'counted'>[],
  eventsMax = PATTERN_EVENTS_MAX,
): { taken: string[]; left: string[] } {
  const [taken, left]: [string[], string[]] = [[], []]
  let sum = 0
  for (const { log_id, counted } of [...hours].sort((a, b) => a.counted - b.counted)) {
    sum += counted
    if (sum <= eventsMax) taken.push(log_id)
    else left.push(log_id)
  }
  return { taken, left }
}

/** Counts the keys of datasets whose layout changed, and removes what is too old to be compared. */
export async function tidyCounters(write: Write, hourMs: number): Promise<void> {
  let counted = KEYS_AT_ONCE
  while (counted === KEYS_AT_ONCE) {
    counted = await write((tx) => updateKeys(tx, hourMs - (hourMs % DAY_MS), KEYS_AT_ONCE))
  }
  await write((tx) => removeOldHours(tx, hourMs - KEPT_MS - 2 * HOUR_MS))
  await write((tx) => removeOldSenders(tx, hourMs - KEPT_MS))
  await write((tx) => removeOldPatterns(tx, hourMs - KEPT_MS))
  await write((tx) => removeOldKeys(tx, hourMs - KEPT_MS))
}

async function inParts<Row>(rows: readonly Row[], work: (part: readonly Row[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) await work(rows.slice(from, from + ROWS_PER_STATEMENT))
}
