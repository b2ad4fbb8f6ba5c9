import type { TemplateParameters } from '@dendro/api'
import { ParseTrace } from '@dendro/language/parse-trace'
import type { TraceableParser } from '@dendro/language/completions'

/** What a template leaves open: a text says `{{name}}` where a parameter goes. */

/** Content is a template as the service takes it; what a form does not know of it stays as it is. */
export type Content = Readonly<Record<string, unknown>>

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g

/** openIn are the parameters that a text names, each once. */
export const openIn = (text: string): string[] => [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name.trim()))]

/** askedIn are the parameters of a template. */
export const askedIn = ({ parameters }: Content): TemplateParameters => (parameters ?? {}) as TemplateParameters

/** usedIn are the parameters that something in a template names: a text, or an argument of a template within it. */
export function usedIn({ parameters: _parameters, ...content }: Content): ReadonlySet<string> {
  const names = new Set<string>()
  const look = (value: unknown, member: string) => {
    if (typeof value === 'string') for (const name of member === 'input' ? [value] : openIn(value)) names.add(name)
    else if (typeof value === 'object' && value !== null) for (const [name, inner] of Object.entries(value)) look(inner, name)
  }
  look(content, '')
  return names
}

/** The shapes that forms know; what has another one is written as JSON only. */
export type Shape = (value: unknown) => boolean
export const isText: Shape = (value) => typeof value === 'string'
export const isTextOrNumber: Shape = (value) => typeof value === 'string' || typeof value === 'number'
export const isTruth: Shape = (value) => typeof value === 'string' || typeof value === 'boolean'
export const isMap: Shape = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
export const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(shape)
export const mapOf =
  (shapes: Readonly<Record<string, Shape>>): Shape =>
  (value) =>
    isMap(value) && strangeIn(value as Content, shapes) === undefined
const isParameter = mapOf({ type: isText, description: isText })
const isReference: Shape = (value) => mapOf({ id: isText, arguments: isArguments })(value)
const isArguments: Shape = (value) => isMap(value) && Object.values(value as object).every(isMap)
export const references = { one: isReference, many: listOf(isReference) }
export const parameters: Shape = (value) => isMap(value) && Object.values(value as object).every(isParameter)

/** strangeIn is the first member that has not the shape a form knows. */
export const strangeIn = (content: Content, shapes: Readonly<Record<string, Shape>>): string | undefined =>
  Object.keys(shapes).find((name) => content[name] !== undefined && !shapes[name]?.(content[name]))

/** lineOf is the line of a JSON text in which a member stands that a path such as `queries[0].where` names. */
export function lineOf(json: string, path: string): number | undefined {
  let at = 0
  for (const name of path.split(/[.[\]]+/)) {
    if (name === '' || /^\d+$/.test(name)) continue
    const next = json.indexOf(`${JSON.stringify(name)}:`, at)
    if (next < 0) break
    at = next
  }
  return at === 0 ? undefined : json.slice(0, at).split('\n').length
}

/** openly reads a text with numbers or words in place of its parameters, whichever makes sense; positions stay as they are. */
export const openly =
  (read: TraceableParser): TraceableParser =>
  (text, notes) => {
    if (openIn(text).length === 0) return read(text, notes)
    const filled = ['1', 'x'].map((one) => text.replace(PLACEHOLDER, (found) => one.repeat(found.length)))
    const sensible = filled.find((one) => makesSense(read, one))
    return read(sensible ?? filled[1] ?? text, notes)
  }

function makesSense(read: TraceableParser, text: string): boolean {
  try {
    read(text, new ParseTrace())
    return true
  } catch {
    return false
  }
}
