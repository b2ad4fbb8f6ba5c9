import { branchesOf, type JsonSchema, type OpenApiOperation, propertiesOf, requiredOf, resolveShape } from '@dendro/api'

export type Schemas = Readonly<Record<string, JsonSchema>>

const DEPTH_MAX = 6
const SAMPLE_UUID = '7d9f0c52-3c1e-4c5a-9a43-2f6f2c1b8e10'
const SAMPLE_MS = 1_767_225_600_000

/** Typical values by field name; the `examples` of a schema take precedence. */
const samples: ReadonlyMap<string, unknown> = new Map(
  Object.entries<unknown>({
    collection: 'shop',
    dataset: 'web',
    name: 'Checkout',
    description: 'Logs of the checkout',
    email: 'ada@example.org',
    first_name: 'Ada',
    last_name: 'Lovelace',
    password: 'correct horse battery staple',
    display_name: 'On call',
    timezone: 'Europe/Berlin',
    time_range: 'Last 1 hour',
    where: 'status >= 500',
    from_expr: "env = 'prod'",
    policy_type: 'LOG_FORBID',
    resource_type: 'LOG',
    resource_id: SAMPLE_UUID,
    principal_id: 'ReadOnly',
    actions: '*',
    roles: 'SearchApi',
    team: 'payments',
    url: 'https://hooks.example.org/alerts',
  }),
)

/** Returns a valid value of a schema: its required members, or the first member when none is required. */
export function exampleOf(schema: JsonSchema, schemas: Schemas, name = '', depth = 0): unknown {
  const shape = resolveShape(schema, schemas)
  if (Array.isArray(shape.examples)) return shape.examples[0]
  if (shape.const !== undefined) return shape.const
  if (Array.isArray(shape.enum)) return shape.enum.find((word) => word === samples.get(name)) ?? shape.enum[0]
  const branch = branchesOf(shape)[0]
  if (branch) return exampleOf(branch, schemas, name, depth)
  if (depth > DEPTH_MAX) return undefined
  switch (shape.type) {
    case 'object':
      return exampleObject(shape, schemas, depth)
    case 'array': {
      const item = exampleOf((shape.items ?? {}) as JsonSchema, schemas, name, depth + 1)
      return item === undefined ? [] : [item]
    }
    case 'integer':
    case 'number':
      return exampleNumber(shape, name)
    case 'boolean':
      return true
    default:
      return shape.type === 'string' || samples.get(name) !== undefined ? exampleText(shape, name) : {}
  }
}

function exampleObject(shape: JsonSchema, schemas: Schemas, depth: number): unknown {
  const properties = propertiesOf(shape)
  const values = shape.additionalProperties
  if (properties.length === 0) {
    return typeof values === 'object' && values !== null ? { team: exampleOf(values as JsonSchema, schemas, 'team', depth + 1) } : {}
  }
  const required = requiredOf(shape)
  const shown = required.length > 0 ? properties.filter(([name]) => required.includes(name)) : properties.slice(0, depth === 0 ? 1 : 0)
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property, schemas, name, depth + 1)]))
}

function exampleNumber(shape: JsonSchema, name: string): number {
  if (typeof shape.default === 'number') return shape.default
  if (/(_ts|_at|_until)$/.test(name)) return SAMPLE_MS
  return typeof shape.minimum === 'number' && shape.minimum > 0 ? shape.minimum : 10
}

function exampleText(shape: JsonSchema, name: string): string {
  if (shape.format === 'uuid') return SAMPLE_UUID
  if (shape.format === 'email') return 'ada@example.org'
  if (shape.format === 'uri') return 'https://example.org/'
  const sample = samples.get(name)
  return typeof sample === 'string' ? sample : name === '' ? 'text' : name.replaceAll('_', ' ')
}

/** A Sample is the body of an example request. */
export type Sample = { type: string; text: string }

const LINES_SAMPLE = '{"level": "error", "message": "payment failed", "order": 4711}'

/** bodySample is an example body; undefined for an endpoint without a body. */
export function bodySample(operation: OpenApiOperation, schemas: Schemas): Sample | undefined {
  const [first] = Object.entries(operation.requestBody?.content ?? {})
  if (!first) return undefined
  const [type, { schema }] = first
  return { type, text: type === 'application/json' ? JSON.stringify(exampleOf(schema, schemas), null, 2) : LINES_SAMPLE }
}

/** examplePath fills the parameters of a path with typical values. */
export function examplePath(path: string, operation: OpenApiOperation, schemas: Schemas): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters?.find((candidate) => candidate.in === 'path' && candidate.name === name)
    return encodeURIComponent(String(parameter ? exampleOf(parameter.schema, schemas, name) : SAMPLE_UUID))
  })
  const required = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query' && parameter.required)
  const pairs = required.map((parameter): [string, string] => [
    parameter.name,
    textOf(exampleOf(parameter.schema, schemas, parameter.name)),
  ])
  return pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(pairs)}`
}

const textOf = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(',') : String(value))

/** curlOf is the request as a shell command. */
export function curlOf(request: { method: string; url: string; isPublic: boolean; body: Sample | undefined }): string {
  const lines = [`curl ${request.method === 'GET' ? '' : `-X ${request.method} `}${quoted(request.url)}`]
  if (!request.isPublic) lines.push('-H "X-SERVICE-API-KEY: $DENDRO_API_KEY"')
  if (request.body) lines.push(`-H 'Content-Type: ${request.body.type}'`, `-d ${quoted(request.body.text)}`)
  return lines.join(' \\\n  ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
