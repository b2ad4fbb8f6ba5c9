import type { PlaceholderFill, RegexCheck } from './comparison.ts'
import { type ParsedFilter, parseFilter } from './filter.ts'
import { diagnosticAt, echo, languageError } from './language-error.ts'
import { isNumber } from './number.ts'
import type { ValueToken } from './token.ts'

/** The value of a placeholder. A list is only allowed after IN. */
export type PlaceholderArgument = string | number | boolean | readonly string[]

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
const WHOLE = /^\{\{([^{}]*)\}\}$/
const NAME = /^[\p{L}_][\p{L}\d_.-]*$/u
const FIELD = 'where'

/**
 * Parses the filter of a template and fills its `{{name}}` placeholders. Arguments replace parsed values, never text, so they cannot change
 * the structure of the filter. An unquoted placeholder becomes the value itself; inside quotes it is part of the text. `%` and `_` in an
 * argument are wildcards in a pattern.
 */
export function fillFilter(
  text: string,
  given: ReadonlyMap<string, PlaceholderArgument>,
  field = FIELD,
  regexProblem?: RegexCheck,
): ParsedFilter {
  const fill: PlaceholderFill = (value) => filledValues(value, given, field)
  return parseFilter(text, field, { fill, regexProblem })
}

/** Parses a filter whose arguments are unknown and lists its placeholders. Values with placeholders are checked when they are filled. */
export function checkTemplate(text: string, field = FIELD, regexProblem?: RegexCheck): ReadonlySet<string> {
  const names = new Set<string>()
  const fill: PlaceholderFill = (value) => {
    const found = [...value.text.matchAll(PLACEHOLDER)].map(([, name = '']) => nameOf(name, value, field))
    for (const name of found) names.add(name)
    return [found.length === 0 ? value : { ...value, open: true }]
  }
  parseFilter(text, field, { fill, regexProblem })
  return names
}

function filledValues(value: ValueToken, given: ReadonlyMap<string, PlaceholderArgument>, field: string): ValueToken[] {
  const find = (name: string) => argumentOf(nameOf(name, value, field), value, given, field)
  const whole = WHOLE.exec(value.text)?.[1]
  if (value.quote === '' && whole !== undefined) return valuesOf(find(whole), value)
  const text = value.text.replaceAll(PLACEHOLDER, (_, name: string) => {
    const argument = find(name)
    if (typeof argument !== 'object') return String(argument)
    throw languageError(field, diagnosticAt(value, 'BAD_PLACEHOLDER', `the argument ${echo(name)} is a list`, 'write key IN ({{name}})'))
  })
  return [{ ...value, text }]
}

function valuesOf(argument: PlaceholderArgument, place: ValueToken): ValueToken[] {
  if (typeof argument === 'object') return argument.map((text) => ({ ...place, kind: 'text', text, quote: "'" }))
  const text = String(argument)
  if (typeof argument === 'boolean' || /^(?:true|false)$/i.test(text)) return [{ ...place, kind: 'boolean', text }]
  return [isNumber(text) ? { ...place, kind: 'number', text } : { ...place, kind: 'text', text, quote: "'" }]
}

function argumentOf(name: string, value: ValueToken, given: ReadonlyMap<string, PlaceholderArgument>, field: string): PlaceholderArgument {
  const argument = given.get(name)
  if (argument !== undefined) return argument
  throw languageError(
    field,
    diagnosticAt(value, 'UNRESOLVED_PLACEHOLDER', `no argument is given for ${echo(name)}`, 'give one in arguments'),
  )
}

function nameOf(written: string, value: ValueToken, field: string): string {
  const name = written.trim()
  if (NAME.test(name)) return name
  const message = `'{{${echo(written)}}}' is not a placeholder`
  throw languageError(field, diagnosticAt(value, 'BAD_PLACEHOLDER', message, 'a name has letters, digits, _ . and -'))
}
