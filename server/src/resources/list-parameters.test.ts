import type { ApiKey, Downtime, FailureBody, IngestRule, NotebookSummary, User } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'

const NOWHERE = '00000000-0000-4000-8000-000000000000'
const HOUR_MS = 3_600_000

type Lists = {
  users: User[]
  api_keys: ApiKey[]
  notebooks: NotebookSummary[]
  downtimes: Downtime[]
  ingest_rules: IngestRule[]
  next_cursor?: string
}

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app?.close())

/** Each record is created a second after the one before. */
async function create(path: string, body: object, owner = org): Promise<string> {
  app.clock.advance(1_000)
  const { status, body: created } = await owner.ask<{ id: string }>('POST', path, { body })
  expect(status).toBe(201)
  return created.id
}
const read = async (path: string, owner = org) => (await owner.ask<Lists>('GET', path)).body
const refused = async (path: string) => {
  const { status, body } = await org.ask<FailureBody>('GET', path)
  return [status, body.errors?.[0]?.field]
}
/** The names of all records, read in pages of two. */
async function inPages(path: string, namesOf: (lists: Lists) => string[]): Promise<string[]> {
  const names: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page: Lists = await read(`${path}limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
    expect(namesOf(page).length).toBeLessThanOrEqual(2)
    names.push(...namesOf(page))
    cursor = page.next_cursor
  }
  return names
}

test('notebooks are read in pages, the last changed first or by name, and found by words', async () => {
  const namesOf = ({ notebooks }: Lists) => notebooks.map(({ name }) => name)
  const first = await create('/notebooks', { name: 'b first', description: 'Orders of a day' })
  await create('/notebooks', { name: 'c second' })
  await create('/notebooks', { name: 'a third' })
  app.clock.advance(1_000)
  await org.ask('PATCH', `/notebooks/${first}`, { body: { description: 'Orders of two days' } })
  const whole = ['b first', 'a third', 'c second']
  expect(namesOf(await read('/notebooks'))).toEqual(whole)
  expect(await read('/notebooks')).not.toHaveProperty('next_cursor')
  expect(await inPages('/notebooks?', namesOf)).toEqual(whole)
  expect(await inPages('/notebooks?sort=name&', namesOf)).toEqual(whole.toSorted())
  expect(namesOf(await read('/notebooks?search=ORDERS%20two'))).toEqual(['b first'])
  expect(await refused('/notebooks?limit=0')).toEqual([400, 'limit'])
  expect(await refused('/notebooks?cursor=x')).toEqual([400, 'cursor'])
  expect(namesOf(await read('/notebooks?limit=5', await app.newOrganization()))).toEqual([])
})

test('downtimes are read in pages, in order of creation, by name, or those in progress first', async () => {
  const namesOf = ({ downtimes }: Lists) => downtimes.map(({ name }) => name)
  const nowMs = app.clock.nowMs()
  const once = (from: number, to: number) => ({ static_time_range: { from: nowMs + from * HOUR_MS, to: nowMs + to * HOUR_MS } })
  const never = { dynamic_time_range: { from_minute_of_day: 0, to_minute_of_day: 0 } }
  const always = { dynamic_time_range: { from_minute_of_day: 0, to_minute_of_day: 0, invert: true } }
  const all = {
    'f past': once(-2, -1),
    'e planned': once(1, 2),
    'd now': once(-1, 1),
    'c recurring': never,
    'b always': always,
    'a past': once(-2, -1),
  }
  for (const [name, times] of Object.entries(all))
    await create('/monitors/downtimes', { name, description: `at ${name}`, from: [NOWHERE], ...times })
  const newest = Object.keys(all).toReversed()
  expect(namesOf(await read('/monitors/downtimes'))).toEqual(newest)
  expect(await inPages('/monitors/downtimes?', namesOf)).toEqual(newest)
  expect(await inPages('/monitors/downtimes?sort=name&', namesOf)).toEqual(newest.toSorted())
  expect(await inPages('/monitors/downtimes?sort=phase&', namesOf)).toEqual([
    'b always',
    'd now',
    'e planned',
    'c recurring',
    'a past',
    'f past',
  ])
  expect(namesOf(await read('/monitors/downtimes?search=at%20PLANNED'))).toEqual(['e planned'])
  const range = `from_ts=${nowMs - HOUR_MS}&to_ts=${nowMs + HOUR_MS}`
  expect(namesOf(await read(`/monitors/downtimes?sort=name&${range}`))).toEqual(['b always', 'c recurring', 'd now'])
  expect(await refused('/monitors/downtimes?sort=old')).toEqual([400, 'sort'])
  expect(namesOf(await read('/monitors/downtimes?limit=5', await app.newOrganization()))).toEqual([])
})

test('API keys are read in pages, by ids, by a role and by words, each with its last use', async () => {
  const namesOf = ({ api_keys }: Lists) => api_keys.map(({ name }) => name)
  const made = namesOf(await read('/api-keys'))
  const ids = [await create('/api-keys', { name: 'b shop', roles: ['IngestionApi'], tags: { team: 'web' } })]
  ids.push(await create('/api-keys', { name: 'a directory', roles: ['ProvisioningApi'] }))
  const whole = ['a directory', 'b shop', ...made]
  expect(namesOf(await read('/api-keys'))).toEqual(whole)
  expect(await inPages('/api-keys?', namesOf)).toEqual(whole)
  expect(await inPages('/api-keys?sort=name&', namesOf)).toEqual(['a directory', 'b shop', ...made])
  expect(namesOf(await read(`/api-keys?api_key_ids=${ids.join(',')},${NOWHERE}`))).toEqual(['a directory', 'b shop'])
  expect(namesOf(await read('/api-keys?role=ProvisioningApi'))).toEqual(['a directory'])
  expect(namesOf(await read('/api-keys?search=TEAM%20web'))).toEqual(['b shop'])
  expect((await read('/api-keys?sort=name&limit=1000')).api_keys).toEqual((await read('/api-keys?sort=name')).api_keys)
  expect(await refused('/api-keys?api_key_ids=web')).toEqual([400, 'api_key_ids.0'])
  expect(namesOf(await read(`/api-keys?api_key_ids=${ids.join(',')}`, await app.newOrganization()))).toEqual([])
})

test('ingest rules are read in pages in the order in which they apply, and found by their filters', async () => {
  const namesOf = ({ ingest_rules }: Lists) => ingest_rules.map(({ name }) => name)
  const rule = (name: string, where: string) => create('/ingest-rules', { name, where, from_expr: '*', action: { type: 'DROP' } })
  const [b, a, c] = [
    await rule('b health', 'path = /health'),
    await rule('a debug', 'level = debug'),
    await rule('c ready', 'path = /ready'),
  ]
  expect((await org.ask('PUT', '/ingest-rules/order', { body: { rule_ids: [c, b, a] } })).status).toBe(200)
  const whole = ['c ready', 'b health', 'a debug']
  expect(namesOf(await read('/ingest-rules'))).toEqual(whole)
  expect(await inPages('/ingest-rules?', namesOf)).toEqual(whole)
  expect(await inPages('/ingest-rules?sort=newest&', namesOf)).toEqual(['c ready', 'a debug', 'b health'])
  expect(await inPages('/ingest-rules?sort=name&', namesOf)).toEqual(whole.toSorted())
  expect(namesOf(await read('/ingest-rules?search=PATH'))).toEqual(['c ready', 'b health'])
  expect(await refused('/ingest-rules?sort=old')).toEqual([400, 'sort'])
})

test('users are found by ids, status and role', async () => {
  const mailsOf = ({ users }: Lists) => users.map(({ email }) => email)
  const invite = (email: string, roles: string[]) => create('/users', { first_name: 'A', last_name: 'B', email, roles })
  const ids = [await invite('one@example.com', ['Administrator']), await invite('two@example.com', ['ReadOnly'])]
  expect(mailsOf(await read(`/users?user_ids=${ids.join(',')},${NOWHERE}`))).toEqual(['two@example.com', 'one@example.com'])
  expect(mailsOf(await read('/users?role=Administrator&status=INVITED'))).toEqual(['one@example.com'])
  expect(mailsOf(await read('/users?role=Admin'))).toEqual([])
  expect(mailsOf(await read('/users?status=INVITED&limit=1'))).toEqual(['two@example.com'])
  expect(await refused('/users?status=AWAY')).toEqual([400, 'status'])
  expect(mailsOf(await read(`/users?user_ids=${ids.join(',')}`, await app.newOrganization()))).toEqual([])
})
