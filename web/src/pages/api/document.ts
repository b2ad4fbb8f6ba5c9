/** The parts of the OpenAPI document that the page reads; the service makes it from the contract. */
export type Schema = {
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  examples?: unknown[]
  default?: unknown
  format?: string
  minimum?: number
  maximum?: number
  $ref?: string
  additionalProperties?: boolean | Schema
}
export type Parameter = { name: string; in: 'path' | 'query'; required: boolean; description?: string; schema: Schema }
export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { description?: string; content?: Record<string, { schema: Schema }>; $ref?: string }>
  'x-permission': string
  'x-roles': string[]
  'x-alias-of'?: string
}
export type OpenApi = {
  paths: Record<string, Record<string, Operation>>
  tags: { name: string; description: string }[]
  components: { schemas: Record<string, Schema> }
}
export type Entry = { method: string; path: string; operation: Operation }

/** entriesOf lists the operations of a document, each under one path. */
export const entriesOf = ({ paths }: OpenApi): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation['x-alias-of'] === undefined)
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

export function settled(schema: Schema, { components }: OpenApi): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (components.schemas[name] ?? {})
}

const DEPTH_MAX = 6

/** SampleOptions: `isWhole` includes optional members, `name` is the member that the sample is for. */
type SampleOptions = { name?: string; isWhole?: boolean; depth?: number }

/** sampleOf is a value that a schema takes, to begin a request with. */
export function sampleOf(given: Schema, document: OpenApi, { name = '', isWhole = false, depth = 0 }: SampleOptions = {}): unknown {
  const schema = settled(given, document)
  const [example] = schema.examples ?? []
  if (example !== undefined) return example
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const [first] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []
  if (first) return sampleOf(first, document, { name, isWhole, depth })
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object' || schema.properties) {
    if (depth > DEPTH_MAX) return {}
    const members = Object.entries(schema.properties ?? {}).filter(
      ([member]) => (isWhole && depth === 0) || schema.required?.includes(member),
    )
    return Object.fromEntries(
      members.map(([member, one]) => [member, sampleOf(one, document, { name: member, isWhole, depth: depth + 1 })]),
    )
  }
  if (type === 'array')
    return schema.items && depth < DEPTH_MAX ? [sampleOf(schema.items, document, { name, isWhole, depth: depth + 1 })] : []
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0
  if (type === 'boolean') return false
  return type === 'string' ? sampleText(schema, name) : {}
}

/** sampleText is a text of the asked form; where any will do, the name of its member. */
function sampleText({ format }: Schema, name: string): string {
  if (format === 'uuid') return '00000000-0000-4000-8000-000000000000'
  return format === 'email' ? 'someone@example.org' : name
}

/** typeText says in a few words what a value may be. */
export function typeText(given: Schema, document: OpenApi): string {
  if (given.$ref) return given.$ref.split('/').at(-1) ?? ''
  const alternatives = given.anyOf ?? given.oneOf
  if (alternatives) return [...new Set(alternatives.map((one) => typeText(one, document)))].join(' or ')
  if (given.enum) return given.enum.map((one) => JSON.stringify(one)).join(' or ')
  if (given.const !== undefined) return JSON.stringify(given.const)
  if (given.type === 'array') return `list of ${given.items ? typeText(given.items, document) : 'anything'}`
  const type = Array.isArray(given.type) ? given.type.join(' or ') : given.type
  return given.format ? `${type ?? 'value'} (${given.format})` : (type ?? 'anything')
}
