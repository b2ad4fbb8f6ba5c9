import { nearestOf } from '@dendro/language/functions'
import { isInstantKey } from '@dendro/language/instant'
import { diagnosticAt, echo, quoted } from '@dendro/language/language-error'
import { printFilter } from '@dendro/language/print'
import type { Condition, Filter, Literal } from '@dendro/language/tree'
import type { Warning } from '@dendro/language/warnings'
import type { EventStore } from '../../../events/store/events.ts'
import { Failure } from '../../../kernel/errors.ts'
import { conditionsIn } from '../../../query/conditions.ts'
import type { EventQuery, StatsGroup } from '../../../reading/query.ts'
import { comparesIds, readStats } from '../../../reading/reading.ts'

/** Scanning more events to find similar values would take longer than it helps. */
const ROWS_MAX = 5_000_000
const CONDITIONS_MAX = 3
const VALUES_MAX = 100
const VALUE_CHARS_MAX = 100
/** Two edits turn most short words into others. */
const TYPO_CHARS_MIN = 4

/** A condition that compares a key with one text. */
type TextCondition = { readonly condition: Condition & { readonly key: string }; readonly text: string; with(text: string): Filter }

/**
 * Warns about texts that no event of the range has, but nearly: in another case, or with a typing error. For queries that found nothing. The counts
 * are exact; there is no warning when they would cost too much.
 */
export async function nearValues(store: EventStore, query: EventQuery, field = 'where'): Promise<readonly Warning[]> {
  const bounded = { ...query, budget: { ...query.budget, rows: Math.min(query.budget.rows, ROWS_MAX) } }
  const warnings: Warning[] = []
  for (const suspect of conditionsIn(query.filter).flatMap(textsIn).slice(0, CONDITIONS_MAX)) {
    try {
      const near = await nearValueOf(store, bounded, suspect)
      if (near) warnings.push({ field, ...warningOf(suspect, near) })
    } catch (thrown) {
      query.signal.throwIfAborted()
      if (!(thrown instanceof Failure) || thrown.status >= 500) throw thrown
      return warnings
    }
  }
  return warnings
}

function textsIn(condition: Condition): TextCondition[] {
  if (condition.kind === 'contains' || condition.key.startsWith('@') || isInstantKey(condition.key)) return []
  if (condition.kind === 'compare' && condition.operator === '=' && condition.value.kind === 'text') {
    return suspectOf(condition, condition.value.text, (text) => ({ ...condition, value: { kind: 'text', text } }))
  }
  if (condition.kind !== 'in' || condition.negated) return []
  return condition.values.flatMap((value) =>
    value.kind === 'text'
      ? suspectOf(condition, value.text, (text) => ({ ...condition, values: replaced(condition.values, value, text) }))
      : [],
  )
}

const suspectOf = (condition: TextCondition['condition'], text: string, change: TextCondition['with']): TextCondition[] =>
  text === '' || text.length > VALUE_CHARS_MAX ? [] : [{ condition, text, with: change }]

const replaced = (values: readonly Literal[], one: Literal, text: string): Literal[] =>
  values.map((value) => (value === one ? { kind: 'text', text } : value))

type NearValue = { value: string; count: number; isCase: boolean }

/** Undefined when an event has the very text, or nothing is similar. */
async function nearValueOf(store: EventStore, query: EventQuery, { condition, text }: TextCondition): Promise<NearValue | undefined> {
  const { key, at } = condition
  const pattern = text.replace(/[\\%_]/g, '\\$&')
  const alike = await valuesOf(store, query, key, { kind: 'like', key, pattern, ignoreCase: true, negated: false, at })
  if (alike.some(({ value }) => value === text)) return undefined
  const [same] = alike
  if (same) return { ...same, isCase: true }
  // Ids are copied, not typed. Counting all values of their keys takes longer than the search.
  const isId = comparesIds({ kind: 'compare', key, operator: '=', value: { kind: 'text', text }, at })
  if (text.length < TYPO_CHARS_MIN || isId) return undefined
  const usual = await valuesOf(store, query, key, { kind: 'exists', key, negated: false, at })
  const nearest = nearestOf(
    text,
    usual.map(({ value }) => value),
  )
  const found = usual.find(({ value }) => value === nearest)
  return found && { ...found, isCase: false }
}

/** The most frequent values of the matching events. */
async function valuesOf(store: EventStore, query: EventQuery, key: string, filter: Filter): Promise<{ value: string; count: number }[]> {
  const request = { calls: [{ name: 'count' } as const], groups: [key], slices: 1, limit: VALUES_MAX }
  const { groups } = await readStats(store, { ...query, filter }, request)
  return groups.flatMap(({ values: [value], whole }: StatsGroup) => (typeof value === 'string' ? [{ value, count: whole.count }] : []))
}

function warningOf({ condition, text, with: change }: TextCondition, { value, count, isCase }: NearValue) {
  const events = count === 1 ? '1 event has' : `${count} events have`
  const message = `no event has ${echo(condition.key)} ${echo(quoted(text))}, but ${events} ${echo(quoted(value))}`
  const instead = printFilter(change(value))
  const hint = isCase ? `values are compared with their case: write ${echo(instead)}` : `did you mean ${echo(instead)}?`
  return diagnosticAt({ text: '', ...condition.at }, isCase ? 'VALUE_CASE' : 'UNKNOWN_VALUE', message, hint, instead)
}
