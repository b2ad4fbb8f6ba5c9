import { expect, test } from 'vitest'
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { openApiDocument, titleOf, wordOf } from './openapi.ts'
import { listParameter } from './values.ts'

const Part = z.object({ size: z.int().default(1) }).meta({ id: 'Part' })
const Thing = z.object({ id: z.guid(), part: Part }).meta({ id: 'Thing' })
const Plain = z.object({ name: z.string() }).meta({ id: 'Plain' })
const Tree = z
  .object({
    name: z.string(),
    get branches() {
      return z.array(Tree)
    },
  })
  .meta({ id: 'Tree' })

const base = { permission: 'logs_read', tier: 'D', summary: 'Something' } as const

test('a schema that differs between request and response gets a second name, and so do the schemas that contain it', () => {
  const things = {
    create: endpoint({
      ...base,
      method: 'POST',
      path: '/things',
      body: z.object({ thing: Thing, plain: Plain }),
      reply: z.object({ thing: Thing, plain: Plain }),
    }),
  }
  const document = openApiDocument({ things }, { servers: [] })
  expect(Object.keys(document.components.schemas)).toEqual(['Error', 'Part', 'PartInput', 'Plain', 'Thing', 'ThingInput'])
  expect(document.components.schemas.ThingInput).toMatchObject({ properties: { part: { $ref: '#/components/schemas/PartInput' } } })
  expect(document.components.schemas.Part).toMatchObject({ required: ['size'] })
  const operation = document.paths['/things']?.post
  expect(operation?.requestBody?.content['application/json']?.schema).toMatchObject({
    properties: { thing: { $ref: '#/components/schemas/ThingInput' }, plain: { $ref: '#/components/schemas/Plain' } },
  })
})

test('a shape may contain itself when it has a name, and only then', () => {
  const get = endpoint({ ...base, method: 'GET', path: '/tree', reply: Tree })
  const { schemas } = openApiDocument({ trees: { get } }, { servers: [] }).components
  expect(schemas.Tree).toMatchObject({ properties: { branches: { items: { $ref: '#/components/schemas/Tree' } } } })
  const Nameless = z.object({
    get inner() {
      return Nameless.optional()
    },
  })
  const nameless = { get: endpoint({ ...base, method: 'GET', path: '/x', reply: z.object({ a: Nameless, b: Nameless }) }) }
  expect(() => openApiDocument({ nameless }, { servers: [] })).toThrow('needs a name')
})

test('two different shapes of one name are a mistake', () => {
  const Other = z.object({ other: z.boolean() }).meta({ id: 'Plain' })
  const group = {
    one: endpoint({ ...base, method: 'GET', path: '/one', reply: Plain }),
    two: endpoint({ ...base, method: 'GET', path: '/two', reply: Other }),
  }
  expect(() => openApiDocument({ group }, { servers: [] })).toThrow('two different schemas of the contract are named Plain')
})

test('a query becomes parameters: lists repeat, defaults are not required', () => {
  const query = z.object({ from: listParameter(z.string()), limit: z.int().max(9).default(5).describe('How many.') })
  const document = openApiDocument({ things: { list: endpoint({ ...base, method: 'GET', path: '/things', query }) } }, { servers: [] })
  expect(document.paths['/things']?.get?.parameters).toMatchObject([
    { name: 'from', in: 'query', required: false, style: 'form', explode: true, schema: { type: 'array' } },
    { name: 'limit', in: 'query', required: false, description: 'How many.', schema: { type: 'integer', maximum: 9, default: 5 } },
  ])
})

test('another path of an endpoint is listed and points to the first', () => {
  const get = endpoint({ ...base, method: 'GET', path: '/things/{thingId}', aliases: ['/stuff/{stuffId}'], fails: [404] })
  const { paths } = openApiDocument({ things: { get } }, { servers: [] })
  expect(paths['/stuff/{stuffId}']?.get).toMatchObject({
    operationId: 'things.get.alias1',
    'x-alias-of': 'things.get',
    parameters: [{ name: 'stuffId' }],
  })
  expect(Object.keys(paths['/things/{thingId}']?.get?.responses ?? {})).toEqual([
    '204',
    '400',
    '401',
    '403',
    '404',
    '429',
    '500',
    'default',
  ])
})

test('permissions are in the document, and public endpoints need no credential', () => {
  const group = {
    open: endpoint({ ...base, method: 'GET', path: '/open', permission: 'public' }),
    shut: endpoint({ ...base, method: 'GET', path: '/shut', permission: 'users_read', exception: 'self' }),
  }
  const { paths } = openApiDocument({ group }, { servers: [] })
  expect(paths['/open']?.get).toMatchObject({ security: [], 'x-permission': 'public', 'x-roles': [] })
  expect(paths['/shut']?.get).toMatchObject({ 'x-permission': 'users_read', 'x-exception': 'self', 'x-roles': ['Admin', 'AdminApi'] })
  expect(paths['/shut']?.get?.security).toBeUndefined()
})

test('groups have a command name and a display name', () => {
  expect([wordOf('apiKeys'), titleOf('apiKeys'), titleOf('savedSearches')]).toEqual(['api-keys', 'API keys', 'Saved searches'])
})
