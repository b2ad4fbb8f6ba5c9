import type { contract, Monitor, ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'

type MonitorPage = ReplyOf<typeof contract.monitors.list>

let app: TestApp
let org: TestOrganization
let web: string
let cart: string
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
  web = await createDataset('web')
  cart = await createDataset('cart')
})
afterAll(() => app?.close())

const createDataset = async (dataset: string): Promise<string> =>
  (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset } })).body.id

const plain = { comparison_operator: 'ABOVE', threshold: 10, window: 'Last 5 minutes', actions: [{ email: 'oncall@example.org' }] }

type Made = { name: string; from?: readonly string[]; from_expr?: string; status?: Monitor['status']; triggeredMs?: number; more?: object }

/** Creates a monitor and stores the status of an evaluation; without one it was not evaluated. */
async function create({ name, status, triggeredMs, more = {}, ...source }: Made): Promise<string> {
  const queries = [
    { name: 'a', select: ['count(*)'], where: `path = '/${name}'`, ...('from' in source ? source : { from_expr: '*', ...source }) },
  ]
  const { body } = await org.ask<Monitor>('POST', '/monitors', { body: { ...plain, name, queries, ...more } })
  if (status !== undefined)
    await app.app.world.meta.run(sql`
      update monitor_states set status = ${status}, last_trigger_ts = ${triggeredMs ?? null}, looked_at = 1, due_at = 9999999999999
      where monitor_id = ${body.id}`)
  return body.id
}

const list = async (parameters: string, key = org.key): Promise<MonitorPage> =>
  (await org.ask<MonitorPage>('GET', `/monitors?${parameters}`, { key })).body
const names = async (parameters: string): Promise<string[]> => (await list(parameters)).monitors.map(({ name }) => name)

/** One monitor of each kind. Their names are not in the order of their severity. */
async function createEach(): Promise<void> {
  await create({ name: 'muted alert', status: 'ALERT', triggeredMs: 9, more: { mute_until: -1 } })
  await create({ name: 'waits' })
  await create({ name: 'old alert', status: 'ALERT', triggeredMs: 5 })
  await create({ name: 'fine', status: 'OK', triggeredMs: 7 })
  await create({ name: 'new alert', status: 'ALERT', triggeredMs: 8 })
  await create({ name: 'a silence', status: 'NO_DATA' })
  await create({ name: 'warns', status: 'WARN', triggeredMs: 1 })
}

describe('the list of monitors', () => {
  test('is sorted by severity with the muted ones last, by the last trigger, or by name', async () => {
    await createEach()
    expect(await names('sort=severity')).toEqual(['new alert', 'old alert', 'warns', 'a silence', 'fine', 'waits', 'muted alert'])
    expect(await names('sort=last_trigger')).toEqual(['muted alert', 'new alert', 'fine', 'old alert', 'warns', 'a silence', 'waits'])
    expect(await names('sort=name')).toEqual(['a silence', 'fine', 'muted alert', 'new alert', 'old alert', 'waits', 'warns'])
  })

  test('is filtered by status and muted, and found by conditions and tags', async () => {
    await createEach()
    await create({ name: 'tagged', more: { tags: { team: 'payments' } } })
    expect(await names('sort=name&status=ALERT')).toEqual(['muted alert', 'new alert', 'old alert'])
    expect(await names('sort=name&status=ALERT&muted=false')).toEqual(['new alert', 'old alert'])
    expect(await names('muted=true')).toEqual(['muted alert'])
    expect(await names('status=OK')).toEqual(['fine'])
    expect((await names('status=WAITING')).toSorted()).toEqual(['tagged', 'waits'])
    expect(await names('search=TEAM%20payments')).toEqual(['tagged'])
    expect(await names(`search=${encodeURIComponent("path = '/warns'")}`)).toEqual(['warns'])
    const ids = (await list('status=ALERT')).monitors.slice(1).map(({ id }) => id)
    expect((await list(`monitor_ids=${ids.join(',')},${web}`)).monitors.map(({ id }) => id)).toEqual(ids)
    expect((await org.ask('GET', '/monitors?status=BAD')).status).toBe(400)
  })

  test('is filtered by whether a monitor has triggered, and by the datasets that it reads', async () => {
    await createEach()
    expect(await names('sort=last_trigger&triggered=true')).toEqual(['muted alert', 'new alert', 'fine', 'old alert', 'warns', 'a silence'])
    expect(await names('triggered=false')).toEqual(['waits'])
    expect((await list('limit=2&sort=last_trigger&triggered=true&totals=true')).totals?.found).toBe(6)
    const other = await createDataset('other')
    await create({ name: 'web', from: [web], status: 'OK', triggeredMs: 3 })
    await create({ name: 'both', from: [cart, web], status: 'OK', triggeredMs: 2 })
    await create({ name: 'by name', from_expr: "dataset = 'cart'" })
    await create({ name: 'elsewhere', from: [other] })
    const every = ['a silence', 'fine', 'muted alert', 'new alert', 'old alert', 'waits', 'warns']
    expect(await names(`sort=name&log_ids=${cart}`)).toEqual(['a silence', 'both', 'by name', ...every.slice(1)])
    expect(await names(`sort=last_trigger&triggered=true&log_ids=${web},${cart}&search=both`)).toEqual(['both'])
    expect(await names(`sort=name&log_id=${web}&log_ids=${other},${cart}&triggered=true`)).toEqual([
      'a silence',
      'both',
      ...every.slice(1, 5),
      'warns',
    ])
    const many = Array.from({ length: 101 }, () => web).join(',')
    expect((await org.ask('GET', `/monitors?log_ids=${many}`)).status).toBe(400)
  })

  test('has those of a metric definition, and none of another organization', async () => {
    await createEach()
    const [one, two] = [await create({ name: 'one' }), await create({ name: 'two' })]
    const { monitors } = await list(`monitor_ids=${one},${two}`)
    const metrics = monitors.map(({ metric_id }) => metric_id).join(',')
    expect(await names(`sort=name&metric_ids=${metrics}`)).toEqual(['one', 'two'])
    expect(await names(`metric_ids=${metrics}&per_metric=1&search=two`)).toEqual(['two'])
    expect(await names(`metric_ids=${web}`)).toEqual([])
    expect((await org.ask('GET', '/monitors?per_metric=1')).status).toBe(400)
    const other = await app.newOrganization()
    expect((await list(`metric_ids=${metrics}`, other.key)).monitors).toEqual([])
  })

  test('counts what the other filters select, on all pages', async () => {
    await createEach()
    const by_status = { ALERT: 3, WARN: 1, NO_DATA: 1, OK: 1, WAITING: 1 }
    expect((await list('totals=true&limit=1')).totals).toEqual({ all: 7, found: 7, by_status, muted: 1 })
    expect((await list('totals=true&limit=1&status=ALERT&muted=true')).totals).toEqual({ all: 7, found: 1, by_status, muted: 1 })
    const alerts = { ALERT: 3, WARN: 0, NO_DATA: 0, OK: 0, WAITING: 0 }
    expect((await list('totals=true&search=alert')).totals).toEqual({ all: 7, found: 3, by_status: alerts, muted: 1 })
    expect((await list('limit=1')).totals).toBe(undefined)
  })

  test('has groups, the one with the worst monitor first, with the totals of all pages', async () => {
    const gone = await createDataset('gone')
    await create({ name: 'a', from: [web], status: 'OK', more: { tags: { team: 'one' } } })
    await create({ name: 'b', from: [cart], status: 'WARN' })
    await create({ name: 'c', from: [web], status: 'ALERT', more: { tags: { team: 'one', tier: '1' } } })
    await create({ name: 'd', from: [web, cart], status: 'ALERT', more: { mute_until: -1 } })
    await create({ name: 'e', status: 'OK' })
    await create({ name: 'f', from_expr: "collection = 'shop'", status: 'OK' })
    await create({ name: 'g', from: [gone], status: 'OK' })
    expect((await org.ask('DELETE', `/datasets/${gone}`)).status).toBe(204)
    const groups = async (parameters: string): Promise<unknown[]> => {
      const { groups = [], monitors } = await list(parameters)
      expect(groups.flatMap(({ monitor_ids }) => monitor_ids)).toEqual(monitors.map(({ id }) => id))
      return groups.map(({ name, total, monitor_ids }) => [name, total, monitor_ids.length])
    }
    expect(await groups('group=status&sort=severity')).toEqual([
      ['ALERT', 2, 2],
      ['WARN', 1, 1],
      ['OK', 4, 4],
    ])
    expect(await groups('group=dataset&sort=severity')).toEqual([
      ['web', 2, 2],
      ['cart', 1, 1],
      ['', 1, 1],
      ['a deleted dataset', 1, 1],
      ["collection = 'shop'", 1, 1],
      ['cart, web', 1, 1],
    ])
    expect(await groups('group=tags&sort=name&limit=3')).toEqual([
      ['team: one, tier: 1', 1, 1],
      ['', 5, 2],
    ])
    expect(await names('group=dataset&sort=name&limit=2')).toEqual(['a', 'c'])
  })

  test('is counted and grouped without monitors of hidden datasets', async () => {
    await create({ name: 'of web', from: [web], status: 'ALERT' })
    await create({ name: 'of cart', from: [cart], status: 'OK' })
    const { id, key } = (
      await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'limited', roles: ['AdminApi'] } })
    ).body
    const principal = { principal_type: 'APIKEY', principal_id: id }
    const resource = { resource_type: 'LOG', resource_id: web }
    const policy = await org.ask('POST', '/policies', { body: { policy_type: 'LOG_FORBID', resource, actions: ['*'], principal } })
    expect(policy.status).toBe(201)
    const { monitors, groups, totals } = await list('totals=true&group=dataset&sort=severity&limit=5', key)
    expect(monitors.map(({ name }) => name)).toEqual(['of cart'])
    expect(groups?.map(({ name, total }) => [name, total])).toEqual([['cart', 1]])
    expect(totals).toEqual({ all: 1, found: 1, by_status: { ALERT: 0, WARN: 0, NO_DATA: 0, OK: 1, WAITING: 0 }, muted: 0 })
  })
})
