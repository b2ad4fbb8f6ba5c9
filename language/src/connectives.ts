import { diagnosticAt } from './language-error.ts'
import { missingConnective } from './missing-parts.ts'
import type { Scanner } from './scan.ts'
import type { Token, ValueToken } from './token.ts'

/** Conditions combined by AND, OR and NOT. */
export type BooleanTree<Condition> =
  | { readonly kind: 'and' | 'or'; readonly of: readonly BooleanTree<Condition>[] }
  | { readonly kind: 'not'; readonly of: BooleanTree<Condition> }
  | Condition

/**
 * A parsed part of a text. `last` is the value that it ends with; it is where an unquoted text with blanks goes wrong. Parts that only
 * search for words may stand side by side without AND; `word` is the word that such a part ends with.
 */
export type ParsedPart<Tree> = { tree: Tree; last?: ValueToken | undefined; search?: boolean | undefined; word?: Token | undefined }

/** A position where AND was left out, and the word before it. */
export type ImplicitAnd = { position: number; word: Token | undefined }

/** The context of a part: its depth, the connective before it, and the omitted AND before it. */
export type PartContext = { depth: number; after: string | undefined; implicitAnd: ImplicitAnd | undefined }

/** The differences between languages of conditions. */
export type ConditionGrammar<Condition> = {
  /** Parses a part that is not made of others. */
  parsePart(context: PartContext): ParsedPart<BooleanTree<Condition>>
  /** Records what a part can begin with. After an omitted AND only free text. */
  expect(joint: ImplicitAnd | undefined): void
  /** Called with the parts of each OR. */
  checkOr?(parts: readonly BooleanTree<Condition>[]): void
}

const DEPTH_MAX = 64

/** Parses what all languages of conditions share: OR, AND, NOT and parentheses. */
export class Connectives<Condition> {
  readonly #scanner: Scanner
  readonly #grammar: ConditionGrammar<Condition>

  constructor(scanner: Scanner, grammar: ConditionGrammar<Condition>) {
    this.#scanner = scanner
    this.#grammar = grammar
  }

  whole(): BooleanTree<Condition> {
    const { tree, last } = this.#disjunction({ depth: 0, after: undefined, implicitAnd: undefined })
    if (!this.#scanner.atEnd()) throw missingConnective(this.#scanner, last)
    return tree
  }

  #disjunction(context: PartContext): ParsedPart<BooleanTree<Condition>> {
    const parts = [this.#conjunction(context)]
    while (this.#connective('OR', context)) parts.push(this.#conjunction({ ...context, after: 'OR' }))
    if (parts.length > 1) this.#grammar.checkOr?.(parts.map(({ tree }) => tree))
    return combined('or', parts)
  }

  #conjunction(context: PartContext): ParsedPart<BooleanTree<Condition>> {
    const parts = [this.#unary(context)]
    for (;;) {
      const before = parts.at(-1)
      if (this.#connective('AND', context)) {
        parts.push(this.#unary({ ...context, after: 'AND' }))
      } else if (before?.search && this.#termFollows()) {
        if (context.depth === 0) this.#scanner.trace?.joinPoints.push({ word: '', position: this.#scanner.at })
        const joint = context.implicitAnd ?? { position: this.#scanner.at, word: before.word }
        parts.push(this.#unary({ ...context, after: undefined, implicitAnd: joint }))
      } else {
        return combined('and', parts)
      }
    }
  }

  /** Parses AND or OR. Outside parentheses it is recorded as a join point. */
  #connective(word: 'AND' | 'OR', { depth }: PartContext): boolean {
    const token = this.#scanner.takeKeyword(word)
    if (token && depth === 0) this.#scanner.trace?.joinPoints.push({ word, position: token.position })
    return token !== undefined
  }

  /** Whether a part without AND can follow. Invalid characters are left for their own error. */
  #termFollows(): boolean {
    const joint = { position: this.#scanner.at, word: undefined }
    if (this.#scanner.atEnd()) this.#grammar.expect(joint)
    if (this.#scanner.unexpected()) return false
    const mark = this.#scanner.text[this.#scanner.at] ?? ''
    const run = this.#scanner.peekRun()
    return run ? run.text.toUpperCase() !== 'OR' : '(\'"'.includes(mark) && mark !== ''
  }

  #unary(context: PartContext): ParsedPart<BooleanTree<Condition>> {
    const scanner = this.#scanner
    this.#grammar.expect(context.implicitAnd)
    const not = scanner.skipKeyword('NOT')
    if (not) {
      scanner.trace?.record('word', not)
      const part = this.#unary({ ...context, depth: this.#deeper(context.depth, not), after: 'NOT' })
      return { ...part, tree: { kind: 'not', of: part.tree } }
    }
    if (!scanner.skip('(')) return this.#grammar.parsePart(context)
    const open = { text: '(', position: scanner.at - 1, length: 1 }
    const depth = this.#deeper(context.depth, open)
    if (scanner.skip(')')) {
      const group = { ...open, length: scanner.at - open.position }
      throw scanner.error(diagnosticAt(group, 'EMPTY_GROUP', 'empty parentheses', 'remove them'))
    }
    const { tree, search, last } = this.#disjunction({ depth, after: undefined, implicitAnd: context.implicitAnd })
    if (!scanner.take(')')) throw scanner.atEnd() ? scanner.unclosed(open.position) : missingConnective(scanner, last)
    return { tree, search }
  }

  #deeper(depth: number, at: Token): number {
    if (depth < DEPTH_MAX) return depth + 1
    const message = `a ${this.#scanner.dialect.noun} is nested at most ${DEPTH_MAX} deep`
    throw this.#scanner.error(diagnosticAt(at, 'TOO_DEEP', message))
  }
}

function combined<Condition>(kind: 'and' | 'or', parts: readonly ParsedPart<BooleanTree<Condition>>[]): ParsedPart<BooleanTree<Condition>> {
  const last = parts.at(-1)
  if (last && parts.length === 1) return last
  const search = parts.every((part) => part.search)
  return { ...last, tree: { kind, of: parts.map(({ tree }) => tree) }, search }
}
