import { hashOfPatternId } from '../../../kernel/pattern-id.ts'
import type { Meta } from '../../../meta/meta.ts'
import { selectFamiliesById, selectNamedPatterns } from './rows.ts'

/** The patterns of one or several datasets that ids name: their words, and of a family its patterns. */
export type PatternOfId = { readonly id: string; readonly words: readonly string[]; readonly members: readonly bigint[] }

/** Patterns about which nothing is decided yet are missing. */
export async function patternsById(meta: Meta, orgId: string, logIds: readonly string[], ids: readonly string[]): Promise<PatternOfId[]> {
  const known = [...new Set(ids)].filter((id) => hashOfPatternId(id) !== undefined)
  if (known.length === 0) return []
  const [families, patterns] = await Promise.all([
    selectFamiliesById(meta, orgId, logIds, known),
    selectNamedPatterns(meta, orgId, logIds, known),
  ])
  return known.flatMap((id): PatternOfId[] => {
    const family = families.filter((one) => one.id === id)
    const own = patterns.filter(({ pattern }) => pattern === id)
    const members = patterns.flatMap(({ pattern, family: of }) => (of === id ? [hashOfPatternId(pattern) ?? 0n] : []))
    const texts = [...family.map(({ words }) => words), ...own.flatMap(({ words }) => (words ? [words] : []))]
    // What several datasets have in common.
    const words = texts.reduce<readonly string[]>(
      (common, next, at) => (at === 0 ? next : common.filter((word) => next.includes(word))),
      [],
    )
    return texts.length === 0 && members.length === 0 ? [] : [{ id, words, members }]
  })
}
