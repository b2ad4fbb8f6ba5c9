import type { Downtime, FailureBody } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app.close())

const log = '7d0c1b1e-0000-4000-8000-000000000001'
const once = { name: 'Deploy', description: 'Every change is loud', from: [log], static_time_range: { from: 1_000, to: 2_000 } }
const nightly = {
  name: 'Nights',
  description: 'Nobody is awake',
  from: [log],
  dynamic_time_range: { from_minute_of_day: 1_320, to_minute_of_day: 360, repeat_days: ['Monday', 'Sunday'] },
}
const create = (body: object) => org.ask<Downtime & FailureBody>('POST', '/monitors/downtimes', { body })

describe('the record', () => {
  test('a downtime is planned, listed, read, replaced and deleted', async () => {
    const made = await create(once)
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ ...once, suppress_recovery_alert: false, alert_strategy: 'DELAY' })
    expect(made.body.metadata.created_by?.type).toBe('API_KEY_ID')
    expect((await org.ask('GET', '/monitors/downtimes')).body).toEqual({ downtimes: [made.body] })
    expect((await org.ask('GET', `/monitors/downtimes/${made.body.id}`)).body).toEqual(made.body)
    const replaced = await org.ask<Downtime>('PUT', `/monitors/downtimes/${made.body.id}`, { body: { ...nightly, alert_strategy: 'DROP' } })
    expect(replaced.body).toMatchObject({ id: made.body.id, name: 'Nights', alert_strategy: 'DROP' })
    expect(replaced.body.static_time_range).toBeUndefined()
    expect(replaced.body.dynamic_time_range).toEqual({ ...nightly.dynamic_time_range, invert: false })
    expect((await org.ask('DELETE', `/monitors/downtimes/${made.body.id}`)).status).toBe(204)
    expect((await org.ask('GET', `/monitors/downtimes/${made.body.id}`)).status).toBe(404)
  })

  test('logs and monitors may be named before they exist, and count once', async () => {
    expect((await create({ ...once, from: [log, log.toUpperCase()] })).body.from).toEqual([log])
  })

  test.each([
    [{ ...once, name: '' }, 'name'],

    [{ ...once, description: 'x'.repeat(4_001) }, 'description'],
    [{ ...once, from: [] }, 'from'],
    [{ ...once, from: ['web'] }, 'from.0'],
    [{ ...once, static_time_range: undefined }, 'static_time_range'],
    [{ ...once, dynamic_time_range: nightly.dynamic_time_range }, 'static_time_range'],
    [{ ...once, static_time_range: { from: 2, to: 1 } }, 'static_time_range.to'],
    [{ ...once, alert_strategy: 'LATER' }, 'alert_strategy'],
    [{ ...nightly, dynamic_time_range: { from_minute_of_day: 0, to_minute_of_day: 1_441 } }, 'dynamic_time_range.to_minute_of_day'],
    [
      { ...nightly, dynamic_time_range: { from_minute_of_day: 0, to_minute_of_day: 1, repeat_days: ['MONDAY'] } },
      'dynamic_time_range.repeat_days.0',
    ],
  ])('%j is refused and names %s', async (body, field) => {
    const { status, body: failure } = await create(body)
    expect(status).toBe(400)
    expect(failure.errors?.[0]?.field).toBe(field)
  })
})
