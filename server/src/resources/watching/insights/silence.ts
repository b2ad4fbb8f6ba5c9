import { DAY_MS, HOUR_MS } from './collect.ts'
import { count, datasetFinding, duration, type InsightFinding, pageLink } from './finding.ts'

/** When something occurred: the hours with events, and the longest time between two of them. */
export type OccurrenceHours = { first_ms: number; last_ms: number; hours: number; gap_ms: number }

/** Long enough to know the days of the week on which nothing occurs. */
export const KNOWN_MIN_MS = 8 * DAY_MS
export const SENDER_HOURS_MIN = 24
export const PATTERN_HOURS_MIN = 72
/** A pattern is missed only if it occurred in at least half of all hours, with this many events in each. */
const PATTERN_HOURS_SHARE = 0.5
const PATTERN_EVENTS_PER_HOUR = 5
export const SENDER_SILENT_MIN_MS = 3 * HOUR_MS
export const PATTERN_SILENT_MIN_MS = 6 * HOUR_MS
const STEADY_SHARE = 0.9
const NAMED_MAX = 3

/**
 * How long something must be absent to be missed: twice the longest gap so far, or one and a half times a gap of days. Both count from the last hour in
 * which it occurred.
 */
export const missedAfterMs = ({ gap_ms }: Pick<OccurrenceHours, 'gap_ms'>, leastMs: number): number =>
  Math.max(leastMs, (gap_ms >= DAY_MS ? 1.5 : 2) * gap_ms + HOUR_MS)

/** The share of the hours since the first in which it occurred. */
export const hoursShare = ({ first_ms, last_ms, hours }: OccurrenceHours): number => hours / ((last_ms - first_ms) / HOUR_MS + 1)

/** Whether it has not occurred for unusually long until the end of an hour. Nothing is missed while the service itself was away. */
export const isMissed = (
  known: OccurrenceHours,
  { endMs, awakeMs, leastMs }: { endMs: number; awakeMs: number; leastMs: number },
): boolean => known.last_ms - known.first_ms >= KNOWN_MIN_MS && endMs - Math.max(known.last_ms, awakeMs) > missedAfterMs(known, leastMs)

export type SenderRow = OccurrenceHours & { log_id: string; identity_id: string }

/** The senders of an organization that stopped sending. */
export function findSilentSenders(senders: readonly SenderRow[], endMs: number, awakeMs: number): readonly InsightFinding[] {
  return senders
    .filter((sender) => sender.hours >= SENDER_HOURS_MIN && isMissed(sender, { endMs, awakeMs, leastMs: SENDER_SILENT_MIN_MS }))
    .map((sender) => {
      const silentMs = endMs - sender.last_ms - HOUR_MS
      const longest = sender.gap_ms > HOUR_MS ? `paused for ${duration(sender.gap_ms - HOUR_MS)} at most` : 'never paused for an hour'
      return datasetFinding(sender.log_id, {
        name: 'sender_silent',
        subject: `${sender.log_id} ${sender.identity_id}`,
        sinceMs: sender.last_ms + HOUR_MS,
        evidence: `No events from the sender ${sender.identity_id} for ${duration(silentMs)}. It sent in ${count(sender.hours)} hours before and ${longest}.`,
        confidence: hoursShare(sender) >= STEADY_SHARE ? 'high' : 'medium',
        action: { label: 'Check what the dataset receives', link: pageLink('data', { id: sender.log_id, part: 'sending' }) },
      })
    })
}

export type PatternOccurrence = OccurrenceHours & { log_id: string; pattern: string; events: number }

/** The patterns that no longer occur in datasets that still receive events. One insight for each dataset. */
export function findVanishedPatterns(
  patterns: readonly PatternOccurrence[],
  { endMs, awakeMs, active }: { endMs: number; awakeMs: number; active: ReadonlySet<string> },
): readonly InsightFinding[] {
  const missed = patterns.filter(
    (pattern) =>
      active.has(pattern.log_id) &&
      pattern.hours >= PATTERN_HOURS_MIN &&
      hoursShare(pattern) >= PATTERN_HOURS_SHARE &&
      pattern.events / pattern.hours >= PATTERN_EVENTS_PER_HOUR &&
      isMissed(pattern, { endMs, awakeMs, leastMs: PATTERN_SILENT_MIN_MS }),
  )
  return [...Map.groupBy(missed, ({ log_id }) => log_id)].map(([logId, own]) => {
    const steadiest = [...own].sort((a, b) => hoursShare(b) - hoursShare(a) || b.events - a.events)
    const lastMs = Math.max(...own.map(({ last_ms }) => last_ms))
    const each = steadiest
      .slice(0, NAMED_MAX)
      .map(({ pattern, events, hours }) => `${pattern} (${count(events / hours)} events an hour before)`)
    return datasetFinding(logId, {
      name: 'patterns_vanished',
      sinceMs: lastMs + HOUR_MS,
      evidence: `${plural(own.length, 'pattern')} no longer occur${own.length === 1 ? 's' : ''}: ${listOf(each, own.length)}. Other events still arrive.`,
      confidence: hoursShare(steadiest[0] as PatternOccurrence) >= STEADY_SHARE ? 'high' : 'medium',
      action: {
        label: 'Look at the last events',
        link: patternLink(logId, steadiest, { fromMs: lastMs - DAY_MS, toMs: lastMs + HOUR_MS }),
      },
    })
  })
}

/** A new pattern is one that first occurs after all patterns of the dataset were known for a week. */
export const PATTERNS_KNOWN_MIN_MS = 7 * DAY_MS
export const NEW_EVENTS_MIN = 20
/** A dataset that got more new patterns in the week before always has some. */
export const NEW_BEFORE_MAX = 5
export const NEW_FOR_MS = DAY_MS

export type NewPatternOccurrence = PatternOccurrence & { patterns_ms: number | null; new_before: number }

/** The patterns that first occurred within a day. One insight for each dataset. */
export function findNewPatterns(patterns: readonly NewPatternOccurrence[], endMs: number): readonly InsightFinding[] {
  const fresh = patterns.filter(
    ({ first_ms, events, patterns_ms, new_before }) =>
      first_ms >= endMs - NEW_FOR_MS &&
      events >= NEW_EVENTS_MIN &&
      patterns_ms !== null &&
      first_ms - patterns_ms >= PATTERNS_KNOWN_MIN_MS &&
      new_before <= NEW_BEFORE_MAX,
  )
  return [...Map.groupBy(fresh, ({ log_id }) => log_id)].map(([logId, own]) => {
    const largest = [...own].sort((a, b) => b.events - a.events)
    const firstMs = Math.min(...own.map(({ first_ms }) => first_ms))
    const each = largest.slice(0, NAMED_MAX).map(({ pattern, events }) => `${pattern} (${count(events)} events)`)
    return datasetFinding(logId, {
      name: 'new_patterns',
      sinceMs: firstMs,
      evidence: `${plural(own.length, 'pattern')} never occurred before: ${listOf(each, own.length)}.`,
      confidence: largest[0] && largest[0].events >= 10 * NEW_EVENTS_MIN ? 'high' : 'medium',
      action: { label: 'Look at the events', link: patternLink(logId, largest, { fromMs: firstMs, toMs: endMs }) },
    })
  })
}

const plural = (many: number, noun: string): string => `${count(many)} ${noun}${many === 1 ? '' : 's'}`

const listOf = (each: readonly string[], all: number): string =>
  `${each.join(', ')}${all > each.length ? ` and ${count(all - each.length)} more` : ''}`

function patternLink(logId: string, patterns: readonly { pattern: string }[], { fromMs, toMs }: { fromMs: number; toMs: number }): string {
  const ids = patterns.slice(0, NAMED_MAX).map(({ pattern }) => `'${pattern}'`)
  return pageLink('explore', { d: [logId], q: `@pattern IN (${ids.join(', ')})`, f: fromMs, t: toMs })
}
