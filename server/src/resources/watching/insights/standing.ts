import { DAY_MS, HOUR_MS } from './collect.ts'
import { count, datasetFinding, duration, type InsightFinding, pageLink, share, size } from './finding.ts'

/** A dataset whose number of keys changed lately: the last count, and the one before the change. */
export type KeysRow = {
  log_id: string
  first_day_ms: number
  since_ms: number
  keys: number
  open_maps: number
  keys_before: number
  open_maps_before: number
}

export const EXPLODED_FOR_MS = 3 * DAY_MS
const KEYS_ADDED_MIN = 50
const KEYS_FACTOR_MIN = 2

/** The datasets that got far more keys within days, or objects whose keys differ from event to event. */
export function findExplodedFields(rows: readonly KeysRow[]): readonly InsightFinding[] {
  return rows.flatMap((row) => {
    const added = row.keys - row.keys_before
    const opened = row.open_maps - row.open_maps_before
    const isKnown = row.since_ms - row.first_day_ms >= EXPLODED_FOR_MS
    if (!isKnown || (opened <= 0 && (added < KEYS_ADDED_MIN || row.keys < KEYS_FACTOR_MIN * row.keys_before))) return []
    const keys = `${count(row.keys)} keys, before ${count(row.keys_before)}`
    const evidence =
      opened > 0
        ? `${opened === 1 ? 'An object has' : `${opened} objects have`} keys that differ from event to event. The dataset has ${keys}.`
        : `The dataset has ${keys}.`
    return [
      datasetFinding(row.log_id, {
        name: 'fields_exploded',
        sinceMs: row.since_ms,
        evidence,
        confidence: opened > 0 || row.keys >= 4 * row.keys_before ? 'high' : 'medium',
        action: { label: 'Look at the fields', link: pageLink('data', { id: row.log_id, part: 'keys' }) },
      }),
    ]
  })
}

/** A dataset with its bytes of a week, its effective retention and its last query. */
export type KeptRow = {
  log_id: string
  created_at: number
  bytes: number
  queried_ms: number | null
  is_watched: boolean
  days: number | undefined
}

export const UNQUERIED_MS = 28 * DAY_MS
export const UNQUERIED_BYTES_MIN = 10 * 2 ** 20
/** The shortest retention there is. */
const SHORTEST_DAYS = 30

/** The datasets whose events nobody and no monitor reads, and which are kept for longer than necessary. */
export function findUnqueried(rows: readonly KeptRow[], endMs: number): readonly InsightFinding[] {
  return rows
    .filter(
      ({ created_at, bytes, queried_ms, is_watched, days }) =>
        endMs - created_at >= UNQUERIED_MS &&
        (queried_ms === null || endMs - queried_ms >= UNQUERIED_MS) &&
        !is_watched &&
        bytes >= UNQUERIED_BYTES_MIN &&
        (days === undefined || days > SHORTEST_DAYS),
    )
    .map(({ log_id, created_at, bytes, queried_ms, days }) =>
      datasetFinding(log_id, {
        name: 'never_queried',
        sinceMs: queried_ms ?? created_at,
        evidence: `No search, export or monitor has read it for ${duration(endMs - (queried_ms ?? created_at))}. It got ${size(bytes)} in the last 7 days and keeps events ${days === undefined ? 'forever' : `for ${days} days`}.`,
        confidence: queried_ms === null ? 'high' : 'medium',
        action: { label: 'Shorten its retention', link: pageLink('data', { id: log_id, part: 'care' }) },
      }),
    )
}

/** The verbosity of a dataset and the lines that its parser read, in a day. */
export type LevelsOfDay = { log_id: string; counted: number; debugs: number }
export type ParsedOfDay = { log_id: string; lines: number; matched: number }

export const DEBUG_EVENTS_MIN = 10_000
export const DEBUG_SHARE_MIN = 0.5
export const PARSED_LINES_MIN = 1_000
const MATCHED_SHARE_MAX = 0.5
const SURE_SHARE = 0.8

export function findVerboseDatasets(rows: readonly LevelsOfDay[], endMs: number): readonly InsightFinding[] {
  return rows
    .filter(({ counted, debugs }) => counted >= DEBUG_EVENTS_MIN && debugs / counted >= DEBUG_SHARE_MIN)
    .map(({ log_id, counted, debugs }) =>
      datasetFinding(log_id, {
        name: 'debug_logs_received',
        sinceMs: endMs - DAY_MS,
        evidence: `${share(debugs / counted)} of the ${count(counted)} events of a day are debug or trace events.`,
        confidence: debugs / counted >= SURE_SHARE ? 'high' : 'medium',
        action: {
          label: 'Look at the debug events',
          link: pageLink('explore', { d: [log_id], q: 'level IN (debug, trace)', f: endMs - HOUR_MS, t: endMs }),
        },
      }),
    )
}

export function findParserMismatches(rows: readonly ParsedOfDay[], endMs: number): readonly InsightFinding[] {
  return rows
    .filter(({ lines, matched }) => lines >= PARSED_LINES_MIN && matched / lines < MATCHED_SHARE_MAX)
    .map(({ log_id, lines, matched }) =>
      datasetFinding(log_id, {
        name: 'parser_config_mismatch',
        sinceMs: endMs - DAY_MS,
        evidence: `The parser matched ${share(matched / lines)} of ${count(lines)} lines in a day.`,
        confidence: matched / lines < 1 - SURE_SHARE ? 'high' : 'medium',
        action: { label: 'Change the parser', link: pageLink('data', { id: log_id, part: 'parser' }) },
      }),
    )
}

/** A monitor that is evaluated, with its alerts of the last week. */
export type WatchedMonitor = {
  id: string
  status: string
  modified_at: number
  last_trigger_ts: number | null
  last_change_ms: number | null
  alerts: number
}

export const NEVER_FIRED_MS = 28 * DAY_MS
const ALWAYS_FIRING_MS = 7 * DAY_MS
/** More alerts in a week are more than anybody reads. */
const ALERTS_MAX = 50

/** The monitors that never alerted in four weeks, and those that alert all the time. */
export function findIdleMonitors(monitors: readonly WatchedMonitor[], endMs: number): readonly InsightFinding[] {
  return monitors.flatMap((monitor): InsightFinding[] => {
    const { id, status, modified_at, last_trigger_ts, last_change_ms, alerts } = monitor
    const place = { subject: id, entityType: 'monitor' as const, entityId: id }
    const action = { label: 'Change the threshold', link: pageLink('monitors', { edit: id }) }
    const firingSinceMs = status === 'ALERT' ? (last_change_ms ?? modified_at) : undefined
    if (firingSinceMs !== undefined && endMs - firingSinceMs >= ALWAYS_FIRING_MS) {
      const evidence = `It has been alerting for ${duration(endMs - firingSinceMs)} without a break.`
      return [{ ...place, name: 'monitor_always_fires', sinceMs: firingSinceMs, evidence, confidence: 'high', action }]
    }
    if (alerts >= ALERTS_MAX) {
      const evidence = `It alerted ${count(alerts)} times in 7 days.`
      return [{ ...place, name: 'monitor_always_fires', sinceMs: endMs - ALWAYS_FIRING_MS, evidence, confidence: 'medium', action }]
    }
    const quietSinceMs = Math.max(modified_at, last_trigger_ts ?? 0)
    if (status !== 'ALERT' && status !== 'WARN' && endMs - quietSinceMs >= NEVER_FIRED_MS) {
      const evidence = `It has not alerted for ${duration(endMs - quietSinceMs)}.`
      return [{ ...place, name: 'monitor_never_fires', sinceMs: quietSinceMs, evidence, confidence: 'medium', action }]
    }
    return []
  })
}
