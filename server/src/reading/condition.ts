import { isInstantKey } from '@dendro/language/instant'
import type { Condition, Filter } from '@dendro/language/tree'
import { folded } from './fold.ts'
import { keyIsThere, keyMeets, type Test } from './key-text.ts'
import { lineHolds } from './line-search.ts'
import { placesOf, type Slots } from './places.ts'
import { isNegated, outsideTest, type Positive, positiveTest, sequenceMeets, timeMeets } from './predicates.ts'
import { type Lines, rawLine } from './raw-line.ts'
import { and, not, or, type Sql, sql, TRUE } from './statement.ts'

/** A Scene is what the keys of a question mean in one branch of a read. */
export type Scene = {
  readonly slots: Slots
  readonly lines: Lines
  /** collection and dataset are the names of where an event lies. */
  readonly collection: Sql
  readonly dataset: Sql
}

/** filterSql is the condition in the language of the store: true or false for every event, never unknown. */
export const filterSql = (filter: Filter, scene: Scene): Sql => partSql(folded(filter), scene)

function partSql(filter: Filter, scene: Scene): Sql {
  switch (filter.kind) {
    case 'all':
      return TRUE
    case 'and':
      return and(filter.of.map((part) => partSql(part, scene)))
    case 'or':
      return or(filter.of.map((part) => partSql(part, scene)))
    case 'not':
      return not(partSql(filter.of, scene))
    case 'contains':
      return lineHolds(filter.text, scene.lines)
    default:
      return conditionSql(filter, scene)
  }
}

type Keyed = Exclude<Condition, { kind: 'contains' }>

function conditionSql(condition: Keyed, scene: Scene): Sql {
  const { key } = condition
  if (isInstantKey(key) || key === '@sequence') return onNumber(condition)
  const own = builtIn(key, scene)
  if (own) return onText(condition, own)
  const places = placesOf(key, scene.slots)
  if (condition.kind === 'exists') return condition.negated ? not(keyIsThere(places)) : keyIsThere(places)
  if (condition.kind === 'between' && condition.negated) return keyMeets(places, outsideTest(condition))
  const met = keyMeets(places, positiveTest(condition))
  return isNegated(condition) ? and([keyIsThere(places), not(met)]) : met
}

/** onNumber is a condition on a number that every event has. */
function onNumber(condition: Keyed): Sql {
  if (condition.kind === 'exists') return condition.negated ? not(TRUE) : TRUE
  const met = condition.key === '@sequence' ? sequenceMeets(condition) : timeMeets(condition)
  return isNegated(condition) ? not(met) : met
}

/** A BuiltIn is a text that the store keeps or makes; '' is an absent one. */
export type BuiltIn = { readonly text: Sql; readonly alwaysThere: boolean; readonly ignoresCase: boolean }

const STATUS: Sql = sql`multiIf(sev in ('error', 'fatal'), 'error', sev = 'warn', 'warn', 'info')`

/** builtIn is the text of a key that begins with @ and is none of the sender's; undefined for all others. */
export function builtIn(key: string, { lines, collection, dataset }: Scene): BuiltIn | undefined {
  switch (key) {
    case '@raw':
      return { text: rawLine(lines), alwaysThere: true, ignoresCase: false }
    case '@status':
      return { text: STATUS, alwaysThere: true, ignoresCase: true }
    case '@origin':
      return { text: sql`origin`, alwaysThere: false, ignoresCase: false }
    case '@pattern':
      return { text: sql`if(skeleton = 0, '', lower(leftPad(hex(skeleton), 16, '0')))`, alwaysThere: false, ignoresCase: false }
    case '@collection':
      return { text: collection, alwaysThere: true, ignoresCase: false }
    case '@dataset':
      return { text: dataset, alwaysThere: true, ignoresCase: false }
    default:
      return undefined
  }
}

function onText(condition: Keyed, { text, alwaysThere, ignoresCase }: BuiltIn): Sql {
  const isThere = alwaysThere ? TRUE : sql`${text} != ''`
  if (condition.kind === 'exists') return condition.negated ? not(isThere) : isThere
  const test: Test = positiveTest(ignoresCase ? inLowerCase(condition) : condition)
  const meets = (one: Test) => (one.holdsForAbsent ? and([isThere, one.of(text)]) : one.of(text))
  if (condition.kind === 'between' && condition.negated) return meets(outsideTest(condition))
  const met = meets(test)
  return isNegated(condition) ? and([isThere, not(met)]) : met
}

/** inLowerCase takes the case out of the literals for a text that is in lower case itself. */
function inLowerCase(condition: Positive): Positive {
  const lower = <L extends { readonly text: string }>(literal: L): L => ({ ...literal, text: literal.text.toLowerCase() })
  switch (condition.kind) {
    case 'compare':
      return { ...condition, value: lower(condition.value) }
    case 'in':
      return { ...condition, values: condition.values.map(lower) }
    case 'between':
      return { ...condition, low: lower(condition.low), high: lower(condition.high) }
    default:
      return condition
  }
}
