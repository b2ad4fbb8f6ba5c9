import { buffer } from 'node:stream/consumers'
import { isUuid } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { parseJson } from '../../../http/json.ts'
import type { LongRawReply, RawCall, RawHandler, RequestHead } from '../../../http/raw-handler.ts'
import { badRequest, Failure, notFound } from '../../../kernel/errors.ts'
import { isObject } from '../../../kernel/json-object.ts'
import type { World } from '../../../world.ts'
import type { ScimObject } from './attribute-path.ts'
import { listResponse, readScimQuery, type ScimQuery, withAttributes } from './list-response.ts'
import { patched } from './patch.ts'
import { ScimFailure, scimErrorOf } from './scim-failure.ts'
import { changeScimGroup, createScimGroup, getScimGroup, listScimGroups, removeScimGroup } from './scim-groups.ts'
import { changeScimUser, createScimUser, getScimUser, listScimUsers, removeScimUser } from './scim-users.ts'
import { oneOf, resourceTypes, schemas, serviceConfig } from './service-description.ts'

type ScimRequest = { world: World; actor: Actor; id: string; query: ScimQuery; body: () => Promise<ScimObject> }
type Outcome = { status: 200 | 201; resource: ScimObject } | { status: 204 }
type Run = (request: ScimRequest) => Promise<Outcome>

const ROOT = '/scim/v2'
const MEDIA = 'application/scim+json'
const MEDIA_TYPES = [MEDIA, 'application/json']
const BODY_BYTES_MAX = 4 * 1_024 * 1_024
const BODY_DEPTH_MAX = 10

const read =
  (find: (request: ScimRequest) => Promise<ScimObject> | ScimObject): Run =>
  async (request) => ({ status: 200, resource: withAttributes(await find(request), request.query) })

const listed =
  (list: (request: ScimRequest) => Promise<readonly ScimObject[]> | readonly ScimObject[]): Run =>
  async (request) => ({ status: 200, resource: listResponse(await list(request), request.query) })

const baseOf = ({ actor }: ScimRequest): string => actor.facts.baseUrl

type Resources = {
  list: Parameters<typeof listed>[0]
  get: typeof getScimUser
  create: typeof createScimUser
  change: typeof changeScimUser
  remove: typeof removeScimUser
}

const users: Resources = {
  list: ({ world, actor, query }) => listScimUsers(world, actor, query.filter),
  get: getScimUser,
  create: createScimUser,
  change: changeScimUser,
  remove: removeScimUser,
}

const groups: Resources = {
  list: ({ world, actor }) => listScimGroups(world, actor),
  get: getScimGroup,
  create: createScimGroup,
  change: changeScimGroup,
  remove: removeScimGroup,
}

const ofAll = ({ list, create }: Resources): Record<string, Run> => ({
  GET: listed(list),
  POST: async (request) => ({
    status: 201,
    resource: withAttributes(await create(request.world, request.actor, await request.body()), request.query),
  }),
})

const ofOne = ({ get, change, remove }: Resources): Record<string, Run> => ({
  GET: read(({ world, actor, id }) => get(world, actor, uuidOf(id))),
  PUT: read(async ({ world, actor, id, body }) => change(world, actor, uuidOf(id), { replace: await body() })),
  PATCH: read(async ({ world, actor, id, body }) => {
    const request = await body()
    return change(world, actor, uuidOf(id), { patch: (before) => patched(before, request) })
  }),
  DELETE: async ({ world, actor, id }) => {
    await remove(world, actor, uuidOf(id))
    return { status: 204 }
  },
})

/** An id that no resource can have is unknown. */
function uuidOf(id: string): string {
  if (!isUuid(id)) throw notFound('resource', id)
  return id.toLowerCase()
}

const paths: readonly { name: string; path: RegExp; methods: Record<string, Run> }[] = [
  { name: 'config', path: /^\/ServiceProviderConfig$/i, methods: { GET: read((request) => serviceConfig(baseOf(request))) } },
  { name: 'resourceTypes', path: /^\/ResourceTypes$/i, methods: { GET: listed((request) => resourceTypes(baseOf(request))) } },
  {
    name: 'resourceType',
    path: /^\/ResourceTypes\/([^/]+)$/i,
    methods: { GET: read((request) => oneOf('resource type', resourceTypes(baseOf(request)), request.id)) },
  },
  { name: 'schemas', path: /^\/Schemas$/i, methods: { GET: listed((request) => schemas(baseOf(request))) } },
  {
    name: 'schema',
    path: /^\/Schemas\/([^/]+)$/i,
    methods: { GET: read((request) => oneOf('schema', schemas(baseOf(request)), request.id)) },
  },
  { name: 'users', path: /^\/Users$/i, methods: ofAll(users) },
  { name: 'user', path: /^\/Users\/([^/]+)$/i, methods: ofOne(users) },
  { name: 'groups', path: /^\/Groups$/i, methods: ofAll(groups) },
  { name: 'group', path: /^\/Groups\/([^/]+)$/i, methods: ofOne(groups) },
]

type Scim = { find(head: RequestHead): RawHandler | undefined }

/** Serves SCIM 2.0 (RFC 7643 and 7644), by which a directory manages the users and groups of an organization. */
export const openScim = (world: World): Scim => ({
  find: (head) => {
    if (head.path !== ROOT && !head.path.startsWith(`${ROOT}/`)) return undefined
    const found = paths.find(({ path }) => path.test(head.path.slice(ROOT.length)))
    return {
      action: `scim.${found?.name ?? 'unknown'}.${head.method.toLowerCase()}`,
      permission: 'provisioning_write',
      countsAs: 'reading',
      handle: (call) => handle(world, found, call),
      replyToFailure: (_head, failure, correlationId) => ({
        status: failure.status,
        headers: { ...failure.headers, 'content-type': `${MEDIA}; charset=utf-8`, 'x-correlation-id': correlationId },
        body: JSON.stringify(scimErrorOf(failure)),
      }),
    }
  },
})

async function handle(world: World, found: (typeof paths)[number] | undefined, { actor, head, body }: RawCall): Promise<LongRawReply> {
  if (!found) throw notFound('SCIM resource')
  const run = found.methods[head.method === 'HEAD' ? 'GET' : head.method]
  const allow = Object.keys(found.methods).join(', ')
  if (!run) throw new Failure(405, `${head.method.slice(0, 20)} is not available on this path; use ${allow}`, { headers: { allow } })
  const [, id = ''] = found.path.exec(head.path.slice(ROOT.length)) ?? []
  const query = readScimQuery(head.query)
  const outcome = await run({ world, actor, id: decoded(id), query, body: () => readBody(head, body) })
  if (outcome.status === 204) return { status: 204, headers: {}, body: '' }
  const { meta } = outcome.resource
  const location: Record<string, string> =
    outcome.status === 201 && isObject(meta) && typeof meta.location === 'string' ? { location: meta.location } : {}
  return {
    status: outcome.status,
    headers: { 'content-type': `${MEDIA}; charset=utf-8`, ...location },
    body: JSON.stringify(outcome.resource),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw badRequest('the path is not valid percent-encoding', { cause })
  }
}

async function readBody({ headers }: RequestHead, body: RawCall['body']): Promise<ScimObject> {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type === undefined || !MEDIA_TYPES.includes(type)) throw new Failure(415, `the content type must be ${MEDIA}`)
  if (headers['content-encoding'] && headers['content-encoding'] !== 'identity')
    throw new Failure(415, 'compressed bodies are not supported')
  let bytes = 0
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) body.destroy(new Failure(413, `a body has at most ${BODY_BYTES_MAX} bytes`))
  })
  const value = parseJson(await buffer(body))
  if (!isObject(value)) throw new ScimFailure('invalidSyntax', 'the body must be a JSON object')
  checkStorable(value, 0)
  return value
}

/** Rejects what cannot be stored as it was sent. */
function checkStorable(value: unknown, depth: number): void {
  if (depth > BODY_DEPTH_MAX) throw new ScimFailure('invalidSyntax', `the body nests deeper than ${BODY_DEPTH_MAX} levels`)
  if (typeof value === 'bigint') throw new ScimFailure('invalidValue', 'a number is larger than 2^53')
  if (typeof value === 'string' && value.includes('\0')) throw new ScimFailure('invalidValue', 'a text has a zero byte')
  if (Array.isArray(value)) for (const one of value) checkStorable(one, depth + 1)
  else if (isObject(value)) for (const part of Object.entries(value).flat()) checkStorable(part, depth + 1)
}
