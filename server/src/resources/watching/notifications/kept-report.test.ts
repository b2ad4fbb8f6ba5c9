import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'
import { saveReport, selectReport } from './rows.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app?.close())

test('an alert keeps the first report that is written for it', async () => {
  const org = await app.newOrganization()
  const { meta } = app.app.world
  const query = { name: 'errors', select: ['count(*)'], from_expr: '*', where: 'level = error' }
  const actions = [{ email: 'oncall@example.org' }]
  const body = { name: 'Errors', comparison_operator: 'ABOVE', threshold: 2, window: 'Last 5 minutes', actions, queries: [query] }
  const monitor = await org.ask<{ id: string }>('POST', '/monitors', { body })
  expect(monitor.status).toBe(201)
  const id = randomUUID()
  await meta.run(sql`
    insert into monitor_events (org_id, id, monitor_id, time, monitor_status, previous_status)
    values (${org.orgId}, ${id}, ${monitor.body.id}, ${app.clock.nowMs()}, 'ALERT', 'OK')`)
  await saveReport(meta, org.orgId, id, 'The cart fails.')
  await saveReport(meta, org.orgId, id, 'The cart failed.')
  expect(await selectReport(meta, org.orgId, id)).toEqual({ ai_report: 'The cart fails.' })
})
