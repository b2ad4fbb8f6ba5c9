import type { Dashboard } from '@dendro/api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { exporting } from '../../server/src/resources/queries/exports/run.ts'
import { openAction } from './actions.fixture.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand
let dataset: string
let dashboard: string

const text = (value: unknown): string => encodeURIComponent(JSON.stringify(value))

async function make<T extends { id: string }>(path: string, body: object): Promise<T> {
  const { status, body: made } = await stand.org.ask<T>('POST', path, { body })
  expect(status, JSON.stringify(made)).toBe(201)
  return made
}

const POLL = { timeout: 240_000 }

/** drag takes a handle some way with the pointer. */
async function drag(page: Page, name: string, x: number, y: number): Promise<void> {
  const box = await page.getByRole('button', { name, exact: true }).boundingBox()
  if (!box) throw new Error(`${name} is not seen`)
  const [startX, startY] = [box.x + box.width / 2, box.y + box.height / 2]
  await page.mouse.move(startX, startY)
  await page.mouse.down()
  await page.mouse.move(startX + x / 2, startY + y / 2)
  await page.mouse.move(startX + x, startY + y)
  await page.mouse.up()
}

const openMenu = (page: Page, name: string) => page.getByRole('button', { name: `Actions for ${name}` }).click()

/** removeWidget removes a widget by its menu. */
async function removeWidget(page: Page, name: string): Promise<void> {
  await openMenu(page, name)
  await page.getByRole('button', { name: `Remove ${name}` }).click()
  await page
    .getByRole('dialog', { name: /^Remove “/ })
    .getByRole('button', { name: 'Remove' })
    .click()
}

/** makeDashboard has one widget of every kind, one of them over keys that no event has. */
async function makeDashboard(): Promise<string> {
  const query = { name: 'orders', select: ['count(*)'], from: [dataset], where: '', groups: ['region'] }
  const grouped = await make('/metrics/definitions', { name: 'Orders by region', queries: [query] })
  const whole = await make('/metrics/definitions', { name: 'Orders', queries: [{ ...query, groups: [] }] })
  const nothing = await make('/metrics/definitions', { name: 'Nothing', queries: [{ ...query, groups: [], where: "region = 'mars'" }] })
  const widgets = [
    { name: 'As lines', type: 'line', metric_ids: [grouped.id] },
    { name: 'As areas', type: 'area', metric_ids: [grouped.id] },
    { name: 'As bars', type: 'bar', metric_ids: [grouped.id] },
    { name: 'As a list', type: 'top-list', metric_ids: [grouped.id] },
    { name: 'As a number', type: 'score', metric_ids: [whole.id] },
    { name: 'As shares', type: 'pie', metric_ids: [grouped.id] },
    { name: 'As tiles', type: 'treemap', metric_ids: [grouped.id] },
    { name: 'As nothing', type: 'line', metric_ids: [nothing.id] },
  ]
  const widget_ids: string[] = []
  for (const widget of widgets) widget_ids.push((await make('/widgets', widget)).id)
  const inner = await make('/widgets', { name: 'Within', type: 'score', metric_ids: [whole.id] })
  widget_ids.push((await make('/widgets', { name: 'A frame', widget_ids: [inner.id] })).id)
  return (await make('/dashboards', { name: 'The shop', description: 'All of it', widget_ids })).id
}

describe.skipIf(browserPath === undefined)('dashboards, exports and usage in the web app', () => {
  beforeAll(async () => {
    stand = await openStand({ kinds: (world) => [exporting(world)] })
    const nowMs = stand.app.clock.nowMs()
    const regions = ['eu', 'eu', 'eu', 'us', 'us', '<b>moon</b>']
    await stand.send(
      'orders',
      Array.from({ length: 120 }, (_, index) => ({
        timestamp: new Date(nowMs - 60_000 - index * 10_000).toISOString(),
        level: 'info',
        message: `order ${index} placed`,
        region: regions[index % regions.length],
        took_ms: index,
        ...(index % 2 ? { till: 'north' } : {}),
      })),
    )
    const { datasets } = (await stand.org.ask<{ datasets: { id: string }[] }>('GET', '/datasets')).body
    dataset = datasets[0]?.id ?? ''
    dashboard = await makeDashboard()
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('a dashboard shows every type of widget, and a part of a chart links to its events', async () => {
    const page = await stand.open('/app/dashboards')
    await page.getByRole('link', { name: 'The shop' }).click()
    for (const name of ['As lines', 'As areas', 'As bars']) {
      await page
        .getByRole('region', { name })
        .getByRole('group', { name: /: 3 series of \d+ steps/ })
        .waitFor()
    }
    await page.getByRole('region', { name: 'As a number' }).getByText('120', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'A frame' }).getByRole('region', { name: 'Within' }).getByText('120', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'As nothing' }).getByText('No data in this range').waitFor()
    await page.getByRole('img', { name: /As shares: eu 50 %, us 33 %, <b>moon<\/b> 17 %/ }).waitFor()
    await page.getByRole('region', { name: 'As tiles' }).getByText('<b>moon</b>').first().waitFor()
    await page.getByRole('region', { name: 'As a list' }).getByRole('button', { name: '<b>moon</b>' }).click()
    await page.getByText('20 events ·').waitFor()
  })

  test('a widget opens in Explore with its query, range and shape, and becomes a monitor with its query and its alert line', async () => {
    const query = { name: 'a', select: ['max(took_ms)'], from_expr: "dataset = 'orders'", where: "level = 'info'", groups: ['till'] }
    const metric = await make('/metrics/definitions', { queries: [query, { ...query, name: 'b', select: ['min(took_ms)'] }] })
    const widget = await make('/widgets', {
      name: 'Slow tills',
      type: 'line',
      metric_ids: [metric.id],
      aux: { alert_line: 250, color: 'kept' },
    })
    const { id } = await make('/dashboards', { name: 'Tills', widget_ids: [widget.id] })
    const page = await stand.open(`/app/dashboards?id=${text(id)}&r=${text('Last 2 hours')}`)
    const card = page.getByRole('region', { name: 'Slow tills' })
    const legend = card.locator('figcaption')
    for (const name of ['max(took_ms) north', 'max(took_ms) (none)', 'min(took_ms) north', 'min(took_ms) (none)'])
      await legend.getByText(name, { exact: true }).waitFor()
    const color = await legend.locator('span', { hasText: 'max(took_ms) north' }).locator('span').first().getAttribute('style')
    await openMenu(page, 'Slow tills')
    await page.getByRole('link', { name: 'Edit Slow tills' }).click()
    await page.getByLabel('Warning line').fill('120')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await card.waitFor()
    const { aux } = (await stand.org.ask<{ aux: object }>('GET', `/widgets/${widget.id}`)).body
    expect(aux).toEqual({ alert_line: 250, warning_line: 120, color: 'kept' })
    await openMenu(page, 'Slow tills')
    await page.getByRole('link', { name: 'Create monitor' }).click()
    await expect.poll(() => page.getByLabel('Measure').first().textContent(), POLL).toBe('max(took_ms)')
    expect(await page.getByRole('group', { name: 'Query b' }).getByLabel('Measure').textContent()).toBe('min(took_ms)')
    expect(await page.getByLabel('Group by').first().textContent()).toBe('till')
    expect(await page.getByLabel('Filter').first().textContent()).toBe("level = 'info'")
    expect(await page.getByLabel('Datasets by selector').first().textContent()).toBe("dataset = 'orders'")
    expect(await page.getByLabel('Threshold', { exact: true }).inputValue()).toBe('250')
    await page.goBack()
    await openMenu(page, 'Slow tills')
    await page.getByRole('button', { name: 'Open in Explore' }).click()
    const explored = page
      .getByRole('list', { name: 'Legend' })
      .getByRole('listitem')
      .filter({ hasText: /max\(took_ms\)north/ })
    await explored.waitFor()
    expect(await explored.locator('span').first().getAttribute('style')).toBe(color)
    const params = new URL(page.url()).searchParams
    expect(Object.fromEntries(['d', 'q', 'by', 'fn', 'r', 'tab'].map((name) => [name, params.get(name)]))).toEqual({
      d: JSON.stringify([dataset]),
      q: "level = 'info'",
      by: '["till"]',
      fn: 'max(took_ms), min(took_ms)',
      r: 'Last 2 hours',
      tab: 'chart',
    })
  })

  test('the arrow keys read a chart, and Enter opens the events of a slice', async () => {
    const page = await stand.open(`/app/dashboards?id=${text(dashboard)}`)
    const card = page.getByRole('region', { name: 'As lines' })
    const chart = card.getByRole('group', { name: /: 3 series/ })
    await chart.focus()
    for (let step = 0; step < 8; step += 1) await page.keyboard.press('ArrowLeft')
    await card
      .locator('figcaption')
      .getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d/)
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByText(/\d+ events ·/).waitFor()
    expect(page.url()).toContain('/app/explore')
  })

  test('a dashboard is created, gets a widget, is arranged, edited and deleted', async () => {
    const page = await stand.open('/app/dashboards')
    await page.getByRole('button', { name: 'New dashboard' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('My own')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'Add a widget' }).click()
    await page.getByLabel('Name', { exact: true }).first().fill('Errors')
    await page.getByLabel('Visualization').selectOption('bar')
    await page.getByLabel('Group by').fill('region')
    await page
      .getByRole('region', { name: 'Preview' })
      .getByRole('group', { name: /^Preview: 3 series/ })
      .waitFor()
    await page.getByRole('button', { name: 'Add widget' }).click()
    const card = page.getByRole('region', { name: 'Errors' })
    await card.getByRole('group', { name: /: 3 series/ }).waitFor()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('button', { name: 'Resize Errors' }).press('ArrowLeft')
    await expect.poll(() => card.getAttribute('style'), POLL).toContain('span 5')
    // One column is a twelfth of the grid: a drag over five of them, and over two rows of 96 pixels.
    const column = ((await page.locator('.grid:has(> section)').boundingBox())?.width ?? 0) / 12
    await drag(page, 'Resize Errors', 7 * column, 0)
    await expect.poll(() => card.getAttribute('style'), POLL).toContain('span 12')
    await drag(page, 'Resize Errors', -8 * column, 2 * 96)
    await expect.poll(() => card.getAttribute('style'), POLL).toMatch(/span 4.*span 6/)
    await drag(page, 'Move Errors', 5 * column, 0)
    await expect.poll(() => card.getAttribute('style'), POLL).toContain('--col: 6 / span 4')
    await page.getByRole('button', { name: 'Done' }).click()
    // Who reloads sees what is kept by then.
    const kept = async () => (await stand.org.ask<{ dashboards: Dashboard[] }>('GET', '/dashboards')).body.dashboards
    await expect
      .poll(async () => (await kept()).find(({ name }) => name === 'My own')?.layout, POLL)
      .toMatchObject({ widget_layouts: [{ x: 5, w: 4 }] })
    await page.reload()
    await expect.poll(() => card.getAttribute('style'), POLL).toContain('--col: 6 / span 4')
    await openMenu(page, 'Errors')
    await page.getByRole('link', { name: 'Edit Errors' }).click()
    await page.getByLabel('Visualization').selectOption('score')
    await page.getByLabel('Group by').fill('')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await card.getByText('120', { exact: true }).waitFor()
    await openAction(page, 'Rename')
    await page.getByRole('textbox', { name: 'Name' }).fill('Renamed')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Renamed' }).waitFor()
    await removeWidget(page, 'Errors')
    await page.getByText('This dashboard has no widgets yet').waitFor()
    await openAction(page, 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('link', { name: 'The shop' }).waitFor()
    await expect.poll(() => page.getByText('Renamed').count()).toBe(0)
  })

  test('widgets are added to a frame and removed; the widgets of a removed frame stay on the dashboard', async () => {
    const metric = await make('/metrics/definitions', { queries: [{ name: 'a', select: ['count(*)'], from: [dataset], where: '' }] })
    const widget_ids: string[] = []
    for (const name of ['First', 'Second']) widget_ids.push((await make('/widgets', { name, type: 'score', metric_ids: [metric.id] })).id)
    const { id } = await make('/dashboards', { name: 'With a frame', widget_ids })
    const page = await stand.open(`/app/dashboards?id=${text(id)}`)
    await openAction(page, 'Add frame')
    await page.getByLabel('Name', { exact: true }).fill('The frame')
    await page.getByText('Missing: a widget in the frame.').waitFor()
    for (const name of ['First', 'Second']) await page.getByRole('button', { name: `Add ${name}`, exact: true }).click()
    await page.getByRole('button', { name: 'Move Second up' }).click()
    await page.getByRole('button', { name: 'Add frame' }).click()
    const frame = page.getByRole('region', { name: 'The frame' })
    await frame.getByRole('region', { name: 'Second' }).getByText('120', { exact: true }).waitFor()
    expect(await frame.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['Second', 'First'])
    await expect.poll(() => page.getByRole('heading', { level: 2 }).allTextContents(), POLL).toEqual(['The frame'])
    await openMenu(page, 'The frame')
    await page.getByRole('link', { name: 'Add a widget to The frame' }).click()
    await page.getByLabel('Name', { exact: true }).first().fill('Third')
    await page.getByRole('button', { name: 'Add widget' }).click()
    await frame.getByRole('region', { name: 'Third' }).waitFor()
    await openMenu(page, 'The frame')
    await page.getByRole('link', { name: 'Edit The frame' }).click()
    await page.getByRole('button', { name: 'Remove First' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(() => page.getByRole('heading', { level: 2 }).allTextContents(), POLL).toEqual(['The frame', 'First'])
    await removeWidget(page, 'The frame')
    await expect
      .poll(async () => (await page.getByRole('heading', { level: 2 }).allTextContents()).toSorted(), POLL)
      .toEqual(['First', 'Second', 'Third'])
  })

  test('a metric is saved, shows which widgets and monitors use it, and is deleted only when none does', async () => {
    const queries = [{ name: 'a', select: ['count(*)'], from: [dataset], where: '' }]
    const actions = [{ email: 'oncall@example.org' }]
    const watched = { name: 'Too many', comparison_operator: 'ABOVE', threshold: 1, window: 'Last 1 hour', queries, actions }
    const monitor = await make('/monitors', watched)
    const page = await stand.open('/app/dashboards')
    await page.getByRole('link', { name: 'Metrics' }).click()
    await page.getByRole('link', { name: 'New metric' }).click()
    await page.getByLabel('Name', { exact: true }).first().fill('Orders of the moon')
    await page.getByLabel('Filter').fill("region = '<b>moon</b>'")
    await page.getByRole('group', { name: /^Preview: 1 series/ }).waitFor()
    await page.getByRole('button', { name: 'Create metric' }).click()
    const row = page.getByRole('list', { name: 'Metrics' }).getByRole('listitem').filter({ hasText: 'Orders of the moon' })
    await row.getByText('not used').waitFor()
    await page.getByText(/^used by the monitor Too many/).waitFor()
    await stand.org.ask('DELETE', `/monitors/${monitor.id}`)
    await page.getByRole('button', { name: 'Delete Orders by region' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await row.getByRole('button', { name: 'Delete Orders of the moon' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect.poll(() => row.count(), POLL).toBe(0)
  })

  test('a dashboard is saved as a template, which is edited and used', async () => {
    const page = await stand.open(`/app/dashboards?id=${text(dashboard)}`)
    await openAction(page, 'Save as template')
    await page.getByLabel('Name of the template').fill('Like the shop')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('link', { name: 'templates', exact: true }).click()
    const all = page.getByRole('region', { name: 'Dashboards' })
    await all.getByRole('button', { name: 'Edit the template Like the shop' }).click()
    await all.getByRole('group', { name: 'Widget template 1' }).waitFor()
    await all.getByRole('button', { name: 'JSON', exact: true }).click()
    const written = all.getByLabel(/^JSON; texts contain/)
    const body = JSON.parse(await written.inputValue())
    await written.fill('{')
    await all.getByRole('button', { name: 'Save template' }).click()
    await all.getByText(/^Invalid JSON/).waitFor()
    await written.fill(JSON.stringify({ ...body, parameters: {} }))
    await all.getByRole('button', { name: 'Form', exact: true }).click()
    await all.getByLabel('Name', { exact: true }).fill('Shop of {{who}}')
    await all.getByRole('button', { name: 'Declare who' }).click()
    await all.getByText('uses who').waitFor()
    await all.getByRole('button', { name: 'Save template' }).click()
    await all.getByRole('link', { name: 'Use the template Shop of {{who}}' }).click()
    await page.getByLabel('who').fill('Ada')
    await page.getByRole('button', { name: 'Create dashboard' }).click()
    await page.getByRole('heading', { name: 'Shop of Ada', level: 1 }).waitFor()
    await page.getByRole('region', { name: 'A frame' }).getByRole('region', { name: 'Within' }).getByText('120', { exact: true }).waitFor()
    await openAction(page, 'Detach')
    await page.getByRole('dialog').getByRole('button', { name: 'Detach' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('dialog', { name: 'Actions' }).getByText('Delete', { exact: true }).waitFor()
    expect(await page.getByText('Detach', { exact: true }).count()).toBe(0)
  })

  test('charts are compared with the previous period', async () => {
    const page = await stand.open(`/app/dashboards?id=${text(dashboard)}`)
    const card = page.getByRole('region', { name: 'As lines' })
    await card.getByRole('group', { name: /: 3 series/ }).waitFor()
    expect(await card.getByText('previous period').count()).toBe(0)
    await openAction(page, 'Compare')
    await card.getByText('previous period').waitFor()
    expect(page.url()).toContain('before=true')
  })

  test('a template takes parameters, previews the dashboard, and creates it', async () => {
    const metric = await make('/metrics/definitions/templates', {
      name: 'Of a region',
      description: 'x',
      queries: [{ name: 'a', select: ['count(*)'], from_expr: '*', where: "region = '{{region}}'" }],
      parameters: { region: { type: 'STRING' } },
    })
    const widget = await make('/widgets/templates', {
      name: 'Orders of {{region}}',
      type: 'score',
      metrics: [{ id: metric.id, arguments: { region: { input: 'region' } } }],
      parameters: { region: { type: 'STRING' } },
    })
    await make('/dashboards/templates', {
      name: 'Region {{region}}',
      widgets: [{ id: widget.id, arguments: { region: { input: 'region' } } }],
      this_template_tags: {},
      parameters: { region: { type: 'STRING', description: 'which one' } },
    })
    const page = await stand.open('/app/dashboards')
    await page.getByRole('button', { name: 'From template' }).click()
    await page.getByRole('link', { name: 'Region {{region}}' }).click()
    await page.getByLabel('region').fill('us')
    await page.getByText('Orders of us').waitFor()
    await page.getByRole('button', { name: 'Create dashboard' }).click()
    await page.getByRole('heading', { name: 'Region us', level: 1 }).waitFor()
    await page.getByRole('region', { name: 'Orders of us' }).getByText('40', { exact: true }).waitFor()
  })

  test('an export shows its progress and is downloaded; loaded events are saved at once', async () => {
    const page = await stand.open(`/app/explore?q=${text("region = 'us'")}&r=${text('Last 1 hour')}`)
    await page.getByText('40 events ·').waitFor()
    await openAction(page, 'Export')
    const loaded = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    expect((await loaded).suggestedFilename()).toBe('events.csv')
    await page.getByRole('button', { name: 'Export all' }).click()
    const row = page.getByRole('list', { name: 'Exports' }).getByRole('listitem')
    await row.getByText('complete').waitFor()
    await row.getByText('40 events').waitFor()
    const file = page.waitForEvent('download')
    await row.getByRole('link', { name: 'Download' }).click()
    expect((await file).suggestedFilename()).toContain('ndjson')
    await row.getByRole('button', { name: /^Repeat the export of / }).click()
    await expect.poll(() => row.getByText('complete').count(), POLL).toBe(2)
    await page.getByRole('button', { name: 'Failed 0' }).click()
    await page.getByText('No export matches').waitFor()
    await page.getByRole('button', { name: 'Complete 2' }).click()
    for (const left of [1, 0]) {
      await row
        .first()
        .getByRole('button', { name: /^Delete the export of/ })
        .click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await expect.poll(() => row.count(), POLL).toBe(left)
    }
    await page.getByText('No exports yet').waitFor()
  })

  test('usage shows the ingestion by dataset and the searches by user', async () => {
    const page = await stand.open('/app/usage')
    // A store that is busy with other tests may say that it was too slow, which the page tells; then a person asks again.
    const again = page.getByRole('button', { name: 'Try again' }).first()
    const isCounted = async () => {
      if (await again.isVisible()) await again.click()
      return page.getByText(/120 events$/).isVisible()
    }
    await expect.poll(isCounted, { interval: 500 }).toBe(true)
    await page.getByRole('group', { name: /^Ingested: 1 series of \d+ steps/ }).waitFor()
    const own = page.getByRole('region', { name: 'By dataset' })
    await own.getByRole('link', { name: 'Events of shop / orders' }).waitFor()
    await own.getByRole('link', { name: 'shop / orders', exact: true }).click()
    await page.getByText('Only the dataset').waitFor()
    await page.getByRole('group', { name: /^shop \/ orders: 1 series of \d+ steps/ }).waitFor()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    expect((await saved).suggestedFilename()).toBe('usage.csv')
    await page.getByRole('link', { name: 'Show all' }).click()
    await page.getByRole('region', { name: 'Searched, by user' }).getByRole('link').first().click()
    await page.getByText('Only searches by').waitFor()
    await page
      .getByRole('region', { name: 'Searched by this user, by dataset' })
      .getByRole('link', { name: 'shop / orders', exact: true })
      .waitFor()
    await page.getByRole('link', { name: 'Show all' }).click()
    await page.getByRole('button', { name: 'Exported' }).click()
    await page.getByRole('region', { name: 'Exported over time' }).waitFor()
  })

  test('empty lists explain themselves, and a missing permission is shown', async () => {
    const empty = await stand.app.newOrganization()
    const key = empty.key
    for (const [path, said] of [
      ['/app/dashboards', 'No dashboards yet'],
      ['/app/exports', 'No exports yet'],
      ['/app/usage', 'Nothing was ingested'],
      ['/app/monitors', 'No monitors yet'],
    ] as const) {
      const page = await stand.open(path, { key })
      await page.getByText(said).waitFor()
    }
    const low = await stand.org.newKey(['IngestionApi'])
    for (const path of ['/app/dashboards', '/app/exports', '/app/usage']) {
      const page = await stand.open(path, { key: low })
      await page.getByText('You do not have permission').first().waitFor()
    }
  })

  test.each([
    ['light', 390],
    ['dark', 1280],
  ] as const)('axe finds no fault: %s, %d pixels', async (theme, width) => {
    const page = await stand.open('/app/dashboards', { theme, width })
    for (const [path, said] of [
      ['/app/dashboards', 'The shop'],
      [`/app/dashboards?id=${text(dashboard)}`, 'No data in this range'],
      [`/app/dashboards?id=${text(dashboard)}&before=true`, 'previous period'],
      [`/app/dashboards?id=${text(dashboard)}&widget=${text('new')}`, 'Preview'],
      [`/app/dashboards?id=${text(dashboard)}&frame=${text('new')}`, 'Widgets in the frame'],
      ['/app/dashboards?view=metrics', 'Orders by region'],
      ['/app/dashboards?view=metrics&metric=new', 'Preview'],
      ['/app/dashboards?view=templates', 'creates templates of the dashboard'],
      ['/app/exports', 'Exports'],
      ['/app/usage', 'shop / orders'],
      [`/app/usage?dataset=${text(dataset)}`, 'Only the dataset'],
    ] as const) {
      await page.goto(stand.app.url + path)
      await page.getByText(said).filter({ visible: true }).first().waitFor()
      expect(await axeFaults(page, path)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${path} is wider than the screen`).toBe(true)
    }
  })
})
