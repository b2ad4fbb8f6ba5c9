import type { Export } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { startWorker } from '../../../jobs/jobs.ts'
import { sql } from '../../../meta/sql.ts'
import { exporting } from './run.ts'

const EVENTS = 150_000
const POST_EVENTS = 15_000
const LEASE_MS = 86_400_000

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp({}, () => [])
  org = await app.newOrganization()
})
afterAll(() => app?.close())

test('an export in a long read is handed over by a stop, and another process completes it without waiting for the lease', async () => {
  const { world } = app.app
  for (let at = 0; at < EVENTS; at += POST_EVENTS) {
    const lines = Array.from({ length: POST_EVENTS }, (_, n) => JSON.stringify({ message: `event ${at + n} ${'ab'.repeat(200)}` }))
    const sent = await org.ask('POST', '/', { raw: lines.join('\n'), headers: { 'content-type': 'application/x-ndjson' } })
    expect(sent.status).toBe(200)
  }
  // Matches no event, so that one page reads everything.
  const where = `message LIKE "${'%a'.repeat(20)}%c%"`
  const made = await org.ask<Export>('POST', '/exports', { body: { search_details: { from_expr: '*', time_range: 'Last 1 hour', where } } })
  expect(made.status).toBe(201)
  const holder = () => world.meta.one<{ holder: string | null }>(sql`select holder from jobs where kind = 'export'`)
  const reading = async () => (await running()).length
  const running = () =>
    world.events.writer
      .query({
        query: `select query_id from system.processes where query like '%pattern_events_s%' and query not like '%system.processes%' and query like '%${'%a'.repeat(20)}%'`,
        format: 'JSONEachRow',
      })
      .then((answer) => answer.json<{ query_id: string }>())

  const first = startWorker(world, [exporting(world)], { leaseMs: LEASE_MS, pollMs: 10 })
  await expect.poll(reading, { interval: 5 }).toBeGreaterThan(0)
  await first.close()
  expect(await holder()).toEqual({ holder: null })
  await expect.poll(reading).toBe(0)

  const second = startWorker(world, [exporting(world)], { leaseMs: LEASE_MS, pollMs: 10 })
  const status = async () => (await org.ask<Export>('GET', `/exports/${made.body.export_id}`)).body.status
  await expect.poll(status, { timeout: 240_000 }).toBe('COMPLETE')
  await second.close()
})
