import { type ComparedKey, NO_NUMBER, type RangeTotals, type RangeValue } from '../../../reading/reading.ts'
import { isOutcome, isServiceLike, type SampleEvent } from './candidates.ts'
import { type ChangeScore, SIGNIFICANCE_MIN, scoreOf, significanceOf } from './score.ts'

export type NameKind = 'VALUE' | 'PRESENT' | 'MISSING' | 'AT_LEAST' | 'BELOW' | 'PATTERN'
/** Some of the events: those with a value of a key, with the key, without it, with a number from or below a limit, or of a pattern. */
export type EventSet = { readonly key: string; readonly value: string | null; readonly kind: NameKind }
/** A change, with all names of its events. */
export type FoundChange = RangeTotals & {
  readonly change: ChangeScore['change']
  readonly score: number
  readonly significance: number
  readonly names: readonly EventSet[]
}

/** Everything that was counted. */
export type CountedRanges = {
  readonly totals: RangeTotals
  /** The lengths of both ranges. */
  readonly lengths: { readonly nowMs: number; readonly beforeMs: number }
  readonly keys: readonly ComparedKey[]
  readonly values: ReadonlyMap<string, readonly RangeValue[]>
  readonly patterns: readonly (RangeTotals & { readonly id: string })[]
}

/** How many changes of one key, and how many patterns, are found; more of them say the same. */
const PER_KEY_MAX = 5
const PATTERNS_MAX = 10
/** A decrease is the reverse of an increase of the same key that makes up this share of it. */
const REVERSE_SHARE = 0.5

type CountedSet = RangeTotals & { readonly set: EventSet }
type ScoredSet = CountedSet & ChangeScore & { readonly significance: number }

/** Finds the significant changes among everything that was counted, the highest score first. */
export function findChanges(counted: CountedRanges, sample: readonly SampleEvent[]): readonly FoundChange[] {
  const byKey = setsByKey(counted)
  const comparisons = byKey.reduce((sum, { sets }) => sum + sets.length, 0)
  const found = byKey.flatMap(({ key, edges, sets }) => {
    const scored = sets.flatMap((one) => scoredSet(one, counted, comparisons)).sort(byScore)
    if (edges) return scored.filter(isIncrease).slice(0, 1)
    const own = scored.filter(
      (one) => !isReversed(one, scored, counted) && !isOtherwiseAbsent(one, counted, comparisons) && !isOfSameKey(one, scored, counted),
    )
    return own.slice(0, key === '@pattern' ? PATTERNS_MAX : PER_KEY_MAX)
  })
  return merged(found.sort(byScore), sample)
}

/** The surprise of a value in a part of the events from which its key is worth counting in all. Chance alone makes it in one of 20 values. */
const PROMISING_SURPRISE = 6

/** The keys with changes in a part of the events, the most promising first, up to a limit. */
export function promisingKeys(counted: Omit<CountedRanges, 'patterns'>, keysMax: number): readonly ComparedKey[] {
  const { totals, lengths } = counted
  const scores = new Map<string, number>()
  for (const { key, sets } of setsByKey({ ...counted, patterns: [] })) {
    const found = sets.map(({ now, before }) => scoreOf({ now, before, nowOf: totals.now, beforeOf: totals.before, ...lengths }))
    const promising = found.filter((one) => one !== undefined && one.surprise >= PROMISING_SURPRISE)
    if (promising.length > 0) scores.set(key, Math.max(...promising.map((one) => one?.score ?? 0)))
  }
  const scoreOfKey = ({ key }: ComparedKey) => scores.get(key) ?? 0
  return counted.keys
    .filter((key) => scoreOfKey(key) > 0)
    .sort((one, other) => scoreOfKey(other) - scoreOfKey(one))
    .slice(0, keysMax)
}

type SetsOfKey = { readonly key: string; readonly edges: ComparedKey['edges']; readonly sets: readonly CountedSet[] }

function setsByKey({ keys, values, patterns, totals }: CountedRanges): readonly SetsOfKey[] {
  const ofKeys = keys.map(({ key, edges }): SetsOfKey => {
    const counts = values.get(key) ?? []
    return {
      key,
      edges,
      sets: edges
        ? numberSets(key, counts)
        : [...presentSet(key, counts, totals), ...counts.map((one) => ({ ...one, set: valueSet(key, one.value) }))],
    }
  })
  const ofPatterns = patterns.map(
    ({ id, now, before }): CountedSet => ({ now, before, set: { key: '@pattern', value: id, kind: 'PATTERN' } }),
  )
  // A set with every event tells nothing, and is not compared.
  return [...ofKeys, { key: '@pattern', edges: undefined, sets: ofPatterns }].map(({ sets, ...rest }) => ({
    ...rest,
    sets: sets.filter(({ now, before }) => now < totals.now || before < totals.before),
  }))
}

const valueSet = (key: string, value: string | null): EventSet => ({ key, value, kind: value === null ? 'MISSING' : 'VALUE' })

/** The events that have the key, if some have not. */
function presentSet(key: string, counts: readonly RangeValue[], totals: RangeTotals): readonly CountedSet[] {
  const absent = counts.find(({ value }) => value === null)
  return absent ? [{ now: totals.now - absent.now, before: totals.before - absent.before, set: { key, value: null, kind: 'PRESENT' } }] : []
}

/** The events with a number from each edge, and those below it. */
function numberSets(key: string, counts: readonly RangeValue[]): readonly CountedSet[] {
  const numbers = counts
    .filter(({ value }) => value !== null && value !== NO_NUMBER)
    .map(({ value, now, before }) => ({ edge: Number(value), now, before }))
    .sort((one, other) => one.edge - other.edge)
  const sets: CountedSet[] = []
  const all = numbers.reduce((sum, one) => ({ now: sum.now + one.now, before: sum.before + one.before }), { now: 0, before: 0 })
  let below = { now: 0, before: 0 }
  for (const { edge, now, before } of numbers) {
    if (below.now + below.before > 0) {
      sets.push({ ...below, set: { key, value: String(edge), kind: 'BELOW' } })
      sets.push({ now: all.now - below.now, before: all.before - below.before, set: { key, value: String(edge), kind: 'AT_LEAST' } })
    }
    below = { now: below.now + now, before: below.before + before }
  }
  return sets
}

function scoredSet(one: CountedSet, { totals, lengths }: CountedRanges, comparisons: number): readonly ScoredSet[] {
  const scored = scoreOf({ now: one.now, before: one.before, nowOf: totals.now, beforeOf: totals.before, ...lengths })
  if (!scored) return []
  const significance = significanceOf(scored.surprise, comparisons)
  return significance < SIGNIFICANCE_MIN ? [] : [{ ...one, ...scored, significance }]
}

export const isIncrease = ({ change }: Pick<ChangeScore, 'change'>): boolean => change === 'NEW' || change === 'INCREASED'

const byScore = (one: ScoredSet, other: ScoredSet): number =>
  other.score - one.score || compareNames(one.set, other.set) || ((one.set.value ?? '') < (other.set.value ?? '') ? -1 : 1)

const rateChange = ({ now, before }: RangeTotals, { lengths: { nowMs, beforeMs } }: CountedRanges): number =>
  now / Math.max(1, nowMs) - before / Math.max(1, beforeMs)

/** Whether events only have another value of the key now, which is a change itself. */
function isReversed(one: ScoredSet, scored: readonly ScoredSet[], counted: CountedRanges): boolean {
  if (one.change !== 'DECREASED') return false
  const loss = -rateChange(one, counted)
  return scored.some((other) => isIncrease(other) && rateChange(other, counted) >= REVERSE_SHARE * loss)
}

/** Whether events without the key are only more because events of another kind are, which never had it. */
function isOtherwiseAbsent({ set, now, before, change }: ScoredSet, counted: CountedRanges, comparisons: number): boolean {
  if (set.kind !== 'MISSING' || !isIncrease({ change })) return false
  const present = { now: counted.totals.now - now, before: counted.totals.before - before }
  return rateChange(present, counted) >= 0 || lossSignificance(present, counted, comparisons) < SIGNIFICANCE_MIN
}

/** The share of the change of a key that one value makes up. */
const VALUE_SHARE = 0.8

/**
 * Whether another change of the same key says the same: a value that changed only as the whole key did, or a key that changed only because
 * one of its values did.
 */
function isOfSameKey(one: ScoredSet, scored: readonly ScoredSet[], counted: CountedRanges): boolean {
  if (one.set.kind === 'PRESENT') {
    return scored.some((other) => other.set.kind === 'VALUE' && rateChange(other, counted) / rateChange(one, counted) >= VALUE_SHARE)
  }
  const present = scored.find(({ set }) => set.kind === 'PRESENT')
  if (one.set.kind !== 'VALUE' || !present || isOfSameKey(present, scored, counted)) return false
  return scoreOf({ now: one.now, before: one.before, nowOf: present.now, beforeOf: present.before, ...counted.lengths }) === undefined
}

/** The significance of a lower rate, however small the difference is. */
function lossSignificance({ now, before }: RangeTotals, { lengths: { nowMs, beforeMs } }: CountedRanges, comparisons: number): number {
  const all = (now + before) / (Math.max(1, nowMs) + Math.max(1, beforeMs))
  const term = (count: number, ms: number) => (count === 0 ? 0 : count * Math.log(count / (all * Math.max(1, ms))))
  return significanceOf(2 * (term(now, nowMs) + term(before, beforeMs)), comparisons)
}

/** The relative difference up to which counts may be those of the same events. */
const NEAR = 0.02
/** How many sampled events tell whether two sets are the same. */
const SAMPLED_MIN = 5
const OVERLAP_MIN = 0.9

/** Merges changes of the same events, in the order of their scores. */
function merged(found: readonly ScoredSet[], sample: readonly SampleEvent[]): readonly FoundChange[] {
  const groups: ScoredSet[][] = []
  for (const one of found) {
    const group = groups.find(([first]) => first && isSameSet(first, one, sample))
    if (group) group.push(one)
    else groups.push([one])
  }
  return groups.flatMap((group) => {
    const [first] = group
    if (!first) return []
    const names = group.map(({ set }) => set).sort(compareNames)
    // The counts are those of the first name, which the filter selects.
    const { now, before } = group.find(({ set }) => set === names[0]) ?? first
    return [{ now, before, change: first.change, score: first.score, significance: first.significance, names }]
  })
}

function isSameSet(one: ScoredSet, other: ScoredSet, sample: readonly SampleEvent[]): boolean {
  if (one.set.key === other.set.key || one.change !== other.change) return false
  if (!isNear(one.now, other.now) || !isNear(one.before, other.before)) return false
  let [both, either] = [0, 0]
  for (const event of sample) {
    const [isIn, isInOther] = [contains(one.set, event), contains(other.set, event)]
    if (isIn && isInOther) both += 1
    if (isIn || isInOther) either += 1
  }
  if (either >= SAMPLED_MIN) return both / either >= OVERLAP_MIN
  return one.now === other.now && one.before === other.before
}

const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= NEAR * Math.max(one, other)

export function contains({ key, value, kind }: EventSet, { leaves }: SampleEvent): boolean {
  const text = leaves.get(key)
  if (kind === 'MISSING') return text === undefined
  if (kind === 'PRESENT') return text !== undefined
  if (text === undefined) return false
  if (kind === 'AT_LEAST') return Number(text) >= Number(value)
  return kind === 'BELOW' ? Number(text) < Number(value) : text === value
}

/**
 * The order of names for the same events: values that may be a cause, service-like keys first, then values that say how something ended, missing
 * values, numbers, patterns, keys with any value; short keys before long ones.
 */
export function compareNames(one: EventSet, other: EventSet): number {
  const rank = ({ key, kind }: EventSet) => (kind === 'VALUE' ? valueRank(key) : KIND_RANKS[kind])
  const difference = rank(one) - rank(other) || one.key.length - other.key.length
  return difference || (one.key < other.key ? -1 : one.key > other.key ? 1 : 0)
}

const valueRank = (key: string): number => {
  if (isOutcome(key)) return key.startsWith('@') ? 3 : 2
  return isServiceLike(key) && !key.startsWith('@') ? 0 : 1
}

const KIND_RANKS: Readonly<Record<Exclude<NameKind, 'VALUE'>, number>> = { MISSING: 4, AT_LEAST: 5, BELOW: 5, PATTERN: 6, PRESENT: 7 }
