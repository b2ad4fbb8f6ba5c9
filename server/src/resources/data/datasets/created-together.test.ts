import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { nextHour, openSenders, type Senders } from '../../../../../test/support/senders.ts'
import type { Db } from '../../../meta/meta.ts'
import { NEW_DATASETS_MAX } from './ensure.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())
afterEach(() => vi.restoreAllMocks())

/** Leaves margin for background statements; one creation per dataset would take hundreds. */
const STATEMENTS_MAX = 60
const HOUR_MS = 3_600_000

/** Counts the statements sent to the metadata store from now on, also within transactions. */
function countStatements(): () => number {
  const { meta } = senders.app.app.world
  let count = 0
  const counting =
    <Args extends unknown[], Answer>(ask: (...args: Args) => Answer) =>
    (...args: Args): Answer => {
      count += 1
      return ask(...args)
    }
  const counted = ({ all, one, run }: Db): Db => ({ all: counting(all) as Db['all'], one: counting(one) as Db['one'], run: counting(run) })
  const plain = counted({ all: meta.all, one: meta.one, run: meta.run })
  const { write } = meta
  vi.spyOn(meta, 'all').mockImplementation(plain.all as typeof meta.all)
  vi.spyOn(meta, 'one').mockImplementation(plain.one as typeof meta.one)
  vi.spyOn(meta, 'run').mockImplementation(plain.run)
  vi.spyOn(meta, 'write').mockImplementation((orgId, work) => write(orgId, (tx) => work(counted(tx))))
  return () => count
}

const bulkOf = (names: readonly string[]): string =>
  names.map((name) => `{"create":{"_index":"${name}"}}\n{"message":"first of ${name}"}\n`).join('')

const namesOf = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)

test('a post with 10,000 new datasets needs a handful of statements, keeps every event, and creates datasets up to the limit', async () => {
  nextHour(senders.app)
  const owner = await senders.app.newOrganization()
  const statements = countStatements()
  const reply = await senders.post(bulkOf(namesOf(10_000, 'many')), { owner, path: '/_bulk' })
  expect(reply.status).toBe(200)
  expect(statements()).toBeLessThan(STATEMENTS_MAX)
  vi.restoreAllMocks()
  const names = (await senders.datasets(owner)).map(({ dataset }) => dataset)
  expect(names.filter((name) => name.startsWith('many-'))).toHaveLength(NEW_DATASETS_MAX)
  const nowMs = senders.app.clock.nowMs()
  const search = {
    from_expr: '*',
    select: ['*'],
    from_ts: nowMs - HOUR_MS,
    to_ts: nowMs + HOUR_MS,
    limit: 1,
  }
  // One more is the warning about the others.
  const counted = await owner.ask<{ totals: { count: number } }>('POST', '/search', { body: search })
  expect([counted.status, counted.body.totals?.count]).toEqual([200, 10_001])
  // The overflow dataset contains one warning next to the events.
  const overflow = await senders.eventsIn('overflow', 'default', owner)
  expect(overflow.filter(({ severity }) => severity === 'warn')).toHaveLength(1)
})

test('tags that many known datasets lack are added to all of them together, and recorded for each', async () => {
  nextHour(senders.app)
  const owner = await senders.app.newOrganization()
  const names = namesOf(50, 'tagged')
  expect((await senders.post(bulkOf(names), { owner, path: '/_bulk' })).status).toBe(200)
  const statements = countStatements()
  const headers = { 'x-service-tags': 'env=prod' }
  expect((await senders.post(bulkOf(names), { owner, path: '/_bulk', headers })).status).toBe(200)
  expect(statements()).toBeLessThan(STATEMENTS_MAX)
  vi.restoreAllMocks()
  const tags = (await senders.datasets(owner)).filter(({ dataset }) => dataset.startsWith('tagged-')).map((one) => one.tags)
  expect(tags).toEqual(names.map(() => ({ env: 'prod' })))
  const { body } = await owner.ask<{ audit: { before: { tags?: object } | null; after: { tags?: object } | null }[] }>(
    'GET',
    '/audit?limit=200',
  )
  expect(body.audit.filter(({ before, after }) => before?.tags && JSON.stringify(after?.tags) === '{"env":"prod"}')).toHaveLength(50)
})
