import { contract, type FailureBody, type PatternRow } from '@dendro/api'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
let log: string
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  log = await send('web', [
    ...Array.from({ length: 5 }, (_, index) => JSON.stringify({ level: 'info', message: `user ${index} logged in from 10.0.0.${index}` })),
    ...Array.from({ length: 3 }, (_, index) => JSON.stringify({ level: 'error', msg: `payment ${1000 + index} failed` })),
    ...Array.from({ length: 2 }, (_, index) => JSON.stringify({ order: index, total: { net: index * 2 } })),
    'plain text 4711 here',
  ])
})
afterAll(() => app.close())

async function send(dataset: string, lines: readonly string[]): Promise<string> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  return body.datasets.find((one) => one.dataset === dataset)?.id ?? ''
}

type Answer = { patterns: PatternRow[] } & FailureBody
const ask = (search_details: object): Promise<Reply<Answer>> => org.ask<Answer>('POST', '/patterns', { body: { search_details } })

test('all matching events are counted by pattern, the most frequent first, with the message or the keys as template', async () => {
  const { status, body } = await ask({ from: [log] })
  expect(status).toBe(200)
  expect(contract.patterns.find.reply.safeParse(body).error?.issues ?? []).toEqual([])
  expect(body.patterns.map(({ template, count, log_id }) => [template, count, log_id === log])).toEqual([
    ['user <*> logged in from <*>', 5, true],
    ['payment <*> failed', 3, true],
    ['{"order":<*>,"total":{"net":<*>}}', 2, true],
    ['plain text <*> here', 1, true],
  ])
  for (const { id } of body.patterns) expect(id).toMatch(/^[\da-f]{16}$/)
})

test('an id finds the events of its pattern, and stays when others arrive', async () => {
  const before = (await ask({ from: [log], where: "level = 'error'" })).body.patterns
  expect(before.map(({ count }) => count)).toEqual([3])
  await send('web', ['something else 1', JSON.stringify({ message: 'payment 9 failed' })])
  const after = (await ask({ from_expr: "dataset = 'web'" })).body.patterns
  expect(after.find(({ id }) => id === before[0]?.id)).toMatchObject({ template: 'payment <*> failed', count: 4 })
  const found = await org.ask<{ totals: { count: number } }>('POST', '/search', {
    body: { from: [log], select: ['*'], where: `"@pattern" = '${before[0]?.id}'`, time_range: 'Last 1 hour' },
  })
  expect(found.body.totals.count).toBe(4)
})

test.each<[string, object, number]>([
  ['no dataset', {}, 400],
  ['both selectors', { from: ['00000000-0000-4000-8000-000000000000'], from_expr: '*' }, 400],
  ['a filter that is none', { from_expr: '*', where: 'a =' }, 400],
  ['datasets that do not exist', { from: ['00000000-0000-4000-8000-000000000000'] }, 404],
])('%s is refused', async (_, details, status) => {
  expect((await ask(details)).status).toBe(status)
})

test.each<[object, string]>([
  [{ from_expr: '*', where: 'a =' }, 'search_details.where'],
  [{ from_expr: 'dataset ==' }, 'search_details.from_expr'],
  [{ from_expr: '*', time_range: 'soon' }, 'search_details.time_range'],
  [{ from_expr: '*', from_ts: 1 }, 'search_details.from_ts'],
])('%j is refused and names %s', async (details, field) => {
  const { body } = await org.ask<FailureBody>('POST', '/patterns', { body: { search_details: details } })
  expect(body.errors?.[0]?.field).toBe(field)
  expect(body.details).toMatch(new RegExp(`^${field}`))
})

test('search_details are required', async () => {
  expect((await org.ask('POST', '/patterns', { body: {} })).status).toBe(400)
})

test('templates that were written before need no event, except for objects, whose values differ', async () => {
  const findTemplates = async (id: string, from_ts: number) => {
    const read = vi.spyOn(app.app.world.events, 'read')
    const { body } = await ask({ from: [id], from_ts, to_ts: app.clock.nowMs() + 1 })
    const isRead = read.mock.calls.some(([{ body: statement }]) => /\bseq in\b/.test(statement.toString()))
    read.mockRestore()
    return { templates: body.patterns.map(({ template }) => template).sort(), isRead }
  }
  const nowMs = app.clock.nowMs()
  const texts = await send('texts', ['queue 1 is full', 'queue 2 is full', JSON.stringify({ message: 'disk 3 is slow' })])
  const templates = ['disk <*> is slow', 'queue <*> is full']
  expect(await findTemplates(texts, nowMs - 60_000)).toEqual({ templates, isRead: true })
  expect(await findTemplates(texts, nowMs - 61_000)).toEqual({ templates, isRead: false })
  const objects = await send('objects', [JSON.stringify({ stop: { north: 1 } })])
  expect(await findTemplates(objects, nowMs - 60_000)).toEqual({ templates: ['{"stop":{"north":<*>}}'], isRead: true })
  expect(await findTemplates(objects, nowMs - 61_000)).toEqual({ templates: ['{"stop":{"north":<*>}}'], isRead: true })
})
