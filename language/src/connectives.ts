import { missingConnective } from './misread.ts'
import { problemAt } from './refusal.ts'
import type { Scanner } from './scan.ts'
import type { Token, Value } from './token.ts'

/** A Joined is conditions as their connectives join them. */
export type Joined<Condition> =
  | { readonly kind: 'and' | 'or'; readonly of: readonly Joined<Condition>[] }
  | { readonly kind: 'not'; readonly of: Joined<Condition> }
  | Condition

/**
 * A Part is a piece of a text that has been read. `last` is the value that it ends with: where an unquoted text with blanks goes wrong.
 * Parts that only search for words may stand side by side without AND; `word` is the word that such a part ends with.
 */
export type Part<Tree> = { tree: Tree; last?: Value | undefined; search?: boolean | undefined; word?: Token | undefined }

/** A Joint is a place where AND was left out, and the word before it. */
export type Joint = { position: number; word: Token | undefined }

/** A Place is where a part stands: how deep, after which connective, and behind which left-out AND. */
export type Place = { depth: number; after: string | undefined; joint: Joint | undefined }

/** A Grammar is what languages of conditions differ in. */
export type Grammar<Condition> = {
  /** one reads a part that is not made of others. */
  one(place: Place): Part<Joined<Condition>>
  /** expect notes what a part can begin with; behind a left-out AND only what searches for words. */
  expect(joint: Joint | undefined): void
  /** either hears of the parts of each OR. */
  either?(parts: readonly Joined<Condition>[]): void
}

const DEPTH_MAX = 64

/** Connectives read what every language of conditions has: OR of AND of NOT, and parentheses. */
export class Connectives<Condition> {
  readonly #scanner: Scanner
  readonly #grammar: Grammar<Condition>

  constructor(scanner: Scanner, grammar: Grammar<Condition>) {
    this.#scanner = scanner
    this.#grammar = grammar
  }

  whole(): Joined<Condition> {
    const { tree, last } = this.#disjunction({ depth: 0, after: undefined, joint: undefined })
    if (!this.#scanner.atEnd()) throw missingConnective(this.#scanner, last)
    return tree
  }

  #disjunction(place: Place): Part<Joined<Condition>> {
    const parts = [this.#conjunction(place)]
    while (this.#connective('OR', place)) parts.push(this.#conjunction({ ...place, after: 'OR' }))
    if (parts.length > 1) this.#grammar.either?.(parts.map(({ tree }) => tree))
    return joined('or', parts)
  }

  #conjunction(place: Place): Part<Joined<Condition>> {
    const parts = [this.#unary(place)]
    for (;;) {
      const before = parts.at(-1)
      if (this.#connective('AND', place)) {
        parts.push(this.#unary({ ...place, after: 'AND' }))
      } else if (before?.search && this.#termFollows()) {
        if (place.depth === 0) this.#scanner.notes?.joints.push({ word: '', position: this.#scanner.at })
        const joint = place.joint ?? { position: this.#scanner.at, word: before.word }
        parts.push(this.#unary({ ...place, after: undefined, joint }))
      } else {
        return joined('and', parts)
      }
    }
  }

  /** #connective takes AND or OR; one that stands in no parentheses is a joint of the whole. */
  #connective(word: 'AND' | 'OR', { depth }: Place): boolean {
    const token = this.#scanner.takeKeyword(word)
    if (token && depth === 0) this.#scanner.notes?.joints.push({ word, position: token.position })
    return token !== undefined
  }

  /** #termFollows reports whether what comes next can be a neighbour without AND; what can stand nowhere is left for its own refusal. */
  #termFollows(): boolean {
    const joint = { position: this.#scanner.at, word: undefined }
    if (this.#scanner.atEnd()) this.#grammar.expect(joint)
    if (this.#scanner.stray()) return false
    const mark = this.#scanner.text[this.#scanner.at] ?? ''
    const run = this.#scanner.peekRun()
    return run ? run.text.toUpperCase() !== 'OR' : '(\'"'.includes(mark) && mark !== ''
  }

  #unary(place: Place): Part<Joined<Condition>> {
    const scanner = this.#scanner
    this.#grammar.expect(place.joint)
    const not = scanner.skipKeyword('NOT')
    if (not) {
      scanner.notes?.took('word', not)
      const part = this.#unary({ ...place, depth: this.#deeper(place.depth, not), after: 'NOT' })
      return { ...part, tree: { kind: 'not', of: part.tree } }
    }
    if (!scanner.skip('(')) return this.#grammar.one(place)
    const open = { text: '(', position: scanner.at - 1, length: 1 }
    const depth = this.#deeper(place.depth, open)
    if (scanner.skip(')')) {
      const group = { ...open, length: scanner.at - open.position }
      throw scanner.refuse(problemAt(group, 'EMPTY_GROUP', 'empty parentheses', 'remove them'))
    }
    const { tree, search, last } = this.#disjunction({ depth, after: undefined, joint: place.joint })
    if (!scanner.take(')')) throw scanner.atEnd() ? scanner.unclosed(open.position) : missingConnective(scanner, last)
    return { tree, search }
  }

  #deeper(depth: number, at: Token): number {
    if (depth < DEPTH_MAX) return depth + 1
    const message = `a ${this.#scanner.dialect.noun} is nested at most ${DEPTH_MAX} deep`
    throw this.#scanner.refuse(problemAt(at, 'TOO_DEEP', message))
  }
}

function joined<Condition>(kind: 'and' | 'or', parts: readonly Part<Joined<Condition>>[]): Part<Joined<Condition>> {
  const last = parts.at(-1)
  if (last && parts.length === 1) return last
  const search = parts.every((part) => part.search)
  return { ...last, tree: { kind, of: parts.map(({ tree }) => tree) }, search }
}
