import type { TemplateParameters } from '@dendro/api'
import type { TraceableParser } from '@dendro/language/completions'
import { ParseTrace } from '@dendro/language/parse-trace'

/** Templates contain placeholders: a text has `{{name}}` where a parameter goes. */

/** Content is a template in the form of the API; members that a form does not know stay unchanged. */
export type TemplateContent = Readonly<Record<string, unknown>>

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g

/** The distinct placeholders of a text. */
export const placeholdersIn = (text: string): string[] => [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name.trim()))]

/** The declared parameters of a template. */
export const parametersOf = ({ parameters }: TemplateContent): TemplateParameters => (parameters ?? {}) as TemplateParameters

/** The parameters that a template uses in texts or arguments. */
export function placeholdersUsed({ parameters: _parameters, ...content }: TemplateContent): ReadonlySet<string> {
  const names = new Set<string>()
  const collect = (value: unknown, member: string) => {
    if (typeof value === 'string') for (const name of member === 'input' ? [value] : placeholdersIn(value)) names.add(name)
    else if (typeof value === 'object' && value !== null) for (const [name, inner] of Object.entries(value)) collect(inner, name)
  }
  collect(content, '')
  return names
}

/** Forms support these shapes; other content is edited as JSON. */
export type ContentShape = (value: unknown) => boolean
export const isText: ContentShape = (value) => typeof value === 'string'
export const isTextOrNumber: ContentShape = (value) => typeof value === 'string' || typeof value === 'number'
export const isTruth: ContentShape = (value) => typeof value === 'string' || typeof value === 'boolean'
export const isMap: ContentShape = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
export const listOf =
  (shape: ContentShape): ContentShape =>
  (value) =>
    Array.isArray(value) && value.every(shape)
export const mapOf =
  (shapes: Readonly<Record<string, ContentShape>>): ContentShape =>
  (value) =>
    isMap(value) && unsupportedMember(value as TemplateContent, shapes) === undefined
const isParameter = mapOf({ type: isText, description: isText })
const isReference: ContentShape = (value) => mapOf({ id: isText, arguments: isArguments })(value)
const isArguments: ContentShape = (value) => isMap(value) && Object.values(value as object).every(isMap)
export const references = { one: isReference, many: listOf(isReference) }
export const parameters: ContentShape = (value) => isMap(value) && Object.values(value as object).every(isParameter)

/** The first member that a form cannot show. */
export const unsupportedMember = (content: TemplateContent, shapes: Readonly<Record<string, ContentShape>>): string | undefined =>
  Object.keys(shapes).find((name) => content[name] !== undefined && !shapes[name]?.(content[name]))

/** The line of a JSON text with the member of a path such as `queries[0].where`. */
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

/** Parses a text with numbers or words in place of its placeholders, of the same length so that positions stay valid. */
export const withPlaceholders =
  (read: TraceableParser): TraceableParser =>
  (text, notes) => {
    if (placeholdersIn(text).length === 0) return read(text, notes)
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
