import type { StepBudget } from './regex-match.ts'

/** The result of parsing a line. Given up: the line would have cost too much. */
export type ParserResult =
  | { kind: 'match'; pairs: readonly (readonly [name: string, text: string])[] }
  | { kind: 'no match' }
  | { kind: 'given up' }

/** A compiled parser. Its run time is linear in the length of the line. */
export type CompiledParser = {
  /** The keys that it may return. */
  fields: readonly string[]
  read(text: string, fuel: StepBudget): ParserResult
}
