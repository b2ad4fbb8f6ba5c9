import type { Field } from '../../../parts/fields.ts'

/** A Tally is how many of some events have each value of a key; isCut says that there are more values than were counted. */
export type ValueCounts = { counts: ReadonlyMap<string, number>; total: number; isTruncated: boolean }

/** A Finding is one value whose share in a stretch differs from its share in the rest. */
export type ValueDifference = { name: string; value: string; here: number; hereShare: number; rest: number; restShare: number }

/** LEAST is the difference of shares below which two stretches are called alike. */
const SHARE_DIFFERENCE_MIN = 0.01
/** ABSENT is what the service calls the events without the key. */
const ABSENT = 'null'

/** findingsOf holds the values of one key in a stretch against those in the rest of the whole; a value that was not counted on both sides says nothing. */
export function differencesOf(name: string, here: ValueCounts, whole: ValueCounts): ValueDifference[] {
  const restTotal = whole.total - here.total
  if (here.total <= 0 || restTotal <= 0) return []
  const values = new Set([...here.counts.keys(), ...whole.counts.keys()])
  return [...values].flatMap((value) => {
    const [inside, all] = [here.counts.get(value), whole.counts.get(value)]
    const isUnknown = (inside === undefined && here.isTruncated) || all === undefined
    if (isUnknown || value === ABSENT) return []
    const rest = Math.max(0, all - (inside ?? 0))
    const difference = { name, value, here: inside ?? 0, hereShare: (inside ?? 0) / here.total, rest, restShare: rest / restTotal }
    return Math.abs(difference.hereShare - difference.restShare) < SHARE_DIFFERENCE_MIN ? [] : [difference]
  })
}

/** byDifference puts first what differs most. */
export const byDifference = (differences: readonly ValueDifference[]): ValueDifference[] =>
  differences.toSorted((one, other) => Math.abs(other.hereShare - other.restShare) - Math.abs(one.hereShare - one.restShare))

/** COVERED_LEAST of the events with a key must have one of its frequent values, or the key tells events apart and not kinds of events. */
const COVERED_SHARE_MIN = 0.3

/** keysToCompare are the keys that can tell stretches apart, the most promising first: few values, in many events. */
export function fieldsToCompare(fields: readonly Field[], isOneDataset: boolean): string[] {
  const ranked = fields.map(({ name, count, values }) => {
    const covered = count === 0 ? 0 : values.reduce((sum, one) => sum + one.count, 0) / count
    return { name, covered, rank: count * covered * (values.length > 1 ? 1 : 0.1) }
  })
  const promising = ranked.filter(({ covered }) => covered >= COVERED_SHARE_MIN).sort((one, other) => other.rank - one.rank)
  return ['@status', ...(isOneDataset ? [] : ['@dataset']), ...promising.map(({ name }) => name)]
}
