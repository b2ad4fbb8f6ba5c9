import { type Contract, type Endpoint, pathNames, statusOf } from './endpoint.ts'
import { systemRoles } from './permissions.ts'
import { type JsonSchema, Shapes } from './shapes.ts'
import { FailureBody } from './values.ts'

/** The version of the API description, which the specification fixes; the program has its own version. */
export const API_VERSION = '1.0.0'

export type OpenApiParameter = {
  name: string
  in: 'path' | 'query'
  required: boolean
  description?: string
  schema: JsonSchema
  style?: 'form'
  explode?: true
}
export type Content = Record<string, { schema: JsonSchema }>
export type ResponseObject = { description: string; headers?: Record<string, { $ref: string }>; content?: Content }
export type OpenApiOperation = {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  parameters?: OpenApiParameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, ResponseObject | { $ref: string }>
  security?: Record<string, string[]>[]
  'x-tier': string
  'x-permission': string
  'x-exception'?: string
  'x-roles': string[]
  'x-alias-of'?: string
}
export type OpenApiDocument = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string; description?: string }[]
  tags: { name: string; description: string }[]
  security: Record<string, string[]>[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, ResponseObject>
    headers: Record<string, { description: string; required: boolean; schema: JsonSchema }>
    securitySchemes: Record<string, JsonSchema>
  }
}

/** Writes the contract as an OpenAPI 3.1 document. Named shapes become components; each alias becomes its own path. */
export function openApiDocument(
  contract: Contract,
  options: { version?: string; servers: readonly { url: string; description?: string }[] },
): OpenApiDocument {
  const shapes = new Shapes()
  const failure = shapes.add(FailureBody, 'output')
  const entries = Object.entries(contract).flatMap(([noun, group]) =>
    Object.entries(group).map(([verb, endpoint]) => ({ noun, verb, endpoint, drawn: draw(shapes, endpoint) })),
  )
  const paths: OpenApiDocument['paths'] = {}
  for (const { noun, verb, endpoint, drawn } of entries) {
    for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
      const operation = operationOf({ noun, verb, endpoint, path }, drawn)
      paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation }
    }
  }
  const codes = [...new Set(entries.flatMap(({ endpoint }) => failureCodes(endpoint)))].sort((a, b) => a - b)
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: {
      title: 'Dendro',
      version: options.version ?? API_VERSION,
      description:
        'Log management: collect, search, export, monitor and report on log events. This document is generated from the contract that the service runs on. In a request body, null for an optional member counts as absent, unless the member accepts null.',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [...options.servers],
    tags: Object.keys(contract).map((noun) => ({ name: wordOf(noun), description: titleOf(noun) })),
    security: [{ apiKey: [] }, { bearer: [] }],
    paths,
    components: {
      schemas: {},
      responses: {
        ...Object.fromEntries(codes.map((code) => [`Failure${code}`, failureResponse(code, failure)])),
        Failure: { ...failureResponse(500, failure), description: 'Any other failure carries the same body.' },
      },
      headers: quotaHeaders,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-SERVICE-API-KEY',
          description: 'An API key; its roles determine its permissions.',
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A token from `POST /auth/login`. It takes precedence over an API key.',
        },
      },
    },
  }
  const settled = shapes.settle(document)
  settled.components.schemas = shapes.all()
  return settled
}

/** The name of a group on the command line: `apiKeys` is `api-keys`. */
export const wordOf = (noun: string): string => noun.replaceAll(/[A-Z]/g, (initial) => `-${initial.toLowerCase()}`)

/** The displayed name of a group: `apiKeys` is `API keys`. */
export function titleOf(noun: string): string {
  const words = wordOf(noun)
    .replaceAll('-', ' ')
    .replace(/\bapi\b/, 'API')
    .replace(/\bai\b/, 'AI')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const COMMON_FAILURES = [400, 401, 403, 429, 500]
const PUBLIC_FAILURES = [500]

/** Lists every failure status of an endpoint. */
export function failureCodes(endpoint: Endpoint): number[] {
  const isPublic = endpoint.permission === 'public'
  const takesInput =
    endpoint.body !== undefined || endpoint.takes !== undefined || endpoint.query !== undefined || pathNames(endpoint.path).length > 0
  const common = isPublic ? [...PUBLIC_FAILURES, ...(takesInput ? [400] : [])] : COMMON_FAILURES
  return [...new Set([...common, ...(endpoint.fails ?? [])])].sort((a, b) => a - b)
}

/** Names the system roles that may use an endpoint. */
export function rolesOf(endpoint: Endpoint): string[] {
  const { permission } = endpoint
  if (permission === 'public' || permission === 'any') return []
  return Object.entries(systemRoles)
    .filter(([, role]) => role.permissions.includes(permission))
    .map(([name]) => name)
}

const MEANINGS: Record<number, string> = {
  400: 'The request breaks a rule; `details` names the field and the rule.',
  401: 'The credential is missing, invalid or expired.',
  403: 'The caller lacks the permission.',
  404: 'There is no such record.',
  408: 'The body took too long to arrive.',
  409: 'A record with that name already exists, or the record is in use.',
  410: 'The requested result has expired.',
  413: 'The body is too large.',
  415: 'The encoding or content type of the body is not supported.',
  422: 'The idempotency key was used with another body before.',
  429: 'Too many requests; `Retry-After` says when to retry.',
  500: 'The service failed unexpectedly.',
  501: 'Not implemented in this service.',
  503: 'The service is starting, or a store does not respond; `Retry-After` says when to retry.',
}

/** Describes a failure status. */
export const meaningOf = (code: number): string => MEANINGS[code] ?? 'A failure.'

const quotaRefs = Object.fromEntries(
  ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)
const correlationRef = { 'X-Correlation-Id': { $ref: '#/components/headers/X-Correlation-Id' } }
const retryRef = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
const count = { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const quotaHeaders: OpenApiDocument['components']['headers'] = {
  'RateLimit-Limit': { description: 'Requests allowed in a window.', required: true, schema: count },
  'RateLimit-Remaining': { description: 'Requests left in the window.', required: true, schema: count },
  'RateLimit-Reset': { description: 'Seconds until the window ends.', required: true, schema: count },
  'Retry-After': { description: 'Seconds to wait before trying again.', required: true, schema: count },
  'X-Correlation-Id': { description: 'Finds this request in the log of the service.', required: true, schema: { type: 'string' } },
}

function failureResponse(code: number, schema: JsonSchema): ResponseObject {
  const waits = code === 429 || code === 503
  return {
    description: meaningOf(code),
    headers: { ...correlationRef, ...(code === 429 ? quotaRefs : {}), ...(waits ? retryRef : {}) },
    content: { 'application/json': { schema } },
  }
}

type Drawn = {
  params: JsonSchema | undefined
  query: JsonSchema | undefined
  body: JsonSchema | undefined
  reply: JsonSchema | undefined
  failure: JsonSchema | undefined
  needsBody: boolean
}

const draw = (shapes: Shapes, endpoint: Endpoint): Drawn => ({
  params: endpoint.params && shapes.add(endpoint.params, 'input'),
  query: endpoint.query && shapes.add(endpoint.query, 'input'),
  body: endpoint.body && shapes.add(endpoint.body, 'input'),
  reply: endpoint.reply && shapes.add(endpoint.reply, 'output'),
  failure: endpoint.failure && shapes.add(endpoint.failure, 'output'),
  needsBody: endpoint.body !== undefined && !endpoint.body.safeParse(undefined).success,
})

type ParameterLocation = { noun: string; verb: string; endpoint: Endpoint; path: string }

function operationOf({ noun, verb, endpoint, path }: ParameterLocation, drawn: Drawn): OpenApiOperation {
  const id = `${noun}.${verb}`
  const alias = path === endpoint.path ? undefined : (endpoint.aliases ?? []).indexOf(path as `/${string}`) + 1
  const parameters = [...pathParameters(path, drawn.params), ...queryParameters(id, drawn.query)]
  const isPublic = endpoint.permission === 'public'
  return {
    operationId: alias === undefined ? id : `${id}.alias${alias}`,
    tags: [wordOf(noun)],
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBodyOf(endpoint, drawn),
    responses: {
      ...Object.fromEntries(
        Object.entries({ [statusOf(endpoint)]: endpoint.reply ? 'Done.' : 'Done; there is no body.', ...endpoint.otherStatuses }).map(
          ([status, description]) => [status, successOf(endpoint, drawn, { status: Number(status), description })],
        ),
      ),
      ...Object.fromEntries(failureCodes(endpoint).map((code) => [code, failureOf(code, drawn)])),
      default: failureOf(undefined, drawn),
    },
    ...(isPublic ? { security: [] } : {}),
    'x-tier': endpoint.tier,
    'x-permission': endpoint.permission,
    ...(endpoint.exception ? { 'x-exception': endpoint.exception } : {}),
    'x-roles': rolesOf(endpoint),
    ...(alias === undefined ? {} : { 'x-alias-of': id }),
  }
}

type Success = { readonly status: number; readonly description: string }

const successOf = ({ permission, media, emptyStatuses }: Endpoint, { reply }: Drawn, { status, description }: Success): ResponseObject => ({
  description,
  headers: { ...(permission === 'public' ? {} : quotaRefs), ...correlationRef },
  ...(reply && !emptyStatuses?.includes(status) ? { content: { [media ?? 'application/json']: { schema: reply } } } : {}),
})

function requestBodyOf({ takes }: Endpoint, drawn: Drawn): Pick<OpenApiOperation, 'requestBody'> {
  if (takes)
    return { requestBody: { required: false, content: Object.fromEntries(takes.map((type) => [type, { schema: takenAs(type) }])) } }
  return drawn.body ? { requestBody: { required: drawn.needsBody, content: { 'application/json': { schema: drawn.body } } } } : {}
}

const takenAs = (type: string): JsonSchema =>
  type === 'application/json' ? {} : { type: 'string', ...(type === 'application/x-protobuf' ? { contentMediaType: type } : {}) }

function failureOf(code: number | undefined, { failure }: Drawn): ResponseObject | { $ref: string } {
  if (!failure) return { $ref: `#/components/responses/Failure${code ?? ''}` }
  return code === undefined ? { ...failureResponse(500, failure), description: 'Any other failure.' } : failureResponse(code, failure)
}

const UUID: JsonSchema = { type: 'string', format: 'uuid' }

function pathParameters(path: string, params: JsonSchema | undefined): OpenApiParameter[] {
  return pathNames(path).map((name) => ({ name, in: 'path', required: true, ...described(propertiesOf(params)[name] ?? UUID) }))
}

function queryParameters(id: string, query: JsonSchema | undefined): OpenApiParameter[] {
  if (!query) return []
  if (query.type !== 'object') throw new Error(`the query of ${id} must be an object, so that its parameters have names`)
  const required = (query.required ?? []) as string[]
  return Object.entries(propertiesOf(query)).map(([name, property]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...described(property),
    ...(property.type === 'array' ? { style: 'form', explode: true } : {}),
  }))
}

const propertiesOf = (schema: JsonSchema | undefined): Record<string, JsonSchema> =>
  (schema?.properties ?? {}) as Record<string, JsonSchema>

function described(property: JsonSchema): { description?: string; schema: JsonSchema } {
  const { description, ...schema } = property
  return typeof description === 'string' ? { description, schema } : { schema: property }
}
