import type { StepBudget } from './regex-match.ts'

/** A Read line: what a parser made of it. Given up is a line that would have cost too much. */
export type ParserResult =
  | { kind: 'match'; pairs: readonly (readonly [name: string, text: string])[] }
  | { kind: 'no match' }
  | { kind: 'given up' }

/** A Compiled parser reads lines in a time that is linear in their length. */
export type CompiledParser = {
  /** fields are the keys it may give. */
  fields: readonly string[]
  read(text: string, fuel: StepBudget): ParserResult
}
