import { baselineOf, type HourBaseline } from './baseline.ts'
import { DAY_MS, HOUR_MS } from './collect.ts'
import type { HourRow } from './counter-rows.ts'
import { count, datasetFinding, type InsightFinding, pageLink, share, size } from './finding.ts'

/** A jump is at least this many times what is usual, and more than this many deviations above it. */
const FACTOR_MIN = 3
const DEVIATIONS_MIN = 6
/** A jump is usual when it happened on this number of other days at about this time. */
const SIMILAR_DAYS_MAX = 1
/** Smaller hours are never a jump. */
export const EVENTS_MIN = 1_000
export const ERRORS_MIN = 50
export const BYTES_MIN = 10 * 2 ** 20
/** The share of errors, and the bytes of an event, must have grown by this much. */
const SHARE_FACTOR_MIN = 2
const SURE_FACTOR = 5
const SURE_DAYS = 14

type Jump = { readonly value: number; readonly baseline: HourBaseline }

/** The jumps of a dataset in an hour. A jump of volume explains one of cost; a jump of errors is one of their share too. */
export function findJumps(logId: string, hours: readonly HourRow[], hourMs: number): readonly InsightFinding[] {
  const now = hours.find(({ hour_ms }) => hour_ms === hourMs)
  if (!now) return []
  const volume = jumpOf(hours, hourMs, 'events', EVENTS_MIN)
  const errors = jumpOf(hours, hourMs, 'errors', ERRORS_MIN)
  const bytes = volume ? undefined : jumpOf(hours, hourMs, 'bytes', BYTES_MIN)
  const earlier = hours.filter(({ hour_ms }) => hour_ms < hourMs - DAY_MS)
  const usualShare = ratio(sum(earlier, 'errors'), sum(earlier, 'counted'))
  const usualSize = ratio(sum(earlier, 'bytes'), sum(earlier, 'events'))
  const compare = (q: string | undefined) =>
    pageLink('explore', { d: [logId], q, f: hourMs, t: hourMs + HOUR_MS, tab: 'changes', base: 'day' })
  const found: InsightFinding[] = []
  if (volume) {
    const evidence = `${count(volume.value)} events arrived within an hour, ${usually(volume, count)}.`
    const action = { label: 'See what changed', link: compare(undefined) }
    found.push(datasetFinding(logId, { name: 'volume_jumped', sinceMs: hourMs, evidence, confidence: confidenceOf(volume), action }))
  }
  if (errors && ratio(now.errors, now.counted) >= SHARE_FACTOR_MIN * usualShare) {
    const shares = `They are ${share(ratio(now.errors, now.counted))} of all events, usually ${share(usualShare)}.`
    const evidence = `${count(errors.value)} errors within an hour, ${usually(errors, count)}. ${shares}`
    const action = { label: 'See what the errors have in common', link: compare(ERRORS) }
    found.push(datasetFinding(logId, { name: 'errors_jumped', sinceMs: hourMs, evidence, confidence: confidenceOf(errors), action }))
  }
  if (bytes && ratio(now.bytes, now.events) >= SHARE_FACTOR_MIN * usualSize) {
    const sizes = `An event has ${size(ratio(now.bytes, now.events))} on average, usually ${size(usualSize)}.`
    const evidence = `${size(bytes.value)} arrived within an hour, ${usually(bytes, size)}. ${sizes}`
    const action = { label: 'See what changed', link: compare(undefined) }
    found.push(datasetFinding(logId, { name: 'cost_jumped', sinceMs: hourMs, evidence, confidence: confidenceOf(bytes), action }))
  }
  return found
}

/** The filter for what the counts call errors. */
const ERRORS = '@status IN (error, fatal)'

type Measure = 'events' | 'errors' | 'bytes'

function jumpOf(hours: readonly HourRow[], hourMs: number, measure: Measure, least: number): Jump | undefined {
  const values = new Map(hours.map((row) => [row.hour_ms, row[measure]]))
  const value = values.get(hourMs) ?? 0
  if (value < least) return undefined
  const baseline = baselineOf(values, hourMs)
  if (!baseline || baseline.similarDays > SIMILAR_DAYS_MAX) return undefined
  const { expected, spread } = baseline
  return value >= FACTOR_MIN * expected && value > expected + DEVIATIONS_MIN * spread ? { value, baseline } : undefined
}

const usually = ({ baseline }: Jump, text: (value: number) => string): string =>
  `usually ${text(baseline.expected)} at this time (the last ${baseline.days} days)`

const confidenceOf = ({ value, baseline }: Jump): InsightFinding['confidence'] =>
  value >= SURE_FACTOR * baseline.expected && baseline.days >= SURE_DAYS ? 'high' : 'medium'

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)
const sum = (hours: readonly HourRow[], name: 'errors' | 'counted' | 'bytes' | 'events'): number =>
  hours.reduce((all, row) => all + row[name], 0)
