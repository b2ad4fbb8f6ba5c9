import type { Condition, Filter, FilterOperator } from '@dendro/language/tree'
import { ALL_EVENTS, and } from '../../data/event-queries/event-queries.ts'
import type { LabelKeys } from './label-names.ts'
import { linePatternRegex, longestLiteral } from './logql/line-pattern.ts'
import { anchoredPattern } from './logql/parse-conditions.ts'
import type { LabelComparison, LabelCondition, LabelFormat, LabelMatcher, LineFilter, LogqlLogs, LogqlStage } from './logql/tree.ts'
import { valueTest } from './matchers.ts'

/** The condition on events, and the stages that the store cannot apply. */
export type PushedCondition = { readonly filter: Filter; readonly rest: readonly LogqlStage[] }

/** Moves as much of a selector and its stages into the store as is exact there. The rest is applied to each event. */
export function pushDown({ matchers, stages }: Pick<LogqlLogs, 'matchers' | 'stages'>, keys: LabelKeys): PushedCondition {
  const filters = matchers.map((matcher) => matcherFilter(matcher, keys.streamKeys(matcher.name)))
  const rest: LogqlStage[] = []
  let [isLineStored, areLabelsStored] = [true, true]
  /** Labels that say whether the stored line contains a text. */
  const contained = new Map<string, string>()
  for (const stage of stages) {
    const pushed =
      stage.kind === 'line'
        ? isLineStored && lineFilter(stage)
        : stage.kind === 'labels' && areLabelsStored && labelFilter(stage.condition, keys, contained)
    if (pushed) {
      filters.push(pushed)
      continue
    }
    rest.push(stage)
    const found = isLineStored && stage.kind === 'label_format' ? containedTexts(stage.formats) : undefined
    if (found) {
      for (const [name, text] of found) contained.set(name, text)
      continue
    }
    if (stage.kind === 'line_format' || stage.kind === 'unpack' || stage.kind === 'decolorize') isLineStored = false
    if (
      stage.kind !== 'line' &&
      stage.kind !== 'labels' &&
      stage.kind !== 'decolorize' &&
      stage.kind !== 'unwrap' &&
      stage.kind !== 'line_format'
    )
      areLabelsStored = false
  }
  return { filter: filters.reduce(and, ALL_EVENTS), rest }
}

/** The texts for which labels are set to whether the line contains them, if all the formats are such. */
function containedTexts(formats: readonly LabelFormat[]): readonly [name: string, text: string][] | undefined {
  const found = formats.flatMap((format): [string, string][] => {
    const [only, ...others] = 'template' in format ? format.template : []
    return only && others.length === 0 && 'contains' in only && 'line' in only.of ? [[format.name, only.contains]] : []
  })
  return found.length === formats.length ? found : undefined
}

const at = { position: 0, length: 0 }
const NOTHING: Filter = { kind: 'not', of: ALL_EVENTS }
const not = (of: Filter): Filter => ({ kind: 'not', of })
const either = (of: readonly Filter[]): Filter => (of.length === 1 && of[0] ? of[0] : of.length === 0 ? NOTHING : { kind: 'or', of })
const all = (of: readonly Filter[]): Filter => (of.length === 1 && of[0] ? of[0] : of.length === 0 ? ALL_EVENTS : { kind: 'and', of })
const exists = (key: string): Filter => ({ kind: 'exists', key, negated: false, at })

/** The values of `@status`, which is compared without case in the store and with case here. */
const STATUSES: readonly string[] = ['info', 'warn', 'error']

/** A matcher tests the value of the first of its keys that an event has. Without any, the label is empty. */
function matcherFilter(matcher: LabelMatcher, keys: readonly string[]): Filter {
  const isNegated = matcher.operator === '!=' || matcher.operator === '!~'
  const positive: LabelMatcher = { ...matcher, operator: matcher.operator.endsWith('~') ? '=~' : '=' }
  const met = firstOf(keys, (key) => valueFilter(positive, key), valueTest(positive)(''))
  return isNegated ? not(met) : met
}

/** Applies a condition to the first key that exists. `ifAbsent` is the result for events without any of them. */
function firstOf(keys: readonly string[], test: (key: string) => Filter, ifAbsent: boolean): Filter {
  const cases: Filter[] = []
  const absent: Filter[] = []
  for (const key of keys) {
    const isAlwaysThere = key.startsWith('@')
    cases.push(all([...absent, ...(isAlwaysThere ? [] : [exists(key)]), test(key)]))
    if (isAlwaysThere) return either(cases)
    absent.push(not(exists(key)))
  }
  return either(ifAbsent ? [...cases, all(absent)] : cases)
}

/** The condition that a key exists and its value matches. */
function valueFilter(matcher: LabelMatcher, key: string): Filter {
  const { operator, value } = matcher
  if (key === '@status') {
    const values = STATUSES.filter(valueTest(matcher)).map((text) => ({ kind: 'text' as const, text }))
    return values.length === 0 ? NOTHING : { kind: 'in', key, values, negated: false, at }
  }
  if (operator === '=') return { kind: 'compare', key, operator: '=', value: { kind: 'text', text: value }, at }
  return { kind: 'regex', key, pattern: anchoredPattern(value), ignoreCase: false, negated: false, at }
}

/** Undefined when a part of the condition cannot be applied in the store. */
function labelFilter(condition: LabelCondition, keys: LabelKeys, contained: ReadonlyMap<string, string>): Filter | undefined {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const of = condition.of.map((part) => labelFilter(part, keys, contained))
      const known = of.filter((part) => part !== undefined)
      if (known.length < of.length) return undefined
      return condition.kind === 'and' ? all(known) : either(known)
    }
    case 'match': {
      const { name } = condition.matcher
      const text = contained.get(name)
      if (text !== undefined) return containedFilter(condition.matcher, text)
      return isErrorLabel(name) || !keys.isStored(name) ? undefined : matcherFilter(condition.matcher, keys.pipelineKeys(name))
    }
    case 'compare':
      if (contained.has(condition.name) || condition.unit !== 'number' || isErrorLabel(condition.name) || !keys.isStored(condition.name))
        return undefined
      return firstOf(keys.pipelineKeys(condition.name), (key) => comparisonFilter(condition, key), false)
  }
}

function containedFilter(matcher: LabelMatcher, text: string): Filter {
  const test = valueTest(matcher)
  const met = lineContains(text)
  return either([...(test('true') ? [met] : []), ...(test('false') ? [not(met)] : [])])
}

const isErrorLabel = (name: string): boolean => name.startsWith('__')

const operators: Readonly<Record<LabelComparison['operator'], readonly FilterOperator[]>> = {
  '>': ['>'],
  '>=': ['>='],
  '<': ['<'],
  '<=': ['<='],
  // Unlike the operator =, these two compare nothing but numbers.
  '==': ['>=', '<='],
  '!=': ['<', '>'],
}

function comparisonFilter({ operator, value, text }: LabelComparison, key: string): Filter {
  // The digits as written are exact beyond 2^53.
  const number = /^-?\d+(?:\.\d+)?$/.test(text) ? text : String(value)
  const compared = operators[operator].map(
    (one): Condition => ({ kind: 'compare', key, operator: one, value: { kind: 'number', text: number }, at }),
  )
  return operator === '!=' ? either(compared) : all(compared)
}

function lineFilter({ operator, texts }: LineFilter): Filter {
  const met = either(
    texts.map((text) => (operator.endsWith('~') ? lineMatches(text) : operator.endsWith('>') ? lineFits(text) : lineContains(text))),
  )
  return operator.startsWith('!') ? not(met) : met
}

/** The longest literal text is found by an index. */
const lineFits = (pattern: string): Filter => all([lineContains(longestLiteral(pattern)), lineMatches(linePatternRegex(pattern))])

const lineMatches = (pattern: string): Filter => ({ kind: 'regex', key: '@raw', pattern, ignoreCase: false, negated: false, at })

/** Free text ignores case but is found by an index; the pattern compares exactly. */
function lineContains(text: string): Filter {
  if (text === '') return ALL_EVENTS
  const pattern = `%${text.replaceAll(/[%_\\]/g, '\\$&')}%`
  return all([
    { kind: 'contains', text, at },
    { kind: 'like', key: '@raw', pattern, ignoreCase: false, negated: false, at },
  ])
}
