import type { FailureBody, MetricDefinition } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const NOWHERE = '00000000-0000-4000-8000-000000000000'
type MetricList = { metric_definitions: MetricDefinition[]; next_cursor?: string }

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app?.close())

const query = { name: 'a', select: ['count(*)'], from_expr: '*', where: '' }
const create = async (body: object, owner = org): Promise<string> => {
  app.clock.advance(1_000)
  return (await owner.ask<{ id: string }>('POST', '/metrics/definitions', { body: { queries: [query], ...body } })).body.id
}
const list = async (parameters: string, owner = org): Promise<MetricList> =>
  (await owner.ask<MetricList>('GET', `/metrics/definitions?${parameters}`)).body
const ids = async (parameters: string, owner = org): Promise<string[]> =>
  (await list(parameters, owner)).metric_definitions.map(({ id }) => id)

describe('the list of metric definitions', () => {
  test('is read by ids, and found by name, description, conditions and formulas', async () => {
    const named = await create({ name: 'Orders', description: 'Of a day' })
    const plain = await create({ queries: [{ ...query, select: ['max(took_ms)'], where: "path = '/cart'", groups: ['host'] }] })
    const computed = await create({ name: 'Share', formulas: [{ name: 'f', expression: 'a * 100' }] })
    expect(await ids(`metric_ids=${named},${plain},${NOWHERE}`)).toEqual([plain, named])
    expect(await ids('search=of%20DAY%20orders')).toEqual([named])
    expect(await ids(`search=${encodeURIComponent("took_ms '/cart' host")}`)).toEqual([plain])
    expect(await ids(`search=${encodeURIComponent('* 100')}`)).toEqual([computed])
    const { status, body } = await org.ask<FailureBody>('GET', '/metrics/definitions?metric_ids=web')
    expect([status, body.errors?.[0]?.field]).toEqual([400, 'metric_ids.0'])
  })

  test('is sorted by name, in pages, with those last that have none, however long their conditions are', async () => {
    const long = (field: string) => `${field} = '${'語'.repeat(5_000)}'`
    const unnamed = [
      await create({ queries: [{ ...query, where: long('zone') }] }),
      await create({ queries: [{ ...query, where: long('host') }] }),
    ]
    const named = [await create({ name: 'b' }), await create({ name: 'a' })]
    const sorted = [...named.toReversed(), ...unnamed.toReversed()]
    expect(await ids('sort=name')).toEqual(sorted)
    const paged: string[] = []
    let page = await list('sort=name&limit=1')
    for (; page.next_cursor !== undefined; page = await list(`sort=name&limit=1&cursor=${page.next_cursor}`))
      paged.push(...page.metric_definitions.map(({ id }) => id))
    expect([...paged, ...page.metric_definitions.map(({ id }) => id)]).toEqual(sorted)
  })

  test('has nothing of another organization, by id or by name', async () => {
    const ours = await create({ name: 'ours' })
    const other = await app.newOrganization()
    expect(await ids(`metric_ids=${ours}`, other)).toEqual([])
    expect(await ids('search=ours&limit=5', other)).toEqual([])
  })
})
