import type { Field } from '../../../parts/fields.ts'
import { ABSENT } from '../groups/group-order.ts'

/** ValueCounts counts events by the value of a field; isTruncated means that some values were not counted. */
export type ValueCounts = { counts: ReadonlyMap<string, number>; total: number; isTruncated: boolean }

/** A ValueDifference is a value whose share in the selection differs from its share in the rest. */
export type ValueDifference = { name: string; value: string; here: number; hereShare: number; rest: number; restShare: number }

/** SHARE_DIFFERENCE_MIN is the smallest difference of shares that is reported. */
const SHARE_DIFFERENCE_MIN = 0.01

/** differencesOf compares the values of one field in the selection with the rest. Values that were not counted on both sides are skipped. */
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

/** byDifference sorts the largest difference first. */
export const byDifference = (differences: readonly ValueDifference[]): ValueDifference[] =>
  differences.toSorted((one, other) => Math.abs(other.hereShare - other.restShare) - Math.abs(one.hereShare - one.restShare))

/** COVERED_SHARE_MIN of the events with a field must have one of its frequent values. Fields below it, such as ids, identify single events. */
const COVERED_SHARE_MIN = 0.3

/** fieldsToCompare are the fields worth comparing, best first: those with few values in many events. */
export function fieldsToCompare(fields: readonly Field[], isOneDataset: boolean): string[] {
  const ranked = fields.map(({ name, count, values }) => {
    const covered = count === 0 ? 0 : values.reduce((sum, one) => sum + one.count, 0) / count
    return { name, covered, rank: count * covered * (values.length > 1 ? 1 : 0.1) }
  })
  const promising = ranked.filter(({ covered }) => covered >= COVERED_SHARE_MIN).sort((one, other) => other.rank - one.rank)
  return ['@status', ...(isOneDataset ? [] : ['@dataset']), ...promising.map(({ name }) => name)]
}
