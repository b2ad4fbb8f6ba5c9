import type { Monitor } from '@dendro/api'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../server/src/meta/sql.ts'
import { createEvaluationRound } from '../../server/src/resources/watching/evaluations/evaluations.ts'
import { openAction } from './actions.fixture.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand
let dataset: string
let firing: Monitor

const HOUR_MS = 3_600_000
const rule = { comparison_operator: 'ABOVE', threshold: 5, window: 'Last 15 minutes', actions: [{ email: 'oncall@example.org' }] }
const create = async (body: object) => (await stand.org.ask<Monitor>('POST', '/monitors', { body })).body

/** events are quiet days with a burst of errors two days ago, and one just now. */
function events(nowMs: number): object[] {
  const at = (ageMs: number, more: object) => ({ timestamp: new Date(nowMs - ageMs).toISOString(), ...more })
  // All of the burst falls into one look, whatever the time is now: its end is ten seconds before five minutes to a quarter of an hour.
  const burstAgeMs = 48 * HOUR_MS + (nowMs % (HOUR_MS / 4)) + 310_000
  return [
    ...Array.from({ length: 200 }, (_, hour) =>
      at(hour * 0.8 * HOUR_MS + 90_000, { level: 'info', message: 'order placed', region: 'eu' }),
    ),
    ...Array.from({ length: 40 }, (_, index) =>
      at(burstAgeMs + index * 1_000, { level: 'error', message: 'payment failed', region: 'us' }),
    ),
    ...Array.from({ length: 40 }, (_, index) =>
      at(60_000 + index * 1_000, { level: 'error', message: 'payment failed', region: index % 3 ? 'eu' : 'us' }),
    ),
  ]
}

describe.skipIf(browserPath === undefined)('monitors in the web app', () => {
  beforeAll(async () => {
    stand = await openStand()
    await stand.send('orders', events(stand.app.clock.nowMs()))
    const { datasets } = (await stand.org.ask<{ datasets: { id: string }[] }>('GET', '/datasets')).body
    dataset = datasets[0]?.id ?? ''
    const queries = [{ name: 'errors', select: ['count(*)'], from: [dataset], where: "level = 'error'", groups: ['region'] }]
    firing = await create({ ...rule, name: 'Payments fail', description: 'Look at the till.', queries, ai_report_enabled: true })
    await create({
      ...rule,
      name: 'Nothing is sold',
      comparison_operator: 'BELOW',
      threshold: 0,
      queries: [{ ...queries[0], groups: [], where: '' }],
    })
    await create({ ...rule, name: 'A quiet one', mute_until: -1, queries })
    await createEvaluationRound(stand.app.app.world)(new AbortController().signal)
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('the list shows the worst status first, and is filtered by text and status', async () => {
    const page = await stand.open('/app/monitors')
    const rows = page.getByRole('list', { name: 'Monitors' }).getByRole('listitem')
    await rows.first().getByRole('link', { name: 'Payments fail' }).waitFor()
    await rows.first().getByRole('img', { name: 'Alert' }).waitFor()
    expect(await rows.count()).toBe(3)
    await page.getByLabel('Find a monitor').fill('sold')
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByLabel('Find a monitor').fill('')
    await page.getByRole('button', { name: /^Muted \d/ }).click()
    await rows.getByRole('link', { name: 'A quiet one' }).waitFor()
    await expect.poll(() => rows.count()).toBe(1)
  })

  test('a monitor that was never evaluated waits for its first evaluation, and is not OK', async () => {
    const own = await stand.app.newOrganization()
    const queries = [{ name: 'a', select: ['count(*)'], from_expr: '*', where: '' }]
    const { body } = await own.ask<Monitor>('POST', '/monitors', { body: { ...rule, name: 'Just created', queries } })
    expect(body.last_evaluated_ts).toBe(undefined)
    const page = await stand.open('/app/monitors', { key: own.key })
    const row = page.getByRole('list', { name: 'Monitors' }).getByRole('listitem')
    await row.getByRole('img', { name: 'Waiting for its first evaluation' }).waitFor()
    expect(await row.getByRole('img', { name: 'OK' }).count()).toBe(0)
    await page.getByRole('button', { name: 'OK 0' }).waitFor()
    await row.getByRole('link', { name: 'Just created' }).click()
    await page.getByText('Waiting for its first evaluation', { exact: true }).waitFor()
  })

  test('monitors are grouped by status, dataset and tags, and the selected ones are muted and unmuted together', async () => {
    const page = await stand.open('/app/monitors')
    await page.getByLabel('Group by').selectOption('status')
    await page.getByRole('list', { name: 'Monitors: Alert' }).getByRole('link', { name: 'Payments fail' }).waitFor()
    await page.getByLabel('Group by').selectOption('dataset')
    await page.getByRole('list', { name: 'Monitors: orders' }).getByRole('link', { name: 'Payments fail' }).waitFor()
    await page.getByLabel('Select Payments fail').check()
    await page.getByLabel('Select Nothing is sold').check()
    await page.getByText('2 selected').waitFor()
    await page.getByRole('button', { name: 'Mute 2 monitors' }).click()
    await page.getByRole('button', { name: 'For 1 hour' }).click()
    await page.getByRole('button', { name: 'Muted Nothing is sold' }).waitFor()
    await page.getByRole('button', { name: 'Muted Payments fail' }).waitFor()
    await page.getByRole('button', { name: 'Muted 2 monitors' }).click()
    await page.getByRole('button', { name: 'Unmute' }).click()
    await page.getByRole('button', { name: 'Mute Payments fail' }).waitFor()
  })

  test('a monitor is copied, and evaluates new patterns instead of a value', async () => {
    const page = await stand.open(`/app/monitors?id=${firing.id}`)
    await openAction(page, 'Copy')
    await expect.poll(() => page.getByLabel('Name', { exact: true }).last().inputValue()).toBe('Payments fail (copy)')
    await page.getByLabel('Evaluates').selectOption('NEW')
    await page.getByRole('textbox', { name: /^Compare with/ }).fill('2 days')
    await page.getByLabel('Group by').fill('')
    await page.getByRole('button', { name: 'Create monitor' }).click()
    await page.getByRole('heading', { name: 'Payments fail (copy)', level: 1 }).waitFor()
    await page.getByText(/^new patterns of level = 'error' above 5/).waitFor()
    const { monitors } = (await stand.org.ask<{ monitors: Monitor[] }>('GET', '/monitors')).body
    const copy = monitors.find(({ name }) => name === 'Payments fail (copy)')
    expect(copy?.aux).toEqual({ pattern_change: 'NEW', baseline: '2 days' })
    await stand.org.ask('DELETE', `/monitors/${copy?.id}`)
  })

  test('a monitor template is edited in a form, shows errors at their fields, is shown as JSON without loss, and is used', async () => {
    await stand.org.ask<{ id: string }>('POST', '/metrics/definitions/templates', {
      body: {
        name: 'Errors of a region',
        description: '',
        queries: [{ name: 'a', select: ['count(*)'], from: [dataset], where: "region = '{{region}}'" }],
        parameters: { region: { type: 'STRING' } },
      },
    })
    const page = await stand.open('/app/monitors')
    await page.getByRole('link', { name: 'Templates' }).click()
    await page.getByRole('button', { name: 'New monitor template' }).click()
    const form = page.getByRole('region', { name: 'New monitor template' })
    await form.getByRole('button', { name: 'Save template' }).click()
    await form.getByText('The request was rejected').waitFor()
    const metric = form.getByRole('group', { name: 'Metric template' })
    await metric.getByText(/^must be/).waitFor()
    await metric.getByLabel('Metric template').selectOption('Errors of a region')
    await metric.getByText("count(*) of region = '{{region}}'").waitFor()
    expect(await metric.getByLabel('region is').locator('option:checked').textContent()).toBe('parameter region')
    await form.getByLabel('Name', { exact: true }).first().fill('Errors in {{region}} {{zone}}')
    await form.getByText('zone is not declared').waitFor()
    await form.getByLabel('Name', { exact: true }).first().fill('Errors in {{region}}')
    await form.getByRole('button', { name: 'Remove the parameter service' }).click()
    await form.getByRole('textbox', { name: 'Threshold' }).fill('3')
    await form.getByRole('button', { name: 'Remove the parameter threshold' }).click()
    await form.getByRole('textbox', { name: 'Address' }).fill('oncall@example.org')
    await form.getByRole('button', { name: 'Remove the parameter email' }).click()
    await form.getByRole('button', { name: 'JSON', exact: true }).click()
    const json = form.getByLabel(/^JSON; texts contain/)
    const content = JSON.parse(await json.inputValue())
    expect(content).toMatchObject({
      threshold: '3',
      actions: '[{"email":"oncall@example.org"}]',
      metric: { arguments: { region: { input: 'region' } } },
      parameters: { region: { type: 'STRING' } },
    })
    await json.fill(JSON.stringify({ ...content, group_retention: 3_600_000, window: 'Sometimes' }, null, 2))
    await form.getByRole('button', { name: 'Form', exact: true }).click()
    await form.getByRole('button', { name: 'JSON', exact: true }).click()
    expect(JSON.parse(await json.inputValue())).toEqual({ ...content, group_retention: 3_600_000, window: 'Sometimes' })
    await json.fill(JSON.stringify({ ...content, window: 7 }, null, 2))
    await form.getByRole('button', { name: 'Form', exact: true }).click()
    await form.getByText('The form cannot show “window”. Edit it as JSON.').waitFor()
    await form.getByRole('button', { name: 'Save template' }).click()
    await form
      .getByRole('list', { name: 'Errors' })
      .getByText(/^Line \d+: /)
      .waitFor()
    await json.fill(JSON.stringify(content))
    await form.getByRole('button', { name: 'Form', exact: true }).click()
    await form.getByRole('button', { name: 'Make a parameter: window' }).click()
    await form.getByText('uses window').waitFor()
    await form.getByRole('button', { name: 'Save template' }).click()
    await page.getByRole('link', { name: 'Use the template Errors in {{region}}' }).click()
    await page.getByText(/^Missing: (region|window)\.$/).waitFor()
    await page.getByLabel('region').fill('us')
    await page.getByLabel('window').fill('Last 15 minutes')
    await page.getByRole('button', { name: 'Create monitor' }).click()
    await page.getByRole('heading', { name: 'Errors in us', level: 1 }).waitFor()
    await openAction(page, 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('link', { name: 'Payments fail' }).waitFor()
  })

  test('a monitor is saved as a template, whose threshold becomes a parameter; its metric template is edited in a form too', async () => {
    const page = await stand.open(`/app/monitors?id=${firing.id}`)
    await openAction(page, 'Save as template')
    await page.getByLabel('Name of the template').fill('Like the payments')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('link', { name: 'Add parameters' }).click()
    const form = page.getByRole('region', { name: 'Edit the monitor template' })
    await form.getByText("count(*) of level = 'error' by region").waitFor()
    expect(await form.getByRole('textbox', { name: 'Threshold' }).inputValue()).toBe('5')
    await form.getByRole('button', { name: 'Make a parameter: threshold' }).click()
    await form.getByRole('group', { name: 'Parameter threshold' }).waitFor()
    await form.getByRole('button', { name: 'Save template' }).click()
    await page.getByRole('list', { name: 'Monitors' }).getByText('parameters: threshold').waitFor()
    await page.getByRole('button', { name: 'Edit the template Like the payments' }).last().click()
    const metric = page.getByRole('region', { name: 'Edit the metric template' })
    const where = metric.getByRole('textbox', { name: 'Filter' })
    await metric.locator('.cm-content').and(where).fill('level = {{level}}')
    await metric.getByText('level is not declared').waitFor()
    expect(await where.locator('mark').count()).toBe(0)
    await metric.getByRole('button', { name: 'Declare level' }).click()
    await metric.getByText('uses level').waitFor()
    expect(await axeFaults(page, 'the form of a template')).toEqual([])
    await metric.getByRole('button', { name: 'Save template' }).click()
    await page.getByRole('list', { name: 'Metrics' }).getByText('parameters: level').waitFor()
  })

  test('a monitor is muted without end and unmuted', async () => {
    const page = await stand.open(`/app/monitors?find=${encodeURIComponent(JSON.stringify('sold'))}`)
    await page.getByRole('button', { name: 'Mute Nothing is sold' }).click()
    await page.getByRole('button', { name: 'Forever' }).click()
    await page.getByRole('button', { name: 'Muted Nothing is sold' }).click()
    await page.getByRole('button', { name: 'Unmute' }).click()
    await page.getByRole('button', { name: 'Mute Nothing is sold' }).waitFor()
  })

  test('a monitor shows why it alerts: the value of each group, the thresholds, the status changes and the notifications', async () => {
    const page = await stand.open('/app/monitors')
    await page.getByRole('link', { name: 'Payments fail' }).click()
    const evaluation = page.getByRole('region', { name: 'Last evaluation' })
    await evaluation.getByText('alerts above 5').waitFor()
    const eu = evaluation.getByRole('row').filter({ hasText: 'region:eu' })
    await eu.filter({ hasText: 'Alert' }).waitFor()
    expect(await eu.textContent()).toContain('26')
    await page.getByRole('region', { name: 'Changes' }).getByText('Alert').first().waitFor()
    await page.getByRole('group', { name: /^Evaluated values/ }).waitFor()
    await page.getByRole('link', { name: 'Events of this evaluation' }).click()
    await page.getByText('40 events ·').waitFor()
  })

  test('an evaluation, a group and a status change link to their events in that window', async () => {
    const searched = (url: string) => {
      const found = new URL(url).searchParams
      const { q, by } = { q: found.get('q') ?? '', by: found.get('by') ?? '' }
      return { q, by, widthMs: Number(found.get('t')) - Number(found.get('f')) }
    }
    const page = await stand.open(`/app/monitors?id=${firing.id}`)
    await page.getByRole('region', { name: 'Last evaluation' }).getByRole('link', { name: 'region:eu' }).click()
    await page.getByText('26 events ·').waitFor()
    await page.goBack()
    await page.getByRole('region', { name: 'Last evaluation' }).getByRole('link', { name: 'What changed?' }).click()
    await page.getByRole('region', { name: 'What changed' }).getByText('Counts are exact.').waitFor()
    expect(searched(page.url())).toMatchObject({ q: "level = 'error'", widthMs: HOUR_MS / 4 })
    await page.goBack()
    await page.getByRole('region', { name: 'Changes' }).getByRole('link').first().click()
    await page.waitForURL(/[?&]evaluation=\d+/)
    await page.goto(`${stand.app.url}/app/monitors?edit=${firing.id}`)
    const preview = page.getByRole('region', { name: 'Preview: last 7 days' })
    const chart = preview.getByRole('group', { name: /^Previewed values: .*Enter opens the events/ })
    await chart.focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/app\/explore/)
    expect(searched(page.url())).toEqual({ q: "level = 'error'", by: '["region"]', widthMs: HOUR_MS / 4 })
    await page.goBack()
    const change = preview
      .getByRole('region', { name: 'Previewed status changes' })
      .getByRole('row')
      .filter({ hasText: 'region:us' })
      .last()
    await change.getByRole('link').click()
    await page.getByText('40 events ·').waitFor()
    expect(searched(page.url())).toEqual({ q: `level = 'error' AND region = 'us'`, by: '', widthMs: HOUR_MS / 4 })
  })

  test('older evaluations are loaded to the end, and an old one is shown with its details', async () => {
    const { monitors } = (await stand.org.ask<{ monitors: Monitor[] }>('GET', '/monitors')).body
    const id = monitors.find(({ name }) => name === 'Nothing is sold')?.id ?? ''
    await stand.app.app.world.meta.run(sql`
      insert into monitor_evaluations (org_id, monitor_id, time, from_ts, to_ts, status, is_change, record)
      select org_id, monitor_id, time - n * 60000, from_ts - n * 60000, to_ts - n * 60000, status, is_change, record
      from monitor_evaluations, generate_series(1, 1500) n where monitor_id = ${id}`)
    const page = await stand.open(`/app/monitors?id=${id}`)
    const saw = page.getByRole('region', { name: 'Evaluations', exact: true })
    await saw.getByText(/^1.?000 evaluations/).waitFor()
    await saw.getByText(/^Oldest shown:/).waitFor()
    await saw.getByRole('button', { name: 'Load older' }).click()
    await saw.getByText(/^1.?501 evaluations/).waitFor()
    await saw.getByText(/^Oldest stored:/).waitFor()
    expect(await saw.getByRole('button', { name: 'Load older' }).count()).toBe(0)
    const { evaluations } = (await stand.org.ask<{ evaluations: { time: number }[] }>('GET', `/monitors/${id}/evaluations?limit=1`)).body
    await page.goto(`${stand.app.url}/app/monitors?id=${id}&evaluation=${(evaluations[0]?.time ?? 0) - 1_400 * 60_000}`)
    await page.getByRole('region', { name: /^Evaluation at/ }).waitFor()
  })

  test('changes and notifications are listed page by page, with the number of the rest', async () => {
    const queries = [{ name: 'all', select: ['count(*)'], from: [dataset], where: '', groups: [] }]
    const { id } = await create({ ...rule, name: 'A restless one', queries })
    const { meta } = stand.app.app.world
    const nowMs = stand.app.clock.nowMs()
    await meta.run(sql`
      insert into monitor_events (org_id, id, monitor_id, time, monitor_status, previous_status)
      select org_id, gen_random_uuid(), id, ${nowMs}::bigint - n * 60000, 'ALERT', 'OK' from monitors, generate_series(1, 450) n where id = ${id}`)
    await meta.run(sql`
      insert into monitor_notifications (org_id, id, monitor_id, alert_id, group_id, transition, previous_status, monitor_status, threshold, from_ts,
        to_ts, time, type, destination, occasion, state)
      select org_id, gen_random_uuid(), id, gen_random_uuid(), '', 'OK_TO_ALERT', 'OK', 'ALERT', 5, 0, 1, ${nowMs}::bigint - n * 60000, 'EMAIL',
        'oncall@example.org', '{}', 'SENT' from monitors, generate_series(1, 450) n where id = ${id}`)
    const page = await stand.open(`/app/monitors?id=${id}`)
    for (const name of ['Changes', 'Notifications']) {
      const list = page.getByRole('region', { name, exact: true })
      await list.getByRole('button', { name: 'Show 200 more of 250' }).click()
      await list.getByRole('button', { name: 'Show 50 more of 50' }).click()
      await expect.poll(() => list.getByRole('listitem').count()).toBe(450)
      expect(await list.getByRole('button', { name: /^Show / }).count()).toBe(0)
    }
    await stand.org.ask('DELETE', `/monitors/${id}`)
  })

  test('a test notification is sent, and is listed', async () => {
    const page = await stand.open(`/app/monitors?id=${firing.id}`)
    await openAction(page, 'Send a test notification')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Sent. The result is in the notifications below.').waitFor()
    await page.getByRole('region', { name: 'Notifications' }).getByText('oncall@example.org').first().waitFor()
  })

  test('a search in Explore becomes a monitor: it is previewed on the last 7 days, saved, edited and deleted', async () => {
    const page = await stand.open(`/app/explore?q=${encodeURIComponent(JSON.stringify("level = 'error'"))}&r=Last%201%20hour`)
    await openAction(page, 'Create monitor')
    const preview = page.getByRole('region', { name: 'Preview: last 7 days' })
    await preview.getByText(/^3 status changes, 3 notifications/).waitFor()
    await preview.getByRole('group', { name: /^Previewed values: 1 series/ }).waitFor()
    await expect.poll(() => page.getByLabel('Filter').textContent()).toBe("level = 'error'")
    expect(await page.getByLabel('Window').inputValue()).toBe('Last 1 hour')
    await preview.getByText(/^The highest value of 7 days is \d+\./).waitFor()
    await preview.getByRole('button', { name: /^Alert above/ }).click()
    expect(Number(await page.getByRole('textbox', { name: 'Threshold' }).inputValue())).toBeGreaterThan(1)
    await preview.getByText('No status changes.').waitFor()
    expect(await page.getByRole('button', { name: 'Create monitor' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Suggest' }).click()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).last().inputValue()).not.toBe('')
    await page.getByLabel('Name', { exact: true }).last().fill('From a question')
    await page.getByLabel('Address').fill('me@example.org')
    await page.getByRole('button', { name: 'Create monitor' }).click()
    await page.getByRole('heading', { name: 'From a question', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Threshold' }).fill('7')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/above 7 in the last 1 hour/).waitFor()
    await openAction(page, 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('link', { name: 'Payments fail' }).waitFor()
    await expect.poll(() => page.getByText('From a question').count()).toBe(0)
  })

  test('the filter of a monitor has suggestions and error marks, as in Explore', async () => {
    const page = await stand.open('/app/monitors?edit=new')
    const where = page.getByRole('textbox', { name: 'Filter' })
    await page.locator('.cm-content').and(where).click()
    await page.keyboard.type('lev')
    await page.getByRole('option', { name: /^level/ }).waitFor()
    await page.keyboard.press('Tab')
    await page.getByRole('option', { name: /^= is/ }).waitFor()
    await page.keyboard.type("== 'error' ")
    await page.keyboard.press('Escape')
    await expect.poll(() => where.locator('mark').textContent()).toBe('==')
    expect(await axeFaults(page, 'a monitor whose condition has a mistake')).toEqual([])
  })

  test('a dataset selector shows the errors of the service and suggests existing names and tags', async () => {
    const org = await stand.app.newOrganization()
    for (const [name, environment] of [
      ['till', 'production'],
      ['bench', 'lab'],
    ])
      await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset: name, tags: { environment } } })
    const page = await stand.open('/app/dashboards?view=metrics&metric=new', { key: org.key })
    await page.getByLabel('Name', { exact: true }).first().fill('Of production')
    await page.getByRole('button', { name: 'All datasets' }).click()
    await page.getByRole('button', { name: 'By a selector' }).click()
    const line = page.getByRole('textbox', { name: 'Datasets by selector' })
    await page.locator('.cm-content:focus').and(line).waitFor()
    const wrong = "environment ~ 'prod' AND dataset = 'till'"
    await page.keyboard.type(wrong)
    await page.keyboard.press('Escape')
    await expect.poll(() => line.locator('mark').textContent()).toBe('~')
    const refused = await org.ask<{ errors: { message: string; hint: string }[] }>(
      'GET',
      `/datasets?from_expr=${encodeURIComponent(wrong)}`,
    )
    const { message, hint } = refused.body.errors[0] ?? {}
    expect(message).toBe('~ is not available here')
    await page
      .getByRole('status')
      .filter({ hasText: `${message}: ${hint}` })
      .waitFor()
    expect(await axeFaults(page, 'a selector with a mistake')).toEqual([])
    await page.keyboard.press('Control+a')
    await page.keyboard.type('env')
    await page.getByRole('option', { name: /^environment/ }).waitFor()
    await page.keyboard.press('Tab')
    await page.getByRole('option', { name: /^!= is not, or is absent/ }).waitFor()
    await page.keyboard.type('= pro')
    await page.getByRole('option', { name: /^production/ }).waitFor()
    await page.keyboard.press('Tab')
    await expect.poll(() => line.textContent()).toBe("environment = 'production' ")
    expect(await line.locator('mark').count()).toBe(0)
    await page.getByRole('button', { name: 'Create metric' }).click()
    await page.getByRole('link', { name: 'Of production' }).waitFor()
    const kept = await org.ask<{ definitions: { queries: object[] }[] }>('GET', '/metrics/definitions')
    expect(JSON.stringify(kept.body)).toContain(`"from_expr":"environment = 'production'"`)
  })

  test('an error of the service is shown in the preview', async () => {
    const page = await stand.open('/app/monitors?edit=new')
    await page.getByLabel('Filter').fill('level ==== error')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('The request was rejected')
  })

  test('a downtime is created, edited, copied and deleted', async () => {
    const page = await stand.open('/app/downtimes')
    await page.getByText('No downtimes yet').waitFor()
    await page.getByRole('link', { name: 'New downtime' }).click()
    await page.getByLabel('Name').fill('Release')
    await page.getByLabel('Reason').fill('The till is made anew')
    await page.getByLabel('Payments fail').check()
    await page.getByRole('button', { name: 'Create downtime' }).click()
    const row = page.getByRole('list', { name: 'Downtimes' }).getByRole('listitem')
    await row.getByText('active').waitFor()
    await row.getByRole('button', { name: 'End Release' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click()
    await row.getByText('over', { exact: true }).waitFor()
    await row.getByRole('link', { name: 'Release', exact: true }).click()
    await page.getByRole('button', { name: 'Recurring' }).click()
    await page.getByLabel('Saturday').check()
    const next = page.getByRole('region', { name: /^Next occurrences, in/ })
    await next
      .getByText(/22:00 – \d{4}-\d\d-\d\d 06:00$/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await row.getByText('Sat 22:00 – 06:00').waitFor()
    await row.getByText('in UTC').waitFor()
    await row.getByRole('link', { name: 'Copy Release' }).click()
    await page.getByRole('heading', { name: 'Copy downtime' }).waitFor()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await row.getByRole('button', { name: 'Delete Release' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No downtimes yet').waitFor()
  })

  test('a new monitor is not shown as OK, and an evaluation shows whether its notifications were delivered', async () => {
    const queries = [{ name: 'a', select: ['count(*)'], from: [dataset], where: '' }]
    const fresh = await create({ ...rule, name: 'A fresh one', queries })
    const page = await stand.open(`/app/monitors?id=${fresh.id}`)
    // The preview of status changes below may name OK.
    const status = page.getByRole('paragraph').filter({ hasText: 'Waiting for its first evaluation' })
    await status.waitFor()
    expect(await status.getByText('OK', { exact: true }).count()).toBe(0)
    await stand.org.ask('DELETE', `/monitors/${fresh.id}`)
    await stand.app.app.world.meta.run(sql`
      update monitor_notifications set state = 'FAILED', failure_reason = 'no relay' where monitor_id = ${firing.id}`)
    await page.goto(`${stand.app.url}/app/monitors?id=${firing.id}`)
    const groups = page.getByRole('region', { name: 'Groups of this evaluation' })
    await groups.getByText('failed').first().waitFor()
    expect(await groups.getByText('sent', { exact: true }).count()).toBe(0)
  })

  test('a missing permission is an error, and a deleted monitor is named as such', async () => {
    const gone = await stand.open('/app/monitors?id=00000000-0000-4000-8000-000000000000')
    await gone.getByText('This monitor no longer exists').waitFor()
    const key = await stand.org.newKey(['IngestionApi'])
    const page = await stand.open('/app/monitors', { key })
    await page.getByText('You do not have permission').first().waitFor()
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('axe finds no fault: %s, %d pixels', async (theme, width) => {
    const page = await stand.open('/app/monitors', { theme, width })
    for (const [path, text] of [
      ['/app/monitors', 'Payments fail'],
      [`/app/monitors?id=${firing.id}`, 'Last evaluation'],
      [`/app/monitors?edit=${firing.id}`, /status changes, \d+ notifications/],
      ['/app/monitors?group=status', 'Group by'],
      ['/app/monitors?view=templates', 'Its queries become a metric template.'],
      ['/app/downtimes', 'No downtimes yet'],
      ['/app/downtimes?edit=new', 'Scope'],
    ] as const) {
      await page.goto(stand.app.url + path)
      await page.getByText(text).first().waitFor()
      expect(await axeFaults(page, path)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${path} is wider than the screen`).toBe(true)
    }
  })
})
