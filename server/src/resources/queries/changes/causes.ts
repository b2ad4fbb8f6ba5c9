import type { Overlap } from '../../../reading/reading.ts'
import { isOutcome, type SampleEvent } from './candidates.ts'
import { compareNames, contains, type EventSet, type FoundChange, isIncrease } from './findings.ts'
import { SIGNIFICANCE_MIN, shareSurpriseOf, significanceOf } from './score.ts'

/** Values that nearly all events of a finding have together, and few others. Counts are exact. */
export type SharedValues = {
  /** The rarest among the other events first. */
  readonly sets: readonly EventSet[]
  /** How many events of the finding have all of them. */
  readonly count: number
  /** The share of the other events of the range that have all of them. */
  readonly othersShare: number
}
export type ExplainedChange = FoundChange & { readonly shared: SharedValues | undefined }
/** Findings that have the same cause or largely the same events, causes before their effects, and the values that all of them share. */
export type FindingGroup = { readonly findings: readonly ExplainedChange[]; readonly shared: readonly EventSet[] }

/** How many findings are compared with each other, and how many findings and other values together. */
export const EXPLAINED_MAX = 12
const SETS_MAX = 31
const CANDIDATES_PER_FINDING = 4
/** The share of the events of a finding that have to have a value. */
const COVERED_MIN = 0.9
/** The share in a sample, which may differ. */
const SAMPLED_MIN = 0.8
/** The others may have the value this often, compared with the events of the finding. */
const OTHERS_MAX = 2 / 3
const SHARED_MAX = 3
/** The number of other events with the key of a finding that show whether a value only goes with the key. */
const WITH_KEY_MIN = 5
/** A group with a cause stands before one without, unless its score is this many times smaller. */
const CAUSE_WEIGHT = 10

/** Whether a set can be the cause of another one. */
const isCause = ({ key, kind }: EventSet): boolean => kind === 'VALUE' && !isOutcome(key)

/** The set that names a finding. */
export const firstName = ({ names: [name] }: FoundChange): EventSet => name ?? { key: '', value: null, kind: 'PRESENT' }

/** The events of a finding and others of the same range, from samples. */
export type SampledFinding = { readonly change: FoundChange; readonly own: readonly SampleEvent[]; readonly others: readonly SampleEvent[] }

/** Chooses values that the events of findings may share, to be counted: those of each finding that tell its sampled events from others best. */
export function causeCandidates(sampled: readonly SampledFinding[], isSuited: (key: string) => boolean, max: number): readonly EventSet[] {
  const known = new Set(sampled.flatMap(({ change }) => change.names.map(nameOf)))
  const ranked = sampled.map((one) => candidatesOf(one, isSuited).filter((set) => !known.has(nameOf(set))))
  const byRank = Array.from({ length: CANDIDATES_PER_FINDING }, (_, at) => ranked.flatMap((own) => own[at] ?? [])).flat()
  return [...new Map(byRank.map((set) => [nameOf(set), set])).values()].slice(0, max)
}

/** The keys of findings, whose presence is counted: what always goes with a key is no cause of its values. */
export const presenceOf = (found: readonly FoundChange[]): readonly EventSet[] =>
  [...new Set(found.map(firstName).flatMap((set) => (hasKey(set) ? [set.key] : [])))].map((key) => ({ key, value: null, kind: 'PRESENT' }))

const hasKey = (set: EventSet): boolean => !set.key.startsWith('@') && !isCause(set) && KINDS_WITH_KEY.has(set.kind)
const KINDS_WITH_KEY: ReadonlySet<string> = new Set(['VALUE', 'AT_LEAST', 'BELOW'])

/** How many candidates can be counted with a number of findings. */
export const candidatesMax = (found: readonly FoundChange[]): number => SETS_MAX - found.length - presenceOf(found).length

/** The sets that have to be counted together. */
export const countedSets = (found: readonly FoundChange[], candidates: readonly EventSet[]): readonly EventSet[] => [
  ...found.map(firstName),
  ...candidates,
  ...presenceOf(found),
]

const nameOf = ({ key, value, kind }: EventSet): string => JSON.stringify([kind, key, value])

function candidatesOf({ change, own, others }: SampledFinding, isSuited: (key: string) => boolean): EventSet[] {
  // What a value always comes with, such as the region of a host, is no cause of it.
  if (isCause(firstName(change)) || own.length === 0) return []
  const counts = new Map<string, { set: EventSet; count: number }>()
  for (const { leaves } of own) {
    for (const [key, value] of leaves) {
      const set: EventSet = { key, value, kind: 'VALUE' }
      if (!isCause(set) || !isSuited(key)) continue
      const known = counts.get(nameOf(set))
      counts.set(nameOf(set), { set, count: (known?.count ?? 0) + 1 })
    }
  }
  return [...counts.values()]
    .filter(({ count }) => count >= SAMPLED_MIN * own.length)
    .map(({ set }) => ({ set, othersShare: others.filter((event) => contains(set, event)).length / Math.max(1, others.length) }))
    .filter(({ othersShare }) => othersShare < SAMPLED_MIN)
    .sort((one, other) => one.othersShare - other.othersShare || compareNames(one.set, other.set))
    .slice(0, CANDIDATES_PER_FINDING)
    .map(({ set }) => set)
}

/** Counts of events by the sets that they are in, which are those of `countedSets`. */
export type CountedOverlaps = {
  readonly overlaps: readonly Overlap[]
  readonly candidates: readonly EventSet[]
  readonly comparisons: number
}

/** Groups findings by the events that they share. The group with the highest score comes first. */
export function groupFindings(found: readonly FoundChange[], counted: CountedOverlaps): readonly FindingGroup[] {
  const sets = [...found.map(firstName), ...counted.candidates]
  const all = countedSets(found, counted.candidates)
  const keyOf = (set: EventSet): number | undefined =>
    hasKey(set) ? all.findLastIndex(({ key, kind }) => kind === 'PRESENT' && key === set.key) : undefined
  const explained = found.map((change, own): Explained => {
    const isPossible = (bit: number): boolean => {
      const [set, other] = [sets[bit], found[bit]]
      if (set === undefined || bit === own || !isCause(set)) return false
      return other === undefined ? !isCause(firstName(change)) : isIncrease(other) === isIncrease(change)
    }
    const bits = sets.map((_, bit) => bit).filter(isPossible)
    const place = { own, withKey: keyOf(firstName(change)), isNow: isIncrease(change) }
    return { ...change, place, shared: sharedBy(place, bits, sets, counted) }
  })
  const groups: Explained[][] = []
  for (const one of explained) {
    const group = groups.find((members) => members.some((other) => isOfOneGroup(one, other, counted)))
    if (group) group.push(one)
    else groups.push([one])
  }
  return groups
    .map((members) => ({
      findings: [...members].sort(causesFirst).map(({ place: _, ...rest }) => rest),
      shared: sharedByAll(members),
    }))
    .sort((one, other) => weightOf(other) - weightOf(one))
}

const weightOf = ({ findings, shared }: FindingGroup): number =>
  Math.max(...findings.map(({ score }) => score)) *
  (shared.length > 0 || findings.some((one) => isCause(firstName(one))) ? CAUSE_WEIGHT : 1)

function sharedByAll(members: readonly ExplainedChange[]): readonly EventSet[] {
  const sets = members.find(({ shared }) => shared)?.shared?.sets ?? []
  const named = members.map((one) => new Set([...(one.shared?.sets ?? []), firstName(one)].map(nameOf)))
  return sets.filter((set) => named.every((names) => names.has(nameOf(set))))
}

/** The bit of a finding, that of its key, and in which range it is. */
type ExplainedSet = { readonly own: number; readonly withKey: number | undefined; readonly isNow: boolean }
type Explained = ExplainedChange & { readonly place: ExplainedSet }

/** Finds the values that explain a finding: the rarest among other events, then those that narrow it further. */
function sharedBy(
  place: ExplainedSet,
  bits: readonly number[],
  sets: readonly EventSet[],
  counted: CountedOverlaps,
): SharedValues | undefined {
  const setOf = (bit: number): EventSet => sets[bit] ?? { key: '', value: null, kind: 'PRESENT' }
  const all = tallyOf(place, counted)
  const chosen: number[] = []
  for (let tally = all; chosen.length < SHARED_MAX; tally = tallyOf(place, counted, chosen)) {
    const telling = bits.filter(
      (bit) => !chosen.includes(bit) && tally.own.with(bit) >= COVERED_MIN * all.own.all && isTelling(tally, bit, counted.comparisons),
    )
    const [best] = telling.sort(
      (one, other) => tally.others.with(one) - tally.others.with(other) || compareNames(setOf(one), setOf(other)) || one - other,
    )
    if (best === undefined) break
    chosen.push(best)
  }
  const both = tallyOf(place, counted, chosen)
  if (chosen.length === 0) return undefined
  return { sets: chosen.map(setOf), count: both.own.all, othersShare: both.others.all / all.others.all }
}

/** The events of a finding and the others of its range, and how many of them are in each other set. */
type Side = { readonly all: number; with(bit: number): number }
type Tally = { readonly own: Side; readonly others: Side; readonly othersWithKey: Side }

/** Counts the events that are in all of some sets. */
function tallyOf({ own, withKey, isNow }: ExplainedSet, { overlaps }: CountedOverlaps, within: readonly number[] = []): Tally {
  const [inside, outside, outsideWithKey] = [0, 1, 2].map(() => new Float64Array(SETS_MAX + 1)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  const add = (counts: Float64Array, bits: number, count: number) => {
    counts[SETS_MAX] = (counts[SETS_MAX] ?? 0) + count
    for (let bit = 0; bit < SETS_MAX; bit += 1) if (has(bits, bit)) counts[bit] = (counts[bit] ?? 0) + count
  }
  for (const { bits, now, before } of overlaps) {
    if (!within.every((bit) => has(bits, bit))) continue
    const count = isNow ? now : before
    add(has(bits, own) ? inside : outside, bits, count)
    if (withKey !== undefined && !has(bits, own) && has(bits, withKey)) add(outsideWithKey, bits, count)
  }
  const sideOf = (counts: Float64Array): Side => ({ all: counts[SETS_MAX] ?? 0, with: (bit) => counts[bit] ?? 0 })
  return { own: sideOf(inside), others: sideOf(outside), othersWithKey: sideOf(outsideWithKey) }
}

const has = (bits: number, bit: number): boolean => ((bits >>> bit) & 1) === 1

/** Whether nearly all events of a finding are in a set, and few others, and not by chance. */
function isTelling({ own, others, othersWithKey }: Tally, bit: number, comparisons: number): boolean {
  if (own.all === 0 || others.all === 0 || own.with(bit) < COVERED_MIN * own.all) return false
  const isFrequent = (side: Side) => side.with(bit) / side.all > (OTHERS_MAX * own.with(bit)) / own.all
  if (isFrequent(others) || (othersWithKey.all >= WITH_KEY_MIN && isFrequent(othersWithKey))) return false
  const surprise = shareSurpriseOf({ count: own.with(bit), of: own.all }, { count: others.with(bit), of: others.all })
  return significanceOf(surprise, comparisons) >= SIGNIFICANCE_MIN
}

/** Whether one finding is the cause of the other, both have the same cause, or nothing explains them and nearly all events of one are those of the other. */
function isOfOneGroup(one: Explained, other: Explained, counted: CountedOverlaps): boolean {
  if (isIncrease(one) !== isIncrease(other)) return false
  const [cause, othersCause] = [one, other].map(({ shared }) => shared?.sets[0] && nameOf(shared.sets[0]))
  const [name, othersName] = [nameOf(firstName(one)), nameOf(firstName(other))]
  if (cause || othersCause) return cause === othersName || othersCause === name || cause === othersCause
  if (isCause(firstName(one)) && isCause(firstName(other))) return false
  const isPart = (part: Explained, of: Explained) => isTelling(tallyOf(part.place, counted), of.place.own, counted.comparisons)
  return isPart(one, other) || isPart(other, one)
}

const causesFirst = (one: ExplainedChange, other: ExplainedChange): number =>
  Number(isCause(firstName(other))) - Number(isCause(firstName(one))) || other.score - one.score
