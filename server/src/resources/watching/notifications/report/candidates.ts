import type { FoundEvent } from '../../../../reading/question.ts'
import { shareSurprise } from './surprise.ts'

const KEYS_MAX = 8
const VALUE_CHARS_MAX = 256
/** COVER_MIN of the events of either sample must have a key. */
const COVER_MIN = 0.05
/** DISTINCT_MAX: a key with more values than that for each event tells events apart and explains nothing. */
const DISTINCT_MAX = 1 / 3
const FEW_VALUES = 10

type Seen = Pick<FoundEvent, 'leaves'>

/** candidateKeys are the keys of two samples whose values are worth counting in all events, the most promising first. */
export function candidateKeys(now: readonly Seen[], before: readonly Seen[]): string[] {
  const names = new Set([...now, ...before].flatMap(({ leaves }) => [...leaves.keys()]))
  const judged = [...names].map((key) => ({ key, promise: promiseOf(key, now, before) })).filter(({ promise }) => promise !== undefined)
  judged.sort((one, other) => (other.promise ?? 0) - (one.promise ?? 0) || (one.key < other.key ? -1 : 1))
  return judged.slice(0, KEYS_MAX).map(({ key }) => key)
}

/** promiseOf is the greatest surprise that a value of the key makes among the samples; undefined for a key of no use. */
function promiseOf(key: string, now: readonly Seen[], before: readonly Seen[]): number | undefined {
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

function valuesOf(key: string, events: readonly Seen[]): Map<string, number> {
  const values = new Map<string, number>()
  for (const { leaves } of events) {
    const value = leaves.get(key)
    if (value !== undefined) values.set(value, (values.get(value) ?? 0) + 1)
  }
  return values
}

const sum = (values: ReadonlyMap<string, number>): number => [...values.values()].reduce((total, count) => total + count, 0)
