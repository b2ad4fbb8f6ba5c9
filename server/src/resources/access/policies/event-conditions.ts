import type { ConditionSet } from '@dendro/api'
import { quoted } from '@dendro/language/language-error'
import { printKey } from '@dendro/language/print'
import type { Filter } from '@dendro/language/tree'
import { badField, Failure } from '../../../kernel/errors.ts'
import { conditionsIn } from '../../../query/conditions.ts'
import { parseFilter } from '../../../query/query.ts'

type EventConditions = Pick<ConditionSet, 'context' | 'where'>
type ContextCondition = NonNullable<ConditionSet['context']>[number]

/** Every condition is part of every statement of those whom the policy concerns. */
const CONDITIONS_MAX = 50
/** What an event says about itself besides its fields. Other built-in keys are about its place, its time or its whole line. */
const BUILT_IN: readonly string[] = ['@status', '@origin']

/** The filter that matches no event. */
export const NO_EVENTS: Filter = { kind: 'not', of: { kind: 'all' } }

/**
 * The events that meet the conditions of a set on fields: all of `context`, and `where`. Undefined without any. A stored condition that can no longer be
 * read matches no event, so that nobody sees more because of it.
 */
export function eventFilterOf(given: EventConditions | null | undefined): Filter | undefined {
  try {
    return parsed(given, '')
  } catch (thrown) {
    if (thrown instanceof Failure) return NO_EVENTS
    throw thrown
  }
}

/** Refuses conditions on events that cannot be evaluated, or that would cost every query too much. */
export function checkEventConditions(given: EventConditions | null | undefined, name: 'when' | 'unless'): void {
  const filter = parsed(given, `${name}.`)
  const conditions = filter ? conditionsIn(filter) : []
  if (conditions.length > CONDITIONS_MAX) throw badField(`${name}.where`, `must have at most ${CONDITIONS_MAX} conditions`)
  for (const condition of conditions) {
    const field = `${name}.${given?.where?.trim() ? 'where' : 'context'}`
    if (condition.kind === 'contains') throw badField(field, 'must compare fields; a policy cannot search lines for a text')
    if (condition.key.startsWith('@') && !BUILT_IN.includes(condition.key))
      throw badField(field, `must name fields of events, ${BUILT_IN.join(' or ')}, not ${condition.key}`)
  }
}

function parsed(given: EventConditions | null | undefined, prefix: string): Filter | undefined {
  const parts = (given?.context ?? []).map((one) => parseFilter(conditionText(one, `${prefix}context`), `${prefix}context`).filter)
  const where = given?.where?.trim()
  if (where) parts.push(parseFilter(where, `${prefix}where`).filter)
  const [only] = parts
  return parts.length > 1 ? { kind: 'and', of: parts } : only
}

const OPERATORS: Readonly<Record<ContextCondition['operator'], string>> = {
  '==': '=',
  '!=': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  in: 'IN',
  'not in': 'NOT IN',
  like: 'LIKE',
}

/** Writes a condition in the query language. The values of a list are separated by commas. */
function conditionText({ key, operator, value }: ContextCondition, field: string): string {
  const start = `${printKey(key)} ${OPERATORS[operator]}`
  if (operator === 'like') return `${start} ${quoted(String(value))}`
  if (operator !== 'in' && operator !== 'not in') return `${start} ${literal(value)}`
  const values = String(value)
    .split(',')
    .map((one) => one.trim())
  if (values.includes('')) throw badField(field, `must list the values of ${key} separated by commas`)
  return `${start} (${values.map(literal).join(', ')})`
}

const literal = (value: string | boolean): string =>
  typeof value === 'boolean' || /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? String(value) : quoted(value)
