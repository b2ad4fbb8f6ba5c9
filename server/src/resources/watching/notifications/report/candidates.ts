import type { FoundEvent } from '../../../../reading/query.ts'
import { shareSurprise } from './surprise.ts'

const KEYS_MAX = 8
const VALUE_CHARS_MAX = 256
/** The minimum share of events of either sample that have the key. */
const COVER_MIN = 0.05
/** A key with more distinct values per event than this identifies events and explains nothing. */
const DISTINCT_MAX = 1 / 3
const FEW_VALUES = 10

type SampleEvent = Pick<FoundEvent, 'leaves'>

/** The keys of two samples whose values are worth counting in all events, the most promising first. */
export function candidateKeys(now: readonly SampleEvent[], before: readonly SampleEvent[]): string[] {
  const names = new Set([...now, ...before].flatMap(({ leaves }) => [...leaves.keys()]))
  const compared = [...names].map((key) => ({ key, score: scoreOf(key, now, before) })).filter(({ score }) => score !== undefined)
  compared.sort((one, other) => (other.score ?? 0) - (one.score ?? 0) || (one.key < other.key ? -1 : 1))
  return compared.slice(0, KEYS_MAX).map(({ key }) => key)
}

/** The greatest surprise of a value of the key in the samples; undefined for an unsuitable key. */
function scoreOf(key: string, now: readonly SampleEvent[], before: readonly SampleEvent[]): number | undefined {
  const [values, earlier] = [valuesOf(key, now), valuesOf(key, before)]
  const cover = Math.max(sum(values) / (now.length || 1), sum(earlier) / (before.length || 1))
  const distinct = new Set([...values.keys(), ...earlier.keys()])
  if (cover < COVER_MIN || distinct.size > Math.max(FEW_VALUES, (now.length + before.length) * DISTINCT_MAX)) return undefined
  if ([...distinct].some((value) => value.length > VALUE_CHARS_MAX)) return undefined
  const surprises = [...distinct].map((value) =>
    shareSurprise({ now: values.get(value) ?? 0, nowOf: now.length, before: earlier.get(value) ?? 0, beforeOf: before.length }),
  )
  return Math.max(...surprises)
}

function valuesOf(key: string, events: readonly SampleEvent[]): Map<string, number> {
  const values = new Map<string, number>()
  for (const { leaves } of events) {
    const value = leaves.get(key)
    if (value !== undefined) values.set(value, (values.get(value) ?? 0) + 1)
  }
  return values
}

const sum = (values: ReadonlyMap<string, number>): number => [...values.values()].reduce((total, count) => total + count, 0)
