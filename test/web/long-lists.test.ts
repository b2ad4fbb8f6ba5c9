import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createEvaluationRound } from '../../server/src/resources/watching/evaluations/evaluations.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { takePicture } from './pictures.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** Lists with more records than a page has, which the web app never reads whole. */

let stand: Stand

const RECORDS = 230
const PAGE = 100
const AT_ONCE = 10
const numbers = Array.from({ length: RECORDS }, (_, n) => n)
const nameOf = (n: number): string => `watch ${String(n).padStart(3, '0')}`
const rule = { comparison_operator: 'ABOVE', threshold: 5, window: 'Last 15 minutes', actions: [{ email: 'oncall@example.org' }] }

async function createAll(path: string, bodyOf: (n: number) => object): Promise<readonly string[]> {
  const ids: string[] = []
  for (let first = 0; first < RECORDS; first += AT_ONCE) {
    const sent = numbers.slice(first, first + AT_ONCE).map((n) => stand.org.ask<{ id: string }>('POST', path, { body: bodyOf(n) }))
    const made = await Promise.all(sent)
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
    ids.push(...made.map(({ body }) => body.id))
  }
  return ids
}

const listPaths = [
  '/datasets',
  '/monitors',
  '/dashboards',
  '/widgets',
  '/metrics/definitions',
  '/saved-searches',
  '/retention',
  '/retention-rules',
  '/users',
  '/collections',
]

/** The requests of a page for whole lists. */
function wholeLists(page: Page): readonly string[] {
  const found: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (request.method() === 'GET' && listPaths.includes(pathname) && !searchParams.has('limit')) found.push(request.url())
  })
  return found
}

async function showMore(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: /^Show \d+ more of/ })
  await button.focus()
  await page.keyboard.press('Enter')
}

describe.skipIf(browserPath === undefined)('lists that are longer than a page', () => {
  beforeAll(async () => {
    stand = await openStand()
    await createAll('/datasets', (n) => ({ collection: n < 200 ? 'ships' : 'trains', dataset: nameOf(n), tags: { team: `team ${n % 3}` } }))
    const queries = [{ name: 'a', select: ['count(*)'], from_expr: 'collection = "ships"', where: "level = 'error'" }]
    await createAll('/monitors', (n) => ({
      ...rule,
      name: nameOf(n),
      queries,
      tags: { team: `team ${n % 3}` },
      ...(n === 5 ? { mute_until: -1 } : {}),
    }))
    const timestamp = new Date(stand.app.clock.nowMs()).toISOString()
    const headers = { 'x-service-collection': 'trains', 'x-service-dataset': nameOf(229), 'content-type': 'application/x-ndjson' }
    const raw = JSON.stringify({ timestamp, level: 'info', message: 'left the station' })
    expect((await stand.org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
    await createEvaluationRound(stand.app.app.world)(new AbortController().signal)
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('monitors are read page by page, and are searched, filtered, grouped and counted by the service', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/monitors`)
    const rows = page.getByRole('list', { name: 'Monitors' }).getByRole('listitem')
    await expect.poll(() => rows.count()).toBe(PAGE)
    await page.getByRole('button', { name: 'Muted 1' }).waitFor()
    await takePicture(page, 'monitors-pages')
    await page.getByLabel('Select all').check()
    await page.getByText(`${RECORDS} selected`).waitFor()
    await rows.first().getByRole('checkbox').uncheck()
    await page.getByText(`${RECORDS - 1} selected`).waitFor()
    await page.getByRole('button', { name: `Muted ${RECORDS - 1} monitors` }).waitFor()
    await showMore(page)
    await expect.poll(() => rows.count()).toBe(2 * PAGE)
    await page.getByRole('button', { name: 'Show 30 more of 30' }).waitFor()
    await showMore(page)
    await expect.poll(() => rows.count()).toBe(RECORDS)
    await page.getByRole('button', { name: /^Show \d+ more of/ }).waitFor({ state: 'detached' })
    await rows
      .last()
      .getByRole('link', { name: nameOf(5) })
      .waitFor()
    await page.getByLabel('Find a monitor').fill('WATCH 22')
    // 22, 122 and 220 to 229.
    await expect.poll(() => rows.count()).toBe(12)
    await page.getByText('Select all', { exact: true }).waitFor()
    await page.getByLabel('Find a monitor').fill('')
    await page.getByLabel('Group by').selectOption('tags')
    const group = page.getByRole('region', { name: 'team: team 0' })
    await group.getByRole('heading', { name: 'team: team 0 77' }).waitFor()
    await takePicture(page, 'monitors-groups')
    await page.reload()
    await page.getByRole('heading', { name: 'team: team 1 77' }).waitFor()
    expect(await page.getByRole('heading', { name: /^team: team 2/ }).count()).toBe(0)
    await showMore(page)
    await page.getByRole('heading', { name: 'team: team 2 76' }).waitFor()
    await page.getByRole('button', { name: 'Muted 1' }).click()
    await page.getByRole('link', { name: nameOf(5) }).waitFor()
    await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'watch' }).count()).toBe(1)
    await page.getByLabel('Find a monitor').fill('no such monitor')
    await page.getByRole('button', { name: `Show all ${RECORDS}` }).click()
    await expect.poll(() => rows.count()).toBe(PAGE)
    expect(await axeFaults(page, 'monitors')).toEqual([])
    expect(whole).toEqual([])
  })

  test('datasets are read page by page, and are searched, filtered, sorted and counted by the service', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/data`)
    const rows = page.getByRole('region', { name: 'Datasets table' }).getByRole('link', { name: /^(ships \/ |trains \/ )?watch/ })
    await expect.poll(() => rows.count()).toBe(PAGE - 1)
    // The dataset `default` is the first one.
    await page.getByText(`${RECORDS + 1} datasets`).waitFor()
    await page.getByRole('button', { name: `Waiting ${RECORDS}` }).waitFor()
    await takePicture(page, 'data-pages')
    await showMore(page)
    await expect.poll(() => rows.count()).toBe(2 * PAGE - 1)
    await page.getByRole('rowheader', { name: 'ships' }).waitFor()
    expect(await page.getByRole('rowheader', { name: 'trains' }).count()).toBe(0)
    await showMore(page)
    await expect.poll(() => rows.count()).toBe(RECORDS)
    await page.getByRole('rowheader', { name: 'trains' }).waitFor()
    await page.getByRole('button', { name: 'Edit the collection ships' }).click()
    await page.getByText('Its 200 datasets are renamed too.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: '7 days' }).click()
    await expect.poll(() => rows.first().textContent()).toBe(`trains / ${nameOf(229)}`)
    await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(PAGE - 1)
    await page.getByRole('button', { name: 'Receiving 1' }).click()
    await expect.poll(() => rows.allTextContents()).toEqual([`trains / ${nameOf(229)}`])
    await page.reload()
    await expect.poll(() => rows.allTextContents()).toEqual([`trains / ${nameOf(229)}`])
    await page.getByRole('button', { name: 'Receiving 1' }).click()
    await page.getByLabel('Find a dataset').fill('trains watch')
    await page.getByText('30 datasets').waitFor()
    await expect.poll(() => rows.count()).toBe(30)
    expect(await axeFaults(page, 'data')).toEqual([])
    // The retention of the listed datasets is read by their ids.
    expect(whole.filter((url) => !url.includes('collection=ships') && !url.includes('/retention?from='))).toEqual([])
  })

  test('Explore names the datasets of its rows, and finds datasets by a search, without reading all', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/explore`)
    const row = page.getByRole('region', { name: 'Events' }).getByTitle(nameOf(229))
    await row.waitFor()
    await page.getByTitle('Datasets to search').click()
    const picker = page.getByRole('dialog', { name: 'Datasets' })
    const choices = picker.getByRole('listitem').getByRole('checkbox')
    await expect.poll(() => choices.count()).toBe(PAGE)
    await picker.getByRole('button', { name: /^Show 100 more of 1\d\d$/ }).waitFor()
    await takePicture(page, 'explore-picker')
    await picker.getByLabel('Find a dataset').fill('TRAINS 22')
    // 220 to 229.
    await expect.poll(() => choices.count()).toBe(10)
    await choices.and(picker.getByLabel(`trains / ${nameOf(229)}`)).focus()
    await page.keyboard.press('Space')
    const button = page.getByTitle('Datasets to search')
    await expect.poll(() => button.textContent()).toBe(`trains / ${nameOf(229)} `)
    await picker.getByLabel('Find a dataset').fill('ships watch 00')
    // 000 to 009, 100, and the selected one.
    await expect.poll(() => choices.count()).toBe(12)
    await expect.poll(() => choices.first().isChecked()).toBe(true)
    await takePicture(page, 'explore-picker-search')
    expect(await axeFaults(page, 'the picker of Explore')).toEqual([])
    await choices.nth(1).check()
    await expect.poll(() => button.textContent()).toBe('2 datasets ')
    await picker.getByLabel('Find a dataset').fill('no such dataset')
    await picker.getByText('No dataset matches.').waitFor()
    await expect.poll(() => picker.getByRole('checkbox', { checked: true }).count()).toBe(2)
    await picker.getByLabel(`ships / ${nameOf(0)}`).uncheck()
    await page.reload()
    await expect.poll(() => button.textContent()).toBe(`trains / ${nameOf(229)} `)
    await page.getByText('left the station').first().waitFor()
    expect(whole).toEqual([])
  })

  test('the palette of commands finds datasets that are not on the first page', async () => {
    const page = await stand.open('/app/explore')
    await page.getByRole('region', { name: 'Events' }).getByTitle(nameOf(229)).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Type a command').fill('trains 217')
    await page.getByRole('option', { name: `trains / ${nameOf(217)}` }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByTitle('Datasets to search').textContent()).toBe(`trains / ${nameOf(217)} `)
  })

  test('dashboards are read page by page, and are searched by the service', async () => {
    await createAll('/dashboards', (n) => ({ name: nameOf(n) }))
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/dashboards`)
    const cards = page.getByRole('list', { name: 'Dashboards', exact: true }).getByRole('listitem')
    await expect.poll(() => cards.count()).toBe(PAGE)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => cards.count()).toBe(2 * PAGE)
    await page.getByLabel('Find a dashboard').fill('WATCH 22')
    // 22, 122 and 220 to 229.
    await expect.poll(() => cards.count()).toBe(12)
    await takePicture(page, 'dashboards-search')
    expect(await axeFaults(page, 'dashboards')).toEqual([])
    await page.goto(`${stand.app.url}/app/explore?tab=table&by=["level"]`)
    await page.getByRole('button', { name: 'Add to dashboard' }).click()
    await page.getByLabel('Find a dashboard').fill('watch 213')
    const choices = page.getByRole('list', { name: 'Dashboards', exact: true }).getByRole('button')
    await expect.poll(() => choices.allTextContents()).toEqual([nameOf(213)])
    await takePicture(page, 'add-to-dashboard-search')
    await choices.click()
    await page.getByRole('link', { name: `Open ${nameOf(213)}` }).waitFor()
    expect(whole).toEqual([])
  })

  test('a monitor and a source choose datasets by a search', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/monitors?edit=new`)
    await page.getByTitle('Datasets to search').click()
    const picker = page.getByRole('dialog', { name: 'Datasets' })
    await picker.getByLabel('Find a dataset').fill('watch 215')
    await picker.getByLabel(`trains / ${nameOf(215)}`).check()
    await picker.getByRole('button', { name: 'By a selector' }).click()
    await page.keyboard.type("dataset = 'watch 21")
    await page.getByRole('option', { name: new RegExp(nameOf(217)) }).waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${stand.app.url}/app/data?sources=true&edit=new`)
    await page.getByRole('button', { name: 'Dataset: Select a dataset' }).click()
    const select = page.getByRole('dialog', { name: 'Select a dataset' })
    await select.getByLabel('Find a dataset').fill('watch 223')
    await select.getByRole('button', { name: `trains / ${nameOf(223)}` }).waitFor()
    await takePicture(page, 'source-dataset')
    expect(await axeFaults(page, 'the dataset of a source')).toEqual([])
    await select.getByRole('button', { name: `trains / ${nameOf(223)}` }).click()
    await page.getByRole('button', { name: `Dataset: trains / ${nameOf(223)}` }).waitFor()
    expect(whole).toEqual([])
  })

  test('a downtime finds its monitors and datasets by a search, and names them without reading all', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/downtimes?edit=new`)
    const monitors = page.getByRole('group', { name: 'Monitors', exact: true }).getByRole('checkbox')
    await expect.poll(() => monitors.count()).toBe(PAGE)
    await page.getByLabel('Name').fill('Release')
    await page.getByLabel('Reason').fill('The ships are painted')
    await page.getByLabel('Find a monitor or dataset').fill('watch 150')
    await monitors.and(page.getByLabel(nameOf(150), { exact: true })).check()
    await page.getByRole('checkbox', { name: `ships / ${nameOf(150)}` }).check()
    await page.getByLabel('Find a monitor or dataset').fill('watch 223')
    await monitors.and(page.getByLabel(nameOf(223), { exact: true })).waitFor()
    const selected = page.getByRole('group', { name: 'Selected' }).getByRole('checkbox', { checked: true })
    await expect.poll(() => selected.count()).toBe(2)
    await takePicture(page, 'downtime-search')
    expect(await axeFaults(page, 'downtime')).toEqual([])
    await page.getByRole('button', { name: 'Create downtime' }).click()
    await page
      .getByRole('list', { name: 'Downtimes' })
      .getByText(`${nameOf(150)}, ships / ${nameOf(150)}`)
      .waitFor()
    expect(whole).toEqual([])
  })

  describe('of metrics and widgets', () => {
    let metricIds: readonly string[]
    let widgetIds: readonly string[]
    let dashboard: string
    const make = async (path: string, body: object) => (await stand.org.ask<{ id: string }>('POST', path, { body })).body.id

    beforeAll(async () => {
      const queries = [{ name: 'a', select: ['count(*)'], from_expr: '*', where: '' }]
      metricIds = await createAll('/metrics/definitions', (n) => ({ name: `gauge ${nameOf(n)}`, queries }))
      widgetIds = await createAll('/widgets', (n) => ({ name: `chart ${nameOf(n)}`, type: 'score', metric_ids: [metricIds[n]] }))
      const frame = await make('/widgets', { name: 'The engine', widget_ids: [widgetIds[229], widgetIds[3]] })
      const two = await make('/widgets', { name: 'Two gauges', metric_ids: [metricIds[228], metricIds[229]] })
      dashboard = await make('/dashboards', { name: 'The bridge', widget_ids: [frame, two] })
    })

    test('metrics are read page by page, are searched by the service, and say what uses them', async () => {
      const page = await stand.open('/app/settings?part=you')
      const whole = wholeLists(page)
      await page.goto(`${stand.app.url}/app/dashboards?view=metrics`)
      const rows = page.getByRole('list', { name: 'Metrics' }).getByRole('listitem')
      await expect.poll(() => rows.count()).toBe(PAGE)
      const row = (name: string) => rows.filter({ has: page.getByText(name, { exact: true }) })
      await row('gauge watch 000').getByText('used by chart watch 000 ·').waitFor()
      await takePicture(page, 'metrics-pages')
      await page.getByRole('button', { name: 'Show more' }).click()
      await expect.poll(() => rows.count()).toBe(2 * PAGE)
      await row('gauge watch 150').getByText('used by chart watch 150 ·').waitFor()
      await page.getByLabel('Find a metric').fill('GAUGE 22')
      // 22, 122 and 220 to 229.
      await expect.poll(() => rows.count()).toBe(12)
      await rows.last().getByText('used by Two gauges, chart watch 229 ·').waitFor()
      await takePicture(page, 'metrics-search')
      expect(await axeFaults(page, 'metrics')).toEqual([])
      await page.getByLabel('Find a metric').fill('watch 217')
      await row('watch 217').getByText('used by the monitor watch 217 ·').waitFor()
      await rows.getByRole('link', { name: 'gauge watch 217' }).click()
      await expect.poll(() => page.getByLabel('Name', { exact: true }).first().inputValue()).toBe('gauge watch 217')
      await page.getByRole('link', { name: 'All metrics' }).click()
      await page.getByLabel('Find a metric').fill('no such metric')
      await page.getByRole('button', { name: 'Show all' }).click()
      await expect.poll(() => rows.count()).toBe(2 * PAGE)
      expect(whole).toEqual([])
    })

    test('a widget finds metrics by a search, and names those it has that are not on the first page', async () => {
      const page = await stand.open('/app/settings?part=you')
      const whole = wholeLists(page)
      await page.goto(`${stand.app.url}/app/dashboards?id=${dashboard}`)
      await page.getByRole('button', { name: 'Actions for Two gauges' }).click()
      await page.getByRole('link', { name: 'Edit Two gauges' }).click()
      const choices = page.getByRole('list', { name: 'Saved metrics' }).getByRole('checkbox')
      await expect.poll(() => choices.count()).toBe(PAGE + 2)
      const names = page.getByRole('list', { name: 'Saved metrics' }).getByRole('listitem')
      expect((await names.allTextContents()).slice(0, 2)).toEqual(['gauge watch 228', 'gauge watch 229'])
      expect(await choices.first().isChecked()).toBe(true)
      await takePicture(page, 'widget-metrics')
      await page.getByLabel('Find a metric').fill('gauge 150')
      await expect.poll(() => names.allTextContents()).toEqual(['gauge watch 228', 'gauge watch 229', 'gauge watch 150'])
      await choices.last().check()
      await choices.first().uncheck()
      await page.getByLabel('Find a metric').fill('no such metric')
      await page.getByText('No metric matches.').waitFor()
      await expect.poll(() => page.getByRole('checkbox', { checked: true }).count()).toBe(2)
      await takePicture(page, 'widget-metrics-none')
      expect(await axeFaults(page, 'the metrics of a widget')).toEqual([])
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('heading', { name: 'The bridge' }).waitFor()
      const { widgets } = (await stand.org.ask<{ widgets: { metric_ids: string[] }[] }>('GET', '/widgets?search=two%20gauges')).body
      expect(widgets.map(({ metric_ids }) => metric_ids)).toEqual([[metricIds[229], metricIds[150]]])
      await page.getByRole('button', { name: 'Actions for Two gauges' }).click()
      await page.getByRole('button', { name: 'Open in Explore' }).click()
      await page.waitForURL(/explore/)
      expect(whole).toEqual([])
    })

    test('a frame finds widgets by a search, and names those it has that are not on the first page', async () => {
      const page = await stand.open('/app/settings?part=you')
      const whole = wholeLists(page)
      await page.goto(`${stand.app.url}/app/dashboards?id=${dashboard}`)
      const frame = page.getByRole('region', { name: 'The engine' })
      await frame.getByRole('heading', { name: 'chart watch 229', level: 3 }).waitFor()
      await page.getByRole('button', { name: 'Actions for The engine' }).click()
      await page.getByRole('link', { name: 'Edit The engine' }).click()
      const inner = page.getByRole('list', { name: 'In the frame' }).getByRole('listitem')
      await expect.poll(() => inner.allTextContents()).toEqual(['chart watch 229', 'chart watch 003'])
      const offered = page.getByRole('list', { name: 'Other widgets' }).getByRole('listitem')
      // The widget of the dashboard comes first; of the first page one is in the frame.
      await expect.poll(() => offered.count()).toBe(PAGE)
      expect(await offered.first().textContent()).toBe('Two gauges')
      await takePicture(page, 'frame-widgets')
      await page.getByLabel('Find a widget').fill('CHART 22')
      // 22, 122 and 220 to 228.
      await expect.poll(() => offered.count()).toBe(11)
      await page.getByRole('button', { name: 'Add chart watch 225' }).click()
      await page.getByRole('button', { name: 'Remove chart watch 003' }).click()
      await page.getByRole('button', { name: 'Move chart watch 225 up' }).click()
      await expect.poll(() => inner.allTextContents()).toEqual(['chart watch 225', 'chart watch 229'])
      await page.getByLabel('Find a widget').fill('no such widget')
      await page.getByText('No widget matches.').waitFor()
      await takePicture(page, 'frame-widgets-none')
      expect(await axeFaults(page, 'the widgets of a frame')).toEqual([])
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await frame.getByRole('heading', { name: 'chart watch 225', level: 3 }).waitFor()
      await expect.poll(() => frame.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['chart watch 225', 'chart watch 229'])
      await page.getByRole('heading', { name: 'chart watch 003', level: 2 }).waitFor()
      expect(whole).toEqual([])
    })

    test('a dashboard is saved as a template with its widgets and metrics, without reading all', async () => {
      const page = await stand.open('/app/settings?part=you')
      const whole = wholeLists(page)
      await page.goto(`${stand.app.url}/app/dashboards?id=${dashboard}`)
      await page.getByRole('button', { name: 'Actions', exact: true }).click()
      await page.getByText('Save as template', { exact: true }).click()
      await page.getByLabel('Name of the template').fill('Like the bridge')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('link', { name: 'templates', exact: true }).waitFor()
      const { templates } = (await stand.org.ask<{ templates: { name: string }[] }>('GET', '/widgets/templates')).body
      expect(templates.map(({ name }) => name)).toEqual(expect.arrayContaining(['The engine', 'chart watch 229', 'Two gauges']))
      expect(whole).toEqual([])
    })
  })

  test('the retention of datasets and its rules are read page by page, and are searched by the service', async () => {
    await createAll('/retention-rules', (n) => ({
      entity: 'LOG',
      category: 'DATASET_RETENTION',
      retention: n < 200 ? 'DAYS_30' : 'DAYS_90',
      scope: { from: `log:${nameOf(n)}` },
    }))
    const rule = { entity: 'LOG_SET', category: 'DATASET_RETENTION', retention: 'DAYS_180', scope: { from: 'log:trains' } }
    await stand.org.ask('POST', '/retention-rules', { body: rule })
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/data?keep=true`)
    const datasets = page.getByRole('region', { name: 'Retention table' }).getByRole('link')
    const rules = page.getByRole('region', { name: 'Rules table' }).getByRole('row')
    await expect.poll(() => datasets.count()).toBe(PAGE)
    // One row is the header.
    await expect.poll(() => rules.count()).toBe(PAGE + 1)
    await rules.nth(1).getByText('the collection trains').waitFor()
    await takePicture(page, 'retention-pages')
    const panel = page.getByRole('region', { name: 'Retention by dataset' })
    await panel.getByRole('button', { name: /^Show 100 more of 1\d\d$/ }).click()
    await expect.poll(() => datasets.count()).toBe(2 * PAGE)
    await page.getByRole('region', { name: 'Rules', exact: true }).getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rules.count()).toBe(2 * PAGE + 1)
    await page.getByLabel('Find a dataset or collection').fill('TRAINS 22')
    // 220 to 229.
    await expect.poll(() => datasets.count()).toBe(10)
    await expect.poll(() => rules.count()).toBe(11)
    const row = page
      .getByRole('region', { name: 'Retention table' })
      .getByRole('row')
      .filter({ hasText: nameOf(223) })
    await row.getByText('90 days').waitFor()
    await page.getByRole('button', { name: `Delete the rule of the dataset ${nameOf(223)}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await row.getByText('180 days').waitFor()
    await expect.poll(() => rules.count()).toBe(10)
    await takePicture(page, 'retention-search')
    expect(await axeFaults(page, 'retention')).toEqual([])
    await page.getByLabel('Find a dataset or collection').fill('no such dataset')
    await panel.getByText('No dataset matches.').waitFor()
    await page.getByText('No rule matches.').waitFor()
    await takePicture(page, 'retention-none')
    // The form offers datasets by a search, and knows the rules of all.
    await page.getByRole('button', { name: 'Scope: the organization' }).waitFor()
    expect(whole).toEqual([])
  })

  test('Explore finds saved searches that are not on the first page', async () => {
    const search = { select: ['*'], from_expr: '*', time_range: 'Last 1 hour' }
    await createAll('/saved-searches', (n) => ({ name: `hunt ${nameOf(n)}`, search_details: { ...search, where: `hunt = ${n}` } }))
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/explore`)
    await page.getByRole('region', { name: 'Events' }).getByTitle(nameOf(229)).waitFor()
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByText('Saved searches', { exact: true }).click()
    const list = page.getByRole('list', { name: 'Saved searches' }).getByRole('listitem')
    await expect.poll(() => list.count()).toBe(PAGE)
    await takePicture(page, 'saved-searches-pages')
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => list.count()).toBe(2 * PAGE)
    await page.getByLabel('Find a saved search').fill('HUNT 003')
    await expect.poll(() => list.count()).toBe(1)
    expect(await axeFaults(page, 'saved searches')).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByLabel('Type a command').fill('hunt watch 007')
    await page.getByRole('option', { name: `hunt ${nameOf(7)}` }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=hunt/)
    expect(whole).toEqual([])
  })
})
