import {
  branchesOf,
  type Contract,
  type JsonSchema,
  type OpenApiDocument,
  type OpenApiOperation,
  propertiesOf,
  requiredOf,
  shapeName,
} from '@dendro/api'

/** A schema of the contract that would hide a global type gets another name. */
const RENAMED: ReadonlyMap<string, string> = new Map([['Error', 'FailureBody']])

const CALL_OPTIONS = `/** Options of every call. */
export interface CallOptions {
  signal?: AbortSignal
  headers?: Readonly<Record<string, string>>
  /** True for a POST or PATCH that may be sent twice without harm, such as a search. Other methods decide it themselves. */
  repeatable?: boolean
}`

/** Writes the types of the client: one method for each endpoint, and the named schemas. */
export function declarationsOf(contract: Contract, document: OpenApiDocument): string {
  const operations = new Map(
    Object.values(document.paths).flatMap((item) => Object.values(item).map((operation) => [operation.operationId, operation] as const)),
  )
  const groups = Object.entries(contract).map(([noun, group]) => {
    const methods = Object.entries(group).flatMap(([verb, endpoint]) => {
      const operation = operations.get(`${noun}.${verb}`)
      return operation ? [methodOf(verb, `${endpoint.method} ${endpoint.path}`, operation, endpoint.takes !== undefined)] : []
    })
    return `  readonly ${noun}: {\n${methods.join('\n')}\n  }`
  })
  const named = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema.description, '')}export type ${nameOf(name)} = ${typeOf(schema)}`,
  )
  return [
    CALL_OPTIONS,
    `/** The client: \`client.<noun>.<verb>(call)\`. */\nexport interface DendroClient {\n${groups.join('\n')}\n}`,
    '/** Creates the client of a service. */\nexport declare function createClient(options: ClientOptions): DendroClient',
    ...named,
    '',
  ].join('\n\n')
}

function methodOf(verb: string, endpoint: string, operation: OpenApiOperation, takesBytes: boolean): string {
  const parameters = operation.parameters ?? []
  const [path, query] = (['path', 'query'] as const).map((place) => parameters.filter((parameter) => parameter.in === place))
  const member = (name: string, optional: boolean, type: string) => `${name}${optional ? '?' : ''}: ${type}`
  const body = operation.requestBody?.content['application/json']?.schema
  const members = [
    ...(path?.length ? [member('params', false, objectOf(path))] : []),
    ...(query?.length ? [member('query', !query.some(({ required }) => required), objectOf(query))] : []),
    ...(takesBytes
      ? [member('body', true, 'string | Uint8Array')]
      : body
        ? [member('body', operation.requestBody?.required !== true, typeOf(body))]
        : []),
  ]
  const isOptional = members.every((text) => /^\w+\?:/.test(text))
  const call = members.length === 0 ? 'CallOptions' : `{ ${members.join('; ')} } & CallOptions`
  return `${comment(`${operation.summary}. \`${endpoint}\``, '    ')}    ${verb}(call${isOptional ? '?' : ''}: ${call}): Promise<${replyOf(operation)}>`
}

function replyOf({ responses }: OpenApiOperation): string {
  const success = Object.entries(responses).find(([status]) => /^2/.test(status) && status !== '202' && status !== '206')?.[1]
  const content = success && 'content' in success ? Object.entries(success.content ?? {}) : []
  const [first] = content
  if (!first) return 'undefined'
  const [media, { schema }] = first
  return media === 'application/json' ? typeOf(schema) : 'string'
}

/** An object type of parameters. A list may be given as one value. */
const objectOf = (parameters: NonNullable<OpenApiOperation['parameters']>): string =>
  `{ ${parameters
    .map(({ name, required, schema }) => `${key(name)}${required ? '' : '?'}: ${typeOf(schema)}${required ? '' : ' | undefined'}`)
    .join('; ')} }`

/** The TypeScript type of a JSON Schema. */
export function typeOf(schema: JsonSchema): string {
  const name = shapeName(schema)
  if (name !== undefined) return nameOf(name)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  const branches = branchesOf(schema)
  if (branches.length > 0) return union(branches.map(typeOf))
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })))
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'number':
      return 'number'
    case 'integer':
      return schema.format === 'int64' && !(typeof schema.maximum === 'number') ? 'number | bigint' : 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `(${typeOf((schema.items ?? {}) as JsonSchema)})[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

const union = (types: readonly string[]): string =>
  [...new Set(types)].map((type) => (type.includes(' & ') ? `(${type})` : type)).join(' | ')

function objectType(schema: JsonSchema): string {
  const required = new Set(requiredOf(schema))
  const members = propertiesOf(schema).map(([name, inner]) => {
    const isRequired = required.has(name)
    return `${comment(inner.description, '  ')}  ${key(name)}${isRequired ? '' : '?'}: ${typeOf(inner)}${isRequired ? '' : ' | undefined'}`
  })
  const rest = schema.additionalProperties
  if (members.length === 0)
    return typeof rest === 'object' && rest !== null ? `{ [name: string]: ${typeOf(rest as JsonSchema)} }` : '{ [name: string]: unknown }'
  if (typeof rest === 'object' && rest !== null) members.push('  [name: string]: unknown')
  return `{\n${members.join('\n')}\n}`
}

const nameOf = (name: string): string => RENAMED.get(name) ?? name
const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

function comment(description: unknown, indent: string): string {
  return typeof description === 'string' && description !== ''
    ? `${indent}/** ${description.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`
    : ''
}
