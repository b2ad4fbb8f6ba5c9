import { expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import { enqueue } from '../../../jobs/jobs.ts'

test('the figures of the deployment are for administrators of the management organization alone', async () => {
  const app = await openTestApp()
  try {
    const other = await app.newOrganization()
    const refused = await other.ask<{ details: string }>('GET', '/metrics')
    expect(refused.status).toBe(403)
    expect(JSON.stringify(refused.body)).toContain('management')
    expect(JSON.stringify(refused.body)).not.toContain('dendro_')
    const reply = await app.ask<string>('GET', '/metrics', { key: app.managementKey })
    expect([reply.status, reply.body]).toEqual([200, expect.stringContaining('dendro_events_disk_free_bytes')])
  } finally {
    await app.close()
  }
})

test('metrics say what is held, what runs, what was counted and what is late', async () => {
  const app = await openTestApp({}, () => [])
  try {
    const sent = await app.ask('POST', '/ingest', {
      key: app.managementKey,
      headers: { 'x-service-collection': 'raw', 'x-service-dataset': 'metrics' },
      raw: '{"message":"counted"}',
    })
    expect(sent.status).toBe(200)
    const { world } = app.app
    await world.meta.write('*', (tx) =>
      enqueue(world, tx, { orgId: undefined, kind: 'a kind that no process runs', key: 'late', payload: {} }),
    )
    app.clock.advance(90_000)
    const read = await scrape(app)
    expect(read('dendro_events_total{outcome="stored"}')).toBe(1)
    expect(read('dendro_events_bytes_total')).toBe(21)
    expect(read('dendro_events_held_bytes{stage="bodies"}')).toBe(0)
    expect(read('dendro_events_held_bytes_max{stage="unstored"}')).toBeGreaterThan(0)
    expect(read('dendro_queries_waiting{class="caller"}')).toBe(0)
    expect(read('dendro_store_up{store="meta"}')).toBe(1)
    expect(read('dendro_work_pending{work="job a kind that no process runs"}')).toBe(1)
    expect(read('dendro_work_late_seconds{work="job a kind that no process runs"}')).toBeGreaterThanOrEqual(90)
    expect(read('dendro_work_pending{work="notifications"}')).toBe(0)
    expect(read('dendro_jobs_given_up{work="monitors"}')).toBe(0)
  } finally {
    await app.close()
  }
})

/** Reads all series by name and labels. */
async function scrape(app: TestApp): Promise<(series: string) => number | undefined> {
  const { body } = await app.ask<string>('GET', '/metrics', { key: app.managementKey })
  const values = new Map(
    body
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
  return (series) => values.get(series)
}
