import { classOf, expectsName, takesName, type WordClass } from './family-words.ts'
import { MASK } from './pattern.ts'

/** Something that families are made of: a pattern, or a family that exists already. Both are lists of words with masks. */
export type FamilyMember = { readonly id: string; readonly words: readonly string[]; readonly isFamily: boolean }

/** What belongs together: the words with a mask wherever members differ. */
export type FamilyGroup = { readonly words: readonly string[]; readonly members: readonly FamilyMember[] }

/**
 * How much one distinct word at a position says that the position is variable; 1 suffices. The second number applies after a preposition, the
 * third where a name is expected.
 */
export type FamilyEvidence = Readonly<Record<WordClass | 'label', readonly [number, number, number]>>

export const evidence: FamilyEvidence = {
  value: [0.5, 0.5, 0.5],
  compound: [0.34, 0.5, 0.5],
  name: [0.34, 0.5, 0.5],
  coined: [0.15, 0.2, 0.34],
  prose: [0.05, 0.1, 0.25],
  upper: [0.05, 0.1, 0.25],
  outcome: [0.02, 0.04, 0.04],
  sign: [0, 0, 0],
  label: [0.2, 0.2, 0.25],
}

/** Groups members of one frame: those that differ only at positions with enough distinct values. */
export function groupMembers(members: readonly FamilyMember[], weights: FamilyEvidence = evidence): readonly FamilyGroup[] {
  const split = [...byText(members).values()].flatMap((same) => [groupOf(same)])
  const parted = tree(split, new Set(), weights)
  return absorbed(star(parted, weights), weights)
}

const JOIN = '\x01'

const byText = (members: readonly FamilyMember[]): Map<string, FamilyMember[]> =>
  Map.groupBy(members, ({ words }) => words.join(JOIN)) as Map<string, FamilyMember[]>

function groupOf(members: readonly FamilyMember[]): FamilyGroup {
  return { words: members[0]?.words ?? [], members }
}

function merged(groups: readonly FamilyGroup[]): FamilyGroup {
  const [first, ...others] = groups
  if (!first || others.length === 0) return first ?? { words: [], members: [] }
  const words = first.words.map((word, at) => (others.every((other) => other.words[at] === word) ? word : MASK))
  return { words, members: groups.flatMap(({ members }) => members) }
}

const isConstant = (word: string): boolean => {
  const found = classOf(word)
  return found === 'prose' || found === 'outcome' || found === 'upper' || found === 'sign' || found === 'coined'
}

/** Divides groups by the words that say what happened, the position first at which most groups have such a word; others stay together. */
function tree(groups: readonly FamilyGroup[], done: ReadonlySet<number>, weights: FamilyEvidence): readonly FamilyGroup[] {
  if (groups.length < 2) return groups
  const length = groups[0]?.words.length ?? 0
  let best = -1
  let bestScore = 0
  for (let at = 0; at < length; at += 1) {
    if (done.has(at)) continue
    const distinct = new Set<string>()
    let constant = 0
    for (const { words } of groups) {
      const word = words[at] ?? ''
      distinct.add(word)
      if (isConstant(word)) constant += 1
    }
    if (distinct.size < 2 || constant === 0) continue
    const score = constant / groups.length + 1 / (1 + distinct.size)
    if (score > bestScore) [best, bestScore] = [at, score]
  }
  if (best < 0) return accepted(groups, weights)
  const parts = Map.groupBy(groups, ({ words }) => (isConstant(words[best] ?? '') ? words[best] : undefined))
  const next = new Set([...done, best])
  return [...parts.values()].flatMap((part) => tree(part, next, weights))
}

/** Merges groups when every position at which they differ has enough evidence; divides them at the position with the least. */
function accepted(groups: readonly FamilyGroup[], weights: FamilyEvidence): readonly FamilyGroup[] {
  if (groups.length < 2) return groups
  const length = groups[0]?.words.length ?? 0
  let weakest = -1
  let least = 1
  for (let at = 0; at < length; at += 1) {
    const found = evidenceAt(groups, at, weights)
    if (found !== undefined && found < least) [weakest, least] = [at, found]
  }
  if (weakest < 0) {
    const whole = merged(groups)
    if (tells(whole.words)) return [whole]
    weakest = whole.words.findIndex((word, at) => word === MASK && groups.some(({ words }) => words[at] !== MASK))
  }
  return [...Map.groupBy(groups, ({ words }) => words[weakest]).values()].flatMap((part) => accepted(part, weights))
}

/** True when a message keeps at least one word. */
const tells = (words: readonly string[]): boolean => words.some((word) => word !== MASK && classOf(word) !== 'sign')

/** The evidence that a position is variable; undefined where all groups have one word. */
function evidenceAt(groups: readonly FamilyGroup[], at: number, weights: FamilyEvidence): number | undefined {
  const distinct = new Set(groups.map(({ words }) => words[at] ?? ''))
  if (distinct.size < 2) return undefined
  return weigh(distinct, groups[0]?.words ?? [], at, weights)
}

function weigh(distinct: ReadonlySet<string>, words: readonly string[], at: number, weights: FamilyEvidence): number {
  // A key stays, and so does the label at the start of a message.
  if (words[at + 1] === '=') return 0
  const isLabel = at < 2 && words[at + 1] === ':'
  if (!words.some((word, index) => index !== at && word !== MASK && classOf(word) !== 'sign')) return 0
  const place = placeOf(words, at)
  let sum = 0
  for (const word of distinct) sum += weights[classAt(word, at, isLabel)][isUnit(word, words[at - 1]) ? 2 : place]
  return sum
}

/** A code of three capitals after a number is its unit, as in 3 EUR. */
const isUnit = (word: string, before: string | undefined): boolean => before === MASK && /^[A-Z]{3}$/.test(word)

function classAt(word: string, at: number, isLabel: boolean): WordClass | 'label' {
  const found = classOf(word)
  if (found === 'value') return found
  return isLabel ? 'label' : at === 0 && found === 'coined' ? 'prose' : found
}

/** How much grammar expects a name at a position. */
const placeOf = (words: readonly string[], at: number): 0 | 1 | 2 =>
  words[at - 1]?.toLowerCase() === 'the' && takesName(words[at + 1] ?? '') ? 2 : expectsName(words[at - 1] ?? '')

const ROUNDS_MAX = 6

/** Merges groups that differ at one position, if it has enough evidence. */
function star(groups: readonly FamilyGroup[], weights: FamilyEvidence): readonly FamilyGroup[] {
  let current = groups
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const next = starRound(current, weights)
    if (next.length === current.length) return next
    current = next
  }
  return current
}

function starRound(groups: readonly FamilyGroup[], weights: FamilyEvidence): readonly FamilyGroup[] {
  const byKey = new Map<string, { at: number; groups: FamilyGroup[] }>()
  for (const group of groups) {
    for (const [at, word] of group.words.entries()) {
      if (classOf(word) === 'sign') continue
      const key = `${at} ${group.words.toSpliced(at, 1).join(JOIN)}`
      const known = byKey.get(key)
      if (known) known.groups.push(group)
      else byKey.set(key, { at, groups: [group] })
    }
  }
  const candidates = [...byKey.values()]
    .filter((one) => one.groups.length > 1)
    .map((one) => ({ ...one, found: evidenceAt(one.groups, one.at, weights) ?? 1 }))
    .filter(({ found }) => found >= 1)
    .sort((a, b) => b.found - a.found)
  const taken = new Set<FamilyGroup>()
  const made: FamilyGroup[] = []
  for (const { groups: some, at } of candidates) {
    const left = some.filter((group) => !taken.has(group))
    if (left.length < 2 || (evidenceAt(left, at, weights) ?? 1) < 1) continue
    for (const group of left) taken.add(group)
    made.push(merged(left))
  }
  return [...groups.filter((group) => !taken.has(group)), ...made]
}

const isWide = (members: readonly FamilyMember[]): boolean => members.length > 1 || members.some(({ isFamily }) => isFamily)

/** Adds groups to a family whose words they have wherever it is constant; a group goes to the family with the fewest masks. */
function absorbed(groups: readonly FamilyGroup[], weights: FamilyEvidence): readonly FamilyGroup[] {
  const wide = groups
    .filter(({ words, members }) => isWide(members) && words.includes(MASK))
    .sort((a, b) => masks(a.words) - masks(b.words))
  const joins = new Map<FamilyGroup, FamilyGroup[]>(wide.map((family) => [family, [family]]))
  const rest: FamilyGroup[] = []
  for (const group of groups) {
    const home = wide.find((family) => family !== group && joins.has(family) && covers(family, group.words, weights))
    const own = joins.get(group)
    if (!home) {
      if (!own) rest.push(group)
      continue
    }
    joins.delete(group)
    joins.get(home)?.push(...(own ?? [group]))
  }
  return [...rest, ...[...joins.values()].map(merged)]
}

const masks = (words: readonly string[]): number => words.filter((word) => word === MASK).length

function covers({ words: family, members }: FamilyGroup, words: readonly string[], weights: FamilyEvidence): boolean {
  for (const [at, word] of family.entries()) {
    const other = words[at] ?? ''
    if (word === other) continue
    if (word !== MASK || !fits(members, at, other, family, weights)) return false
  }
  return true
}

/** A word of what happened is not a value where members have no such words, unless grammar expects a name. */
function fits(members: readonly FamilyMember[], at: number, word: string, family: readonly string[], weights: FamilyEvidence): boolean {
  const found = classOf(word)
  if (found === 'sign') return false
  if (!isConstant(word)) return true
  if (members.some(({ isFamily }) => isFamily) || placeOf(family, at) > 0) return true
  return weigh(new Set(members.map(({ words }) => words[at] ?? '')), family, at, weights) >= PLENTY
}

/** The evidence that a position holds any word. */
const PLENTY = 1.3

/** True for words that a family has, or masks. */
export const isCovered = (family: readonly string[], words: readonly string[]): boolean =>
  family.length === words.length && family.every((word, at) => word === MASK || word === words[at])
