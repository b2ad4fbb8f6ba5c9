import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import { type SourceSelection, sourceDatasets } from './source.ts'

const NOWHERE = '00000000-0000-4000-8000-000000000000'

let app: TestApp
let actor: Actor
let webId: string
beforeAll(async () => {
  app = await openTestApp()
  const org = await app.newOrganization()
  webId = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'c', dataset: 'web', tags: { env: 'prod' } } })).body.id
  await org.ask('POST', '/datasets', { body: { collection: 'c', dataset: 'api', tags: { env: 'dev' } } })
  actor = {
    orgId: org.orgId,
    orgNumber: 0,
    identity: { type: 'API_KEY_ID', id: NOWHERE },
    name: 'a test',
    roles: ['AdminApi'],
    permissions: new Set(),
    facts: {} as Actor['facts'],
  }
})
afterAll(() => app.close())

const read = async (source: SourceSelection): Promise<string[]> =>
  (await sourceDatasets(app.app.world, actor, source)).map(({ dataset }) => dataset)
const failure = async (source: SourceSelection): Promise<Failure> =>
  read(source).then(
    () => expect.unreachable(),
    (thrown) => {
      expect(thrown).toBeInstanceOf(Failure)
      return thrown
    },
  )

test('datasets are selected by ids, tags or an expression, and only the strongest applies', async () => {
  expect(await read({ from: [webId] })).toEqual(['web'])
  expect(await read({ from: [webId, NOWHERE], from_expr: ' ', from_tags: [] })).toEqual(['web'])
  expect(await read({ from: [webId], from_tags: ['env:dev'] })).toEqual(['api'])
  expect(await read({ from: [webId], from_tags: ['env:prod'], from_expr: 'dataset = api' })).toEqual(['api'])
})

test('saying nothing is a bad request that names both fields', async () => {
  for (const source of [{}, { from: [] }, { from_expr: '' }, { from_tags: [], from: [] }]) {
    expect(await failure(source)).toMatchObject({
      status: 400,
      message: 'from: give from or from_expr',
      errors: [{ code: 'MISSING_SOURCE' }],
    })
  }
})

test('a selector without a match is a 404 that names the reason', async () => {
  for (const source of [{ from: [NOWHERE] }, { from_expr: "logset = '.traces'" }, { from_tags: ['env:none'] }]) {
    expect(await failure(source)).toMatchObject({ status: 404, message: 'no datasets matched' })
  }
})
