import { messageKeys, timeKeys } from '../../../lines/reference/event.ts'
import type { FoundEvent } from '../../../reading/query.ts'

const VALUES_MAX = 50
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** The maximum number of values of a key that is useful for grouping. */
const GROUP_VALUES_MAX = 30

/** Facts about a key from a sample of events. */
export type KeyFacts = {
  readonly key: string
  readonly isNumber: boolean
  /** The share of events that have the key, from 0 to 1. */
  readonly share: number
  readonly distinct: number
  /** The most frequent values; none if the key identifies events. */
  readonly values: readonly string[]
}

/** Describes the keys of events, the most frequent first. */
export function keyFacts(events: readonly FoundEvent[]): KeyFacts[] {
  const counted = new Map<string, Map<string, number>>()
  for (const { leaves } of events)
    for (const [key, value] of leaves) {
      if (messageKeys.includes(key) || timeKeys.includes(key)) continue
      const values = counted.get(key) ?? new Map<string, number>()
      counted.set(key, values.set(value, (values.get(value) ?? 0) + 1))
    }
  const facts = [...counted].map(([key, values]): KeyFacts => {
    const count = [...values.values()].reduce((sum, one) => sum + one, 0)
    const frequent = [...values].sort(([one, n], [other, m]) => m - n || (one < other ? -1 : 1)).map(([value]) => value)
    return {
      key,
      isNumber: frequent.every((value) => NUMBER.test(value)),
      share: count / events.length,
      distinct: values.size,
      values: values.size <= GROUP_VALUES_MAX ? frequent.filter((value) => value.length <= 100).slice(0, VALUES_MAX) : [],
    }
  })
  return facts.sort((one, other) => other.share - one.share || (one.key < other.key ? -1 : 1))
}

const MEASURED = /(duration|latency|elapsed|took|time|millis|seconds|[._-]ms$|^ms$|bytes|size|amount|price|total|score|lag)/i
const NAMES = /(id|uuid|key|hash|port|pid|version|code|status|line|year)$/i

/** Keys worth measuring, durations and sizes first. */
export const measurable = (keys: readonly KeyFacts[]): KeyFacts[] =>
  keys
    .filter(({ key, isNumber, distinct }) => isNumber && distinct > 2 && !NAMES.test(key))
    .sort((one, other) => Number(MEASURED.test(other.key)) - Number(MEASURED.test(one.key)) || other.share - one.share)

const STATUS = /(status|level|severity|result|outcome|state|type|code|method|service|region|env|host)/i

/** Keys with few values, the most distinctive first. */
export const groupable = (keys: readonly KeyFacts[]): KeyFacts[] =>
  keys
    .filter(({ distinct, values, share }) => distinct >= 2 && values.length >= 2 && share >= 0.2)
    .sort(
      (one, other) =>
        Number(STATUS.test(other.key)) - Number(STATUS.test(one.key)) || other.share - one.share || one.distinct - other.distinct,
    )
