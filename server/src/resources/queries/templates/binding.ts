import type { TemplateArgument, TemplateArguments, TemplateParameter, TemplateParameters } from '@dendro/api'
import { badField } from '../../../kernel/errors.ts'
import { readJson, toJson } from '../../../kernel/exact-json.ts'
import { isObject } from '../../../kernel/json-object.ts'

/** The value of a parameter. `text` replaces `{{name}}` within a text; `items` replace a list item that is exactly `{{name}}`. */
type Value = { readonly literal: Literal; readonly text: string; readonly items?: readonly unknown[] }
type Literal = Extract<TemplateArgument, { literal: unknown }>['literal']

/** The value of every parameter of a template. */
export type Binding = ReadonlyMap<string, Value>

/** The path of the arguments in the request, and the binding of the enclosing template if there is one. */
type ArgumentContext = { readonly field: string; readonly enclosing?: Binding }

/**
 * Binds every parameter of a template, or throws a 400: unknown or missing argument, a literal of the wrong type, an input without a
 * parameter in the enclosing template.
 */
export function bindArguments(
  parameters: TemplateParameters,
  given: TemplateArguments | undefined,
  { field, enclosing }: ArgumentContext,
): Binding {
  const args = new Map(Object.entries(given ?? {}))
  const declared = new Map(Object.entries(parameters))
  for (const name of args.keys()) {
    if (!declared.has(name)) throw badField(`${field}.${name}`, 'names no parameter of the template', 'UNKNOWN_PARAMETER')
  }
  const bound = new Map<string, Value>()
  for (const [name, parameter] of declared) {
    const argument = args.get(name)
    if (!argument) throw badField(`${field}.${name}`, 'is required: the template has this parameter', 'MISSING_ARGUMENT')
    bound.set(name, readLiteral(literalOf(argument, `${field}.${name}`, enclosing), parameter.type, `${field}.${name}`))
  }
  return bound
}

/** The arguments of a binding as literals. */
export const literalsOf = (binding: Binding): TemplateArguments =>
  Object.fromEntries([...binding].map(([name, { literal }]) => [name, { literal }]))

function literalOf(argument: TemplateArgument, field: string, enclosing: Binding | undefined): Literal {
  if ('literal' in argument) return argument.literal
  if (!enclosing) throw badField(`${field}.input`, 'has no enclosing template to take a value from', 'UNKNOWN_INPUT')
  const value = enclosing.get(argument.input)
  if (!value) throw badField(`${field}.input`, `names no parameter of the enclosing template: ${argument.input}`, 'UNKNOWN_INPUT')
  return value.literal
}

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i

function readLiteral(literal: Literal, type: TemplateParameter['type'], field: string): Value {
  const refused = (rule: string) => badField(field, `${rule}, as the parameter is a ${type}`, 'BAD_ARGUMENT')
  switch (type) {
    case 'STRING':
      if (typeof literal !== 'string') throw refused('must be one text')
      return { literal, text: literal }
    case 'DOUBLE':
      if (typeof literal !== 'string' || !JSON_NUMBER.test(literal.trim())) throw refused('must be a number')
      return { literal, text: literal.trim() }
    case 'BOOLEAN':
      if (typeof literal !== 'string' || !/^(true|false)$/i.test(literal.trim())) throw refused('must be true or false')
      return { literal, text: literal.trim().toLowerCase() }
    case 'STRING_LIST': {
      const items = textsOf(literal)
      if (!items) throw refused('must be a list of texts')
      return { literal, text: items.map((item) => `'${item.replaceAll("'", "''")}'`).join(', '), items }
    }
    case 'OBJECT_LIST': {
      const items = typeof literal === 'string' ? jsonOf(literal) : literal
      if (!Array.isArray(items) || !items.every(isObject)) {
        throw refused('must be a list of objects')
      }
      return { literal, text: toJson(items), items }
    }
  }
}

/** Parses a list of texts: a list, a JSON list in a text, or comma-separated texts. */
function textsOf(literal: Literal): readonly string[] | undefined {
  const parsed = typeof literal === 'string' && literal.trim().startsWith('[') ? jsonOf(literal) : literal
  if (typeof parsed === 'string')
    return parsed
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  return Array.isArray(parsed) && parsed.every((item) => typeof item === 'string') ? parsed : undefined
}

function jsonOf(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** A name in double braces; spaces around it are ignored. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
const ALONE = /^\s*\{\{([^{}]*)\}\}\s*$/
const FILLED_CHARS_MAX = 1_000_000

/**
 * Copies a part of a template and replaces the placeholders in its texts; a placeholder without a value is rejected. Replaced text is not
 * expanded again, and field names stay.
 */
export function fillIn(part: unknown, binding: Binding, field: string): unknown {
  let chars = 0
  const valueFor = (name: string, at: string): Value => {
    const value = binding.get(name.trim())
    if (!value) throw badField(at, `names a parameter that the template does not have: {{${name.trim()}}}`, 'UNKNOWN_PARAMETER')
    chars += value.text.length
    if (chars > FILLED_CHARS_MAX) throw badField(at, `becomes longer than ${FILLED_CHARS_MAX} characters with its arguments`, 'TOO_LONG')
    return value
  }
  const textOf = (text: string, at: string) => text.replaceAll(PLACEHOLDER, (_, name: string) => valueFor(name, at).text)
  const itemsOf = (item: unknown, at: string): readonly unknown[] => {
    const name = typeof item === 'string' ? ALONE.exec(item)?.[1] : undefined
    return (name === undefined ? undefined : valueFor(name, at).items) ?? [copy(item, at)]
  }
  const copy = (value: unknown, at: string): unknown => {
    if (typeof value === 'string') return textOf(value, at)
    if (Array.isArray(value)) return value.flatMap((item, index) => itemsOf(item, `${at}.${index}`))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copy(inner, at === '' ? name : `${at}.${name}`)]))
  }
  return copy(part, field)
}

/** Rejects a template with placeholders for unknown parameters. */
export function checkPlaceholders(parts: Readonly<Record<string, unknown>>, parameters: TemplateParameters): void {
  const any: Binding = new Map(Object.keys(parameters).map((name) => [name, { literal: '', text: '' }]))
  fillIn(parts, any, '')
}

type Reference = { parameters: TemplateParameters; outer: TemplateParameters; field: string }

/**
 * Rejects arguments within a template that can never be bound, including inputs that the outer template lacks. Input values are checked
 * when the outer template gets its arguments.
 */
export function checkReference(given: TemplateArguments | undefined, { parameters, outer, field }: Reference): void {
  const inputs = Object.entries(given ?? {}).filter(([name, argument]) => 'input' in argument && Object.hasOwn(parameters, name))
  for (const [name, argument] of inputs) {
    if ('input' in argument && !Object.hasOwn(outer, argument.input)) {
      throw badField(`${field}.${name}.input`, `names no parameter of the template: ${argument.input}`, 'UNKNOWN_INPUT')
    }
  }
  const names = new Set(inputs.map(([name]) => name))
  const without = <T>(record: Record<string, T>) => Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)))
  bindArguments(without(parameters), without(given ?? {}), { field })
}
