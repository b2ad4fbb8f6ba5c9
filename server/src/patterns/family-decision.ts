import { type FamilyEvidence, type FamilyMember, groupMembers, isCovered } from './families.ts'
import { MASK } from './pattern.ts'
import { maskedHash } from './skeleton.ts'

/** A family of patterns. Its id never changes; its words gain masks when patterns that differ elsewhere join. */
export type Family = { readonly id: bigint; readonly words: readonly string[] }
/** A pattern without a family. */
export type SinglePattern = { readonly skeleton: bigint; readonly words: readonly string[] }

/** What was decided about the patterns of one frame. Patterns that are not named stay single. */
export type FamilyDecision = {
  /** New families, and existing ones whose words have changed. */
  readonly families: readonly Family[]
  /** The family of each pattern that joins one. */
  readonly joined: ReadonlyMap<bigint, bigint>
}

/**
 * Decides which patterns of one frame belong together. Existing families, the oldest first, keep their patterns and are never merged.
 * The result does not depend on the order of the patterns.
 */
export function decideFamilies(existing: readonly Family[], singles: readonly SinglePattern[], weights?: FamilyEvidence): FamilyDecision {
  const families = new Map(existing.map((family, age) => [`f${age}`, family]))
  const patterns = new Map(singles.map((single) => [`p${single.skeleton}`, single]))
  const members: FamilyMember[] = [
    ...[...families].map(([id, { words }]) => ({ id, words, isFamily: true })),
    ...[...patterns].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, { words }]) => ({ id, words, isFamily: false })),
  ]
  const changed = new Map<bigint, Family>()
  const joined = new Map<bigint, bigint>()
  const taken = new Set(existing.map(({ id }) => id))
  for (const group of groupMembers(members, weights)) {
    const own = group.members.flatMap(({ id }) => families.get(id) ?? [])
    const fresh = group.members.flatMap(({ id }) => patterns.get(id) ?? [])
    if (fresh.length === 0 || fresh.length + own.length < 2) continue
    const [only] = own
    if (own.length < 2) {
      const id = only?.id ?? newId(group.words, taken)
      taken.add(id)
      changed.set(id, { id, words: group.words })
      for (const { skeleton } of fresh) joined.set(skeleton, id)
      continue
    }
    for (const { skeleton, words } of fresh) {
      const home = own.find((family) => isCovered(family.words, words)) ?? only
      if (!home) continue
      const before = changed.get(home.id) ?? home
      changed.set(home.id, { id: home.id, words: before.words.map((word, at) => (word === words[at] ? word : MASK)) })
      joined.set(skeleton, home.id)
    }
  }
  const before = new Map(existing.map((family) => [family.id, family.words.join(' ')]))
  return { families: [...changed.values()].filter(({ id, words }) => before.get(id) !== words.join(' ')), joined }
}

/** The id of a new family follows from its words at that time. */
function newId(words: readonly string[], taken: ReadonlySet<bigint>): bigint {
  for (let attempt = 0; ; attempt += 1) {
    const { high, low } = maskedHash(`family ${attempt} ${words.join(' ')}`)
    const id = (BigInt(high) << 32n) | BigInt(low)
    if (!taken.has(id)) return id
  }
}
