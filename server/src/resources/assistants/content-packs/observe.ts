import { severityOfWord } from '../../../lines/values/severity.ts'
import type { FieldValueKind } from './pack.ts'

/** How often a field occurs in a sample, and how many of its values are of each kind. */
export type FieldFacts = {
  readonly count: number
  readonly kinds: Readonly<Record<FieldValueKind, number>>
  readonly numbers: readonly number[]
}

const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const STATUS = /^[1-5]\d\d$/
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE)$/i
/** Node loggers write levels as numbers from 10 (trace) to 60 (fatal). */
const NUMERIC_LEVEL = /^[1-6]0$/

const tests = {
  text: (value) => value !== '',
  number: (value) => NUMBER.test(value),
  'http-status': (value) => STATUS.test(value),
  'http-method': (value) => METHOD.test(value),
  level: (value) => severityOfWord(value) !== undefined || NUMERIC_LEVEL.test(value),
} satisfies Record<FieldValueKind, (value: string) => boolean>

const kinds = Object.keys(tests) as FieldValueKind[]

/** Collects the facts about the given fields in a sample of events. */
export function observeFields(
  events: readonly ReadonlyMap<string, string>[],
  fields: ReadonlySet<string>,
): ReadonlyMap<string, FieldFacts> {
  const facts = new Map<string, FieldFacts>()
  for (const field of fields) {
    const values = events.flatMap((leaves) => leaves.get(field) ?? [])
    if (values.length === 0) continue
    const counted = Object.fromEntries(kinds.map((kind) => [kind, values.filter(tests[kind]).length])) as Record<FieldValueKind, number>
    facts.set(field, { count: values.length, kinds: counted, numbers: values.filter(tests.number).map(Number) })
  }
  return facts
}
