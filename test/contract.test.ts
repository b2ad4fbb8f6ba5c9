import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathNames, statusOf, systemRoles } from '../api/src/index.ts'
import { endpoints, fill, type Params, shapeOf, takes, unknownParams } from './contract/endpoints.ts'
import { answersUnknown, changesNothing, examples } from './contract/examples.ts'
import { mustBeCounted, mustFail } from './contract/failure.ts'
import { admin, auditOf, exampleFor, guarded, isOpen, mustSucceed, pathFor, send, withBody, withParams } from './contract/requests.ts'
import { optionalMembers, rootObjectsOf } from './contract/schemas.ts'
import { openStage, type Stage } from './contract/stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.app.close())

test('every endpoint of the contract is answered, also under its other paths', () => {
  const missing = endpoints.flatMap(({ name, endpoint }) =>
    [endpoint.path, ...(endpoint.aliases ?? [])]
      .map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1'))
      .filter((url) => !stage.app.app.http.hasRoute({ method: endpoint.method, url }))
      .map((url) => `${name} at ${url}`),
  )
  expect(missing).toEqual([])
})

test('no two endpoints share a method and a place, and names say where exceptions hold', () => {
  const places = endpoints.flatMap(({ endpoint }) =>
    [endpoint.path, ...(endpoint.aliases ?? [])].map((path) => `${endpoint.method} ${shapeOf(path)}`),
  )
  expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([])
  const known = new Set([...endpoints.map(({ name }) => name), ...withParams.map(({ law }) => law)])
  const listed = [...Object.keys(examples), ...Object.keys(answersUnknown), ...Object.keys(changesNothing)]
  expect(listed.filter((name) => !known.has(name))).toEqual([])
})

describe('without a valid credential nothing is done', () => {
  test.each(guarded)('$name', async (named) => {
    const ask = { params: unknownParams(named.endpoint) }
    mustFail(await send(stage, named, ask, {}), 401, named)
    for (const credential of Object.values(stage.shut)) mustFail(await send(stage, named, ask, credential), 401, named)
  })
})

describe('callers without the permission are refused before anything is looked up', () => {
  test.each(guarded.filter(({ endpoint }) => endpoint.permission !== 'any'))('$name', async (named) => {
    const ask = { params: unknownParams(named.endpoint) }
    for (const [role, credential] of Object.entries(stage.callers)) {
      const held: readonly string[] = systemRoles[role as keyof typeof systemRoles].permissions
      if (held.includes(named.endpoint.permission)) continue
      const reply = await send(stage, named, ask, credential)
      mustFail(reply, 403, { ...named, counted: true })
      if (named.endpoint.method !== 'GET')
        expect(await auditOf(stage, stage.own.org.key, reply), `${role} was refused`).toMatchObject({ outcome: 'refused' })
    }
  })
})

test('a key that only ingests reads nothing', () => {
  const readable = endpoints.filter(({ endpoint }) => {
    const { permission } = endpoint
    return permission !== 'public' && permission !== 'any' && systemRoles.IngestionApi.permissions.includes(permission)
  })
  expect(readable.filter(({ endpoint }) => endpoint.method === 'GET')).toEqual([])
})

describe('other paths of an endpoint answer the same', () => {
  const aliases = endpoints.flatMap((named) => (named.endpoint.aliases ?? []).map((alias) => ({ ...named, alias })))
  test.each(aliases)('$name at $alias', async (named) => {
    const ask = await exampleFor(named, stage.own)
    mustSucceed(named, await send(stage, named, ask, admin(stage.own, ask), named.alias))
  })
})

describe('a slash at the end and unknown query parameters change nothing', () => {
  test.each(endpoints)('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const query = [ask.query, 'surprise=1', 'surprise=%00', 'timeline_enabled='].filter(Boolean).join('&')
    mustSucceed(named, await send(stage, named, { ...ask, query }, admin(stage.own, ask), `${named.endpoint.path}/`))
  })
})

describe('a limit on a list acts, and has its bounds', () => {
  const limited = endpoints.filter(({ endpoint }) => endpoint.method === 'GET' && endpoint.query?.shape.limit !== undefined)

  test.each(limited)('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const requestWith = (limit: number) =>
      send(stage, named, { ...ask, query: [ask.query, `limit=${limit}`].filter(Boolean).join('&') }, admin(stage.own, ask))
    const one = await requestWith(1)
    mustSucceed(named, one)
    const lists = Object.values(one.body as Record<string, unknown>).filter(Array.isArray)
    // A list has one array; a response with several is a record, whose limit has tests of its own.
    if (lists.length === 1) expect(lists[0]?.length).toBeLessThanOrEqual(1)
    for (const limit of [0, 1e9]) mustFail(await requestWith(limit), 400, named)
  })

  test('which the audit trail shows on more than one record', async () => {
    for (const name of ['one', 'two']) await stage.own.made('/groups', { name: stage.own.word(name) })
    const { body } = await stage.own.org.ask<{ audit: unknown[] }>('GET', '/audit?limit=1')
    expect(body.audit).toHaveLength(1)
  })
})

describe('HEAD is GET without the body', () => {
  test.each(endpoints.filter(({ endpoint }) => endpoint.method === 'GET'))('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const reply = await stage.app.ask('HEAD', pathFor(named, ask), admin(stage.own, ask))
    expect(reply.status).toBe(statusOf(named.endpoint))
    expect(reply.body).toBe('')
    expect(reply.headers.get('content-type')).toContain((named.endpoint.media ?? 'application/json').split(';')[0])
    if (!isOpen(named)) mustBeCounted(reply)
  })
})

describe('a body that cannot be read is refused, whatever record the path names', () => {
  const unreadable: Record<string, string | Uint8Array> = {
    'half a JSON text': '{"name": "x"',
    'no JSON': 'name=x',
    'a second value': '{} {}',
    'a name that would reach into prototypes': '{"__proto__": {"admin": true}}',
    'a deeper name of that kind': '{"name": {"constructor": {"prototype": {"admin": true}}}}',
    'bytes that are no UTF-8': new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  }
  test.each(withBody)('$name', async (named) => {
    const credential = isOpen(named) ? {} : { key: stage.own.org.key }
    for (const [kind, raw] of Object.entries(unreadable)) {
      const reply = await stage.app.ask(named.endpoint.method, fill(named.endpoint.path, unknownParams(named.endpoint)), {
        ...credential,
        raw,
      })
      expect(reply.status, kind).toBe(400)
      mustFail(reply, 400, { ...named, counted: !isOpen(named) })
    }
  })
})

describe('a body of the wrong kind is refused', () => {
  test.each(withBody)('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const credential = admin(stage.own, ask)
    for (const body of ['text', 7, true, []]) {
      mustFail(await send(stage, named, { ...ask, body }, credential), 400, named)
    }
  })
})

describe('each missing required member of a body is reported by name, and no member accepts invalid values', () => {
  test.each(withBody)('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const credential = admin(stage.own, ask)
    const body = (ask.body ?? {}) as Record<string, unknown>
    for (const member of Object.keys(body)) {
      const { [member]: _, ...without } = body
      const missing = named.endpoint.body?.safeParse(without).error?.issues.some((issue) => issue.path[0] === member)
      if (missing) {
        const failure = mustFail(await send(stage, named, { ...ask, body: without }, credential), 400, named)
        expect(failure.details, `without ${member}`).toContain(member)
      }
      const failure = mustFail(
        await send(stage, named, { ...ask, body: { ...body, [member]: { nonsense: [null] } } }, credential),
        400,
        named,
      )
      expect(failure.errors?.[0]?.field, `with nonsense in ${member}`).toMatch(new RegExp(`^${member}\\b`))
    }
  })
})

describe('null for every optional member that a valid request leaves out changes nothing', () => {
  test.each(withBody)('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const objects = named.endpoint.body ? rootObjectsOf(named.endpoint.body) : []
    const nulls = Object.fromEntries(objects.flatMap(optionalMembers).map(({ name }) => [name, null]))
    mustSucceed(named, await send(stage, named, { ...ask, body: { ...nulls, ...(ask.body ?? {}) } }, admin(stage.own, ask)))
  })
})

describe('a malformed id in the path is refused; where ids are free, it is just unknown', () => {
  test.each(withParams)('$law', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const isFree = takes(named.endpoint, named.param, 'no-such-thing')
    if (isFree && answersUnknown[named.law] !== undefined) return
    const reply = await send(
      stage,
      named,
      { ...ask, params: { ...ask.params, [named.param]: 'no-such-thing' } },
      { key: stage.own.org.key },
    )
    mustFail(reply, isFree ? 404 : 400, { ...named, counted: !isOpen(named) })
  })
})

describe('another method on a known path is 405 and says which there are', () => {
  const byShape = Map.groupBy(
    endpoints.flatMap(({ endpoint }) => [endpoint.path, ...(endpoint.aliases ?? [])].map((path) => ({ endpoint, path }))),
    ({ path }) => shapeOf(path),
  )
  test.each([...byShape.keys()])('%s', async (shape) => {
    const here = byShape.get(shape) ?? []
    const methods: string[] = here.map(({ endpoint }) => endpoint.method)
    if (methods.includes('GET')) methods.push('HEAD')
    const path = here[0] ? fill(here[0].path, paramsOfPath(here[0].path)) : ''
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((candidate) => !methods.includes(candidate))) {
      const reply = await stage.own.org.ask(method, path)
      mustFail(reply, 405, { counted: true })
      expect(reply.headers.get('allow')?.split(', ').sort()).toEqual(methods.toSorted())
    }
    const options = await stage.app.ask('OPTIONS', path)
    expect(options.status).toBe(204)
    expect(options.headers.get('allow')?.split(', ').sort()).toEqual([...methods, 'OPTIONS'].sort())
  })
})

const paramsOfPath = (path: string): Params => Object.fromEntries(pathNames(path).map((name) => [name, randomUUID()]))

test.each(['/nowhere', '/datasets/a/b/c', '/v1/datasets', '/%F0%9F%8C%B3', '/docs/../secrets'])(
  'the unknown path %s is 404',
  async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) mustFail(await stage.own.org.ask(method, path), 404, { counted: true })
    mustFail(await stage.app.ask('GET', path), 401)
  },
)
