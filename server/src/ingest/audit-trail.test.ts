import type { FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ask, openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { openEventWriter } from '../events/writer/writer.ts'
import { unavailable } from '../kernel/errors.ts'
import { sql } from '../meta/sql.ts'
import type { World } from '../world.ts'
import { auditTrail } from './audit-trail.ts'

type Found = { events: { message_kvs: Record<string, string> }[]; result: { '@status'?: string }[] }
type Named = { id: string; collection: string }
const HOUR_MS = 3_600_000

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  // Separate jobs need separate metadata. Only the test runs them.
  app = await openTestApp({}, () => [])
  org = await app.newOrganization()
})
afterAll(() => app.close())

const run = (world: World = app.app.world) => auditTrail(world).run()
const due = () => app.app.world.meta.all<{ audit_id: string }>(sql`select audit_id from audit_events_due`)
const records = async () => (await org.ask<{ audit: { id: string; action: string }[] }>('GET', '/audit?limit=1000')).body.audit
const SEARCH = `/search?${new URLSearchParams({ from_expr: "collection='.audit-trail'", from_ts: '1', limit: '1000' })}`
const search = (ask: Ask) => app.ask<Found>('GET', `${SEARCH}&to_ts=${app.clock.nowMs() + HOUR_MS}`, ask)
async function events(): Promise<Record<string, string>[]> {
  const { status, body } = await search({ key: org.key })
  expect(status).toBe(200)
  return body.events.map((event) => event.message_kvs)
}
const idsOf = async () => (await events()).map((event) => event.audit_id).toSorted()
const recorded = async () => (await records()).map(({ id }) => id).toSorted()

test('every audit record becomes one event with actor, action and record, however often the job runs', async () => {
  await org.ask('POST', '/groups', { body: { name: 'first' } })
  const group = (await records()).find(({ action }) => action === 'groups.create')
  await app.ask('POST', '/groups', { key: await org.newKey(['SearchApi']), body: { name: 'refused' } })
  await run()
  expect(await due()).toEqual([])
  expect(await idsOf()).toEqual(await recorded())
  const [made] = (await events()).filter(({ audit_id }) => audit_id === group?.id)
  expect(made).toMatchObject({ action: 'groups.create', outcome: 'done', actor_name: 'First key', level: 'info', 'after.name': 'first' })
  expect((await events()).find(({ outcome }) => outcome === 'refused')).toMatchObject({ action: 'groups.create', level: 'warn' })
  await run()
  expect(await idsOf()).toEqual(await recorded())
})

test.each([
  ['at once', 0],
  ['hours later, when the store has forgotten the idempotency keys', 5 * HOUR_MS],
])('a crash between insert and record, and another attempt %s, stores no event twice', async (_when, laterMs) => {
  await org.ask('POST', '/groups', { body: { name: `crash ${laterMs}` } })
  const { world } = app.app
  const waiting = await due()
  expect(waiting.length).toBeGreaterThan(0)
  const torn = new Proxy(world.meta, {
    get: (meta, name) => (name === 'run' ? () => Promise.reject(new Error('killed here')) : Reflect.get(meta, name)),
  })
  await expect(run({ ...world, meta: torn })).rejects.toThrow('killed here')
  expect(await due()).toEqual(waiting)
  expect(await idsOf()).toEqual(await recorded())
  app.clock.advance(laterMs)
  const forgetful = laterMs === 0 ? world : { ...world, writer: await openEventWriter(world.events, world) }
  await run(forgetful)
  expect(await due()).toEqual([])
  expect(await idsOf()).toEqual(await recorded())
  if (forgetful !== world) await forgetful.writer.close()
})

test('records that the store cannot accept now stay due and are stored later', async () => {
  await org.ask('POST', '/groups', { body: { name: 'away' } })
  const { world } = app.app
  const away = { ...world.writer, write: () => Promise.reject(unavailable('the store is away')) }
  await expect(run({ ...world, writer: away })).rejects.toThrow('the store is away')
  expect(await due()).toHaveLength(1)
  await run()
  expect(await idsOf()).toEqual(await recorded())
})

test('its events are for those who may read the audit trail', async () => {
  const key = await org.newKey(['SearchApi'])
  const datasets = await org.ask<{ datasets: Named[] }>('GET', '/datasets', { key })
  expect(datasets.body.datasets.map(({ collection }) => collection)).not.toContain('.audit-trail')
  expect((await search({ key })).body.events ?? []).toEqual([])
  const admin = await org.newUser(['Admin'])
  expect((await search({ token: admin.token })).body.events.length).toBeGreaterThan(0)
})

test('no retention can delete its events before the audit trail, which is kept forever', async () => {
  const { datasets } = (await org.ask<{ datasets: Named[] }>('GET', '/datasets')).body
  const id = datasets.find(({ collection }) => collection === '.audit-trail')?.id
  const put = await org.ask<FailureBody>('PUT', `/datasets/${id}`, { body: { collection: '.audit-trail', retention: 'DAYS_730' } })
  expect([put.status, put.body.errors?.[0]?.field]).toEqual([400, 'retention'])
  for (const [entity, from] of [
    ['LOG', `log:${id}`],
    ['LOG_SET', 'log:.audit-trail'],
  ]) {
    const body = { entity, category: 'DATASET_RETENTION', scope: { from }, retention: 'DAYS_30' }
    expect((await org.ask('POST', '/retention-rules', { body })).status).toBe(400)
  }
  await org.ask('POST', '/retention-rules', { body: { entity: 'ORGANISATION', category: 'DEFAULT_RETENTION', retention: 'DAYS_30' } })
  const kept = await org.ask<{ retention_days: number | null }>('GET', `/retention/${id}`)
  expect(kept.body.retention_days).toBeNull()
})
