import type { FamilyEvidence } from '../../server/src/patterns/families.ts'
import { decideFamilies, type Family, type SinglePattern } from '../../server/src/patterns/family-decision.ts'
import { formOf } from '../../server/src/patterns/family-form.ts'
import { skeletonText } from '../../server/src/patterns/skeleton.ts'
import type { Corpus } from './corpora.ts'

type FrameState = { families: Family[]; singles: SinglePattern[] }

/** The masked messages, as events are stored: one group per pattern. */
export const byPattern = ({ lines }: Corpus): string[] => lines.map(({ message }) => skeletonText(message))

/** The families of the messages when they arrive in some rounds, each followed by a query. */
export function byFamily(corpus: Corpus, rounds = 1, weights?: FamilyEvidence): string[] {
  const patterns = byPattern(corpus)
  const numbers = new Map<string, bigint>()
  const frames = new Map<string, FrameState>()
  const families = new Map<bigint, bigint>()
  const size = Math.ceil(patterns.length / rounds)
  for (let from = 0; from < patterns.length; from += size) {
    const changed = new Set<FrameState>()
    for (let at = from; at < Math.min(from + size, patterns.length); at += 1) {
      const pattern = patterns[at] ?? ''
      if (numbers.has(pattern)) continue
      const skeleton = BigInt(numbers.size + 1)
      numbers.set(pattern, skeleton)
      const { words, frame } = formOf(corpus.lines[at]?.message ?? '')
      const state = frames.get(frame) ?? { families: [], singles: [] }
      frames.set(frame, state)
      state.singles.push({ skeleton, words })
      changed.add(state)
    }
    for (const state of changed) decide(state, families, weights)
  }
  return patterns.map((pattern) => {
    const skeleton = numbers.get(pattern) ?? 0n
    const family = families.get(skeleton)
    return family === undefined ? `pattern ${skeleton}` : `family ${family}`
  })
}

function decide(state: FrameState, families: Map<bigint, bigint>, weights?: FamilyEvidence): void {
  const { families: made, joined } = decideFamilies(state.families, state.singles, weights)
  const known = new Map([...state.families, ...made].map((family) => [family.id, family]))
  state.families = [...known.values()]
  for (const [skeleton, family] of joined) families.set(skeleton, family)
  state.singles = state.singles.filter(({ skeleton }) => !joined.has(skeleton))
}

/** The share of lines whose group holds exactly the lines of their true template. */
export function groupingAccuracy({ lines }: Corpus, found: readonly string[]): number {
  const truth = lines.map(({ template }) => template)
  const pairs = truth.map((name, index) => `${name}\n${found[index]}`)
  const [ofTruth, ofFound, ofPair] = [sizes(truth), sizes(found), sizes(pairs)]
  const right = pairs.filter((pair, index) => {
    const size = ofPair.get(pair)
    return size === ofTruth.get(truth[index] ?? '') && size === ofFound.get(found[index] ?? '')
  })
  return right.length / truth.length
}

function sizes(names: readonly string[]): ReadonlyMap<string, number> {
  const counted = new Map<string, number>()
  for (const name of names) counted.set(name, (counted.get(name) ?? 0) + 1)
  return counted
}

export const meanOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length

/** The weights that are compared: how many distinct values, names and nouns show that a position is variable. */
export function candidateWeights(base: FamilyEvidence): FamilyEvidence[] {
  const candidates: FamilyEvidence[] = []
  for (const value of [0.34, 0.5, 1]) {
    for (const name of [0.2, 0.34, 0.5]) {
      for (const noun of [0.13, 0.25, 0.34]) {
        candidates.push({
          ...base,
          value: [value, value, value],
          name: [name, Math.max(name, 0.5), Math.max(name, 0.5)],
          compound: [name, Math.max(name, 0.5), Math.max(name, 0.5)],
          prose: [0.05, 0.1, noun],
          upper: [0.05, 0.1, noun],
        })
      }
    }
  }
  return candidates
}

export type LeftOut = { readonly name: string; readonly accuracy: number; readonly weights: FamilyEvidence }

/** Chooses the weights by all corpora but one, and scores that one with them. */
export function leaveOneOut(corpora: readonly Corpus[], candidates: readonly FamilyEvidence[]): LeftOut[] {
  const scores = candidates.map((weights) => corpora.map((corpus) => groupingAccuracy(corpus, byFamily(corpus, 1, weights))))
  return corpora.map(({ name }, left) => {
    const means = scores.map((row) => meanOf(row.filter((_, at) => at !== left)))
    const best = means.indexOf(Math.max(...means))
    return { name, accuracy: scores[best]?.[left] ?? 0, weights: candidates[best] as FamilyEvidence }
  })
}
