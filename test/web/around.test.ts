import type { Dataset } from '@dendro/api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createEvaluationRound } from '../../server/src/resources/watching/evaluations/evaluations.ts'
import { openAction } from './actions.fixture.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand
let dataset: string
/** END is the end of the ten minutes that most tests query. */
let END = 0

const MINUTE_MS = 60_000

/**
 * events are ten minutes of 40 orders on host a, and within their sixth minute 10 refused payments on host b; in the ten minutes before there were 20
 * orders and 5 expired cards.
 */
function events(endMs: number): object[] {
  const at = (ageMs: number, more: object) => ({ timestamp: new Date(endMs - ageMs).toISOString(), ...more })
  const order = (ageMs: number, index: number) =>
    at(ageMs, { level: 'info', message: `order ${index} placed`, region: index % 4 ? 'eu' : 'us', host: 'a', took_ms: index })
  return [
    ...Array.from({ length: 40 }, (_, index) => order(index * 15_000 + 1_000, index)),
    ...Array.from({ length: 10 }, (_, index) =>
      at(4 * MINUTE_MS + index * 5_000 + 2_000, { level: 'error', message: `payment ${index} refused`, region: 'us', host: 'b' }),
    ),
    ...Array.from({ length: 20 }, (_, index) => order(10 * MINUTE_MS + index * 30_000 + 1_000, index)),
    ...Array.from({ length: 5 }, (_, index) =>
      at(12 * MINUTE_MS + index * 1_000, { level: 'warn', message: `card ${index} expired`, region: 'eu', host: 'a' }),
    ),
  ]
}

const ten = () => ({ f: END - 10 * MINUTE_MS, t: END })
const counted = (page: Page, said: string) => page.getByText(`${said} ·`).first().waitFor()
const overTime = (page: Page) => page.getByRole('region', { name: 'Events over time' })
/** tab opens a tab; on a phone they are a list. */
async function tab(page: Page, name: string): Promise<void> {
  const picker = page.getByRole('combobox', { name: 'Tab', exact: true })
  if (await picker.isVisible()) await picker.selectOption({ label: name })
  else await page.getByRole('button', { name, exact: true }).click()
}
/** scrolledSideways are the bars that hide their end. */
const scrolledSideways = `[...document.querySelectorAll('[role=toolbar], section[aria-label="Events over time"] *')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
  .map((one) => one.className)`
const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

describe.skipIf(browserPath === undefined)('the parts around the events', () => {
  beforeAll(async () => {
    stand = await openStand()
    END = Math.floor(stand.app.clock.nowMs() / MINUTE_MS) * MINUTE_MS - MINUTE_MS
    await stand.send('orders', events(END))
    const { datasets } = (await stand.org.ask<{ datasets: Dataset[] }>('GET', '/datasets')).body
    dataset = datasets[0]?.id ?? ''
    const queries = [{ name: 'refused', select: ['count(*)'], from: [dataset], where: "level = 'error'" }]
    const rule = { comparison_operator: 'ABOVE', threshold: 5, window: 'Last 15 minutes', actions: [{ email: 'oncall@example.org' }] }
    const made = await stand.org.ask('POST', '/monitors', { body: { ...rule, name: 'Payments are refused', queries } })
    expect(made.status).toBe(201)
    await createEvaluationRound(stand.app.app.world)(new AbortController().signal)
    const downtime = {
      name: 'Release of the till',
      description: 'The till is released',
      from: [dataset],
      static_time_range: { from: END - 8 * MINUTE_MS, to: END - 6 * MINUTE_MS },
    }
    expect((await stand.org.ask('POST', '/monitors/downtimes', { body: downtime })).status).toBe(201)
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('the histogram, patterns, table and chart are compared with the period before', async () => {
    const page = await stand.open(exploreUrl(ten()))
    await counted(page, '50 events')
    await page.getByLabel('Compare with').selectOption('previous')
    await overTime(page).getByText('+100 % vs. 10 min earlier').waitFor()
    expect(await overTime(page).locator('[data-earlier]').count()).toBeGreaterThan(10)
    await tab(page, 'Patterns')
    const change = (text: RegExp) => page.getByRole('row', { name: text }).getByRole('cell').nth(2)
    await change(/order <\*> placed/)
      .getByText('+100 %')
      .waitFor()
    await change(/refused/)
      .getByText('new')
      .waitFor()
    await change(/expired/)
      .getByText('gone')
      .waitFor()
    await page.getByRole('button', { name: 'Most changed' }).click()
    await page.getByRole('row').nth(1).getByText('placed').waitFor()
    await tab(page, 'Table')
    await page.getByRole('row', { name: /^total.*\+100 %/ }).waitFor()
    await tab(page, 'Chart')
    await page.getByRole('region', { name: 'Chart' }).getByText('vs. 10 min earlier').waitFor()
    await page.getByRole('list', { name: 'Legend' }).getByText('+100 %').waitFor()
    await page.reload()
    await overTime(page).getByText('+100 % vs. 10 min earlier').waitFor()
  })

  /** Drags over the histogram, from one minute of the ten to another. */
  const brush = async (page: Page, from: number, to: number) => {
    const box = await page.getByRole('img', { name: /^50 events in steps of/ }).boundingBox()
    if (!box) throw new Error('there is no histogram')
    const at = (minute: number) => box.x + (box.width * minute) / 10
    await page.mouse.move(at(from) + 2, box.y + 50)
    await page.mouse.down()
    await page.mouse.move(at((from + to) / 2), box.y + 50)
    await page.mouse.move(at(to) - 2, box.y + 50)
    await page.mouse.up()
  }
  const brushed = (page: Page) => page.getByRole('toolbar', { name: 'Selection' })

  test('a brushed hump offers Zoom and What changed?, whose first finding narrows the search', async () => {
    const page = await stand.open(exploreUrl(ten()))
    await counted(page, '50 events')
    await brush(page, 5, 6)
    await counted(page, '14 events')
    await brushed(page).getByRole('button', { name: 'What changed?' }).click()
    const found = page.getByRole('region', { name: 'What changed' })
    const finding = found.getByRole('listitem').first()
    await finding.getByText('new', { exact: true }).waitFor()
    for (const name of ['host = b', 'level = error', '@status = error', 'payment <*> refused'])
      await finding.getByRole('button', { name: `Filter by ${name}` }).waitFor()
    await finding.getByRole('img', { name: '0 % before, 71 % now', exact: true }).waitFor()
    await finding.getByText('New: host = b in 10 events (71 %), none before.').waitFor()
    await found.getByText('Counts are exact.').waitFor()
    await found.getByText('14 events').waitFor()
    await found.getByLabel('Compared with').selectOption('rest')
    await found.getByText('36 before').waitFor()
    await page.reload()
    await found.getByText('36 before').waitFor()
    await finding.getByRole('button', { name: 'Filter by host = b' }).click()
    await page.getByRole('list', { name: 'Conditions' }).getByText("host = 'b'").waitFor()
    // The events themselves are shown, in the selected time.
    await counted(page, '10 events')
    await found.waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'Events', exact: true }).getByText('payment 0 refused').waitFor()
    await page.goBack()
    await found.getByText('36 before').waitFor()
    await page.goBack()
    await brushed(page).getByRole('button', { name: 'Zoom', exact: true }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('f')).toBe(String(END - 5 * MINUTE_MS))
    await brushed(page).waitFor({ state: 'detached' })
  })

  test('the tooltip, the legend and the text below the histogram describe what is brushed, and then what is zoomed into', async () => {
    const page = await stand.open(exploreUrl(ten()))
    await counted(page, '50 events')
    const statuses = overTime(page).getByRole('toolbar', { name: 'Statuses' })
    await statuses.getByRole('button', { name: 'error 10' }).waitFor()
    await statuses.getByRole('button', { name: 'info 40' }).waitFor()
    const box = await page.getByRole('img', { name: /events in steps/ }).boundingBox()
    if (!box) throw new Error('there is no histogram')
    await page.mouse.move(box.x + 2, box.y + 50)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width - 2, box.y + 50, { steps: 3 })
    await overTime(page).locator('[data-tooltip]').getByText('50 events').waitFor()
    await page.mouse.move(box.x + 2, box.y + 50)
    await page.mouse.up()
    await page.keyboard.press('Escape')
    await brush(page, 5, 6)
    await counted(page, '14 events')
    await statuses.getByRole('button', { name: 'info 4', exact: true }).waitFor()
    await statuses.getByRole('button', { name: 'error 10' }).waitFor()
    await overTime(page)
      .getByText(/ selected · 14 events$/)
      .waitFor()
    expect(await overTime(page).locator('[data-tooltip]').count()).toBe(0)
    await brushed(page).getByRole('button', { name: 'Zoom', exact: true }).click()
    await page.getByRole('img', { name: /^14 events in steps/ }).waitFor()
    expect(
      await overTime(page)
        .getByText(/ selected · /)
        .count(),
    ).toBe(0)
    await statuses.getByRole('button', { name: 'info 4', exact: true }).waitFor()
  })

  test('groups by pattern have its text in the legend, the table and the chart', async () => {
    const page = await stand.open(exploreUrl({ ...ten(), by: ['@pattern'], tab: 'table' }))
    await page.getByRole('row', { name: /“payment <\*> refused”/ }).waitFor()
    await tab(page, 'Chart')
    await page.getByRole('list', { name: 'Legend' }).getByText('“order <*> placed”').waitFor()
    expect(await page.getByRole('list', { name: 'Legend' }).textContent()).not.toMatch(/[0-9a-f]{16}/)
  })

  test('a condition of a pattern shows the text of the pattern in the query box and in its chip, and the query keeps the id', async () => {
    const { patterns } = (
      await stand.org.ask<{ patterns: { id: string; template: string }[] }>('POST', '/patterns', {
        body: { search_details: { from_expr: '*', where: "level = 'error'", from_ts: END - 10 * MINUTE_MS, to_ts: END } },
      })
    ).body
    const refused = patterns.find(({ template }) => template.includes('refused'))
    const condition = `@pattern = '${refused?.id}'`
    const page = await stand.open(exploreUrl({ ...ten(), q: condition }))
    await counted(page, '10 events')
    const chips = page.getByRole('list', { name: 'Conditions' })
    await chips.getByRole('button', { name: '@pattern = “payment <*> refused”', exact: true }).waitFor()
    const line = page.locator('.cm-content').first()
    await line.getByText('“payment <*> refused”').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe(condition)
    await page.getByRole('button', { name: 'Negate @pattern = “payment <*> refused”' }).click()
    await counted(page, '40 events')
    expect(new URL(page.url()).searchParams.get('q')).toBe(`NOT ${condition}`)
    const body = {
      name: 'Refused payments',
      queries: [{ name: 'a', select: ['count(*)'], from: [dataset], where: condition }],
      comparison_operator: 'ABOVE',
      threshold: 5,
      warning_threshold: 3,
      window: 'Last 15 minutes',
      actions: [{ email: 'oncall@example.org' }],
    }
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/monitors', { body })).body
    const said = 'count(*) of @pattern = “payment <*> refused” above 5 (warning: above 3) in the last 15 minutes'
    await page.goto(`${stand.app.url}/app/monitors`)
    await page.getByText(said).waitFor()
    // A monitor that was not evaluated yet shows what it would have done.
    await page.getByRole('link', { name: 'Refused payments' }).click()
    await page.getByText(said).waitFor()
    await page.getByText(/^Not evaluated yet/).waitFor()
    await page.getByRole('region', { name: 'Preview: last 7 days' }).getByText('evaluated every').waitFor()
    await stand.org.ask('DELETE', `/monitors/${id}`)
  })

  test('the view of changes says when nothing stands out, when it fails, and when events may not be read', async () => {
    const calm = { ...ten(), tab: 'changes', sf: END - 2 * MINUTE_MS, st: END - MINUTE_MS }
    const page = await stand.open(exploreUrl(calm))
    const found = page.getByRole('region', { name: 'What changed' })
    await found.getByText('Nothing stands out').waitFor()
    await page.route('**/changes', (route) =>
      route.fulfill({ status: 503, json: { type: 'x', details: 'the store rests', correlation_id: 'c' } }),
    )
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await found.getByRole('alert').getByText('the store rests').waitFor()
    await page.unroute('**/changes')
    await found.getByRole('button', { name: 'Try again' }).click()
    await found.getByText('Nothing stands out').waitFor()
    await page.route('**/changes', (route) => route.fulfill({ status: 403, json: { type: 'x', details: 'no', correlation_id: 'c' } }))
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('You do not have access to these events').waitFor()
  })

  test('the histogram has a scale, round times, a legend that filters, a tooltip at the pointer, and a mark on a cut-off bar', async () => {
    const giant = Array.from({ length: 300 }, (_, index) => ({
      timestamp: new Date(END - 200 * MINUTE_MS + (index % 20) * 10).toISOString(),
      level: 'warn',
      message: `retry ${index}`,
    }))
    const calm = Array.from({ length: 20 }, (_, index) => ({
      timestamp: new Date(END - (196.5 + (index % 10)) * MINUTE_MS).toISOString(),
      level: 'info',
      message: `step ${index}`,
    }))
    await stand.send('giant', [...giant, ...calm])
    const page = await stand.open(exploreUrl({ f: END - 206 * MINUTE_MS, t: END - 194 * MINUTE_MS }))
    await counted(page, '320 events')
    await overTime(page).locator('[data-giant]', { hasText: '300' }).waitFor()
    expect(await overTime(page).locator('[data-cut]').count()).toBe(1)
    expect(await overTime(page).getByTitle('Maximum of the scale').textContent()).toMatch(/^[2-9]$/)
    const ticks = await overTime(page).locator('[data-tick]').allTextContents()
    expect(ticks.length).toBeGreaterThanOrEqual(4)
    expect(ticks.length).toBeLessThanOrEqual(6)
    // The tick of midnight shows the date.
    for (const tick of ticks) expect(tick).toMatch(/^(\d\d:\d[02468]|\d\d-\d\d)$/)
    expect(ticks.filter((tick) => !tick.includes(':')).length).toBeLessThanOrEqual(1)
    const box = await page.getByRole('img', { name: /^320 events in steps of/ }).boundingBox()
    if (!box) throw new Error('there is no histogram')
    await page.mouse.move(box.x + (box.width * 6.05) / 12, box.y + 60)
    await overTime(page).locator('[data-tooltip]').getByText('300 warn').waitFor()
    const statuses = overTime(page).getByRole('toolbar', { name: 'Statuses' })
    await statuses.getByRole('button', { name: 'info 20' }).click()
    await counted(page, '20 events')
    await page.getByRole('list', { name: 'Conditions' }).getByText("@status = 'info'").waitFor()
    await statuses.getByRole('button', { name: 'info 20', pressed: true }).click()
    await counted(page, '320 events')
  })

  test('a chart is added to a new dashboard and a table to the same one, each in one click, with the query', async () => {
    const page = await stand.open(exploreUrl({ ...ten(), tab: 'chart', by: ['host'], q: "level = 'error'" }))
    await page.getByRole('button', { name: 'Add to dashboard' }).click()
    await page.getByRole('button', { name: 'New dashboard' }).click()
    const name = "count(*) of level = 'error' by host"
    await page.getByRole('link', { name: `Open ${name}` }).waitFor()
    await page.keyboard.press('Escape')
    await tab(page, 'Table')
    await page.getByRole('button', { name: 'Add to dashboard' }).click()
    await page.getByRole('list', { name: 'Dashboards' }).getByRole('button', { name }).click()
    await page.getByRole('link', { name: `Open ${name}` }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    const { dashboards } = (await stand.org.ask<{ dashboards: { widgets: { name: string; type: string }[] }[] }>('GET', '/dashboards')).body
    expect(dashboards.map(({ widgets }) => widgets.map(({ type }) => type))).toEqual([['line', 'top-list']])
  })

  test('the histogram moves while live', async () => {
    // Long enough that no event leaves the range during the test.
    const page = await stand.open(exploreUrl({ r: 'Last 24 hours', live: true }))
    const total = async () =>
      Number(/^(\d+) events/.exec((await page.getByRole('img', { name: /events in steps of/ }).getAttribute('aria-label')) ?? '')?.[1])
    await expect.poll(total).toBeGreaterThan(0)
    const before = await total()
    await stand.send('orders', [{ level: 'info', message: 'order placed live' }])
    await expect.poll(total).toBeGreaterThan(before)
  })

  test('the chart of groups is brushed like the histogram', async () => {
    const page = await stand.open(exploreUrl({ ...ten(), tab: 'chart', by: ['host'] }))
    const plot = page.getByRole('region', { name: 'Chart' }).locator('.u-over')
    const box = await plot.boundingBox()
    if (!box) throw new Error('there is no chart')
    await page.mouse.move(box.x + box.width / 2 + 2, box.y + 50)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.58, box.y + 50, { steps: 3 })
    await page.mouse.up()
    await brushed(page).getByRole('button', { name: 'Zoom', exact: true }).waitFor()
    await brushed(page).getByRole('button', { name: 'What changed?' }).click()
    await page.getByRole('region', { name: 'What changed' }).getByRole('button', { name: 'Filter by host = b' }).waitFor()
  })

  test('the keyboard selects several bars and zooms into them', async () => {
    const page = await stand.open(exploreUrl(ten()))
    await counted(page, '50 events')
    const chart = page.getByRole('img', { name: /^50 events in steps of/ })
    await chart.focus()
    await chart.press('ArrowRight')
    await chart.press('Shift+ArrowRight')
    await chart.press('Shift+ArrowRight')
    await chart.press('Enter')
    await page.getByRole('button', { name: 'Clear selection' }).waitFor()
    const { searchParams } = new URL(page.url())
    expect(Number(searchParams.get('st')) - Number(searchParams.get('sf'))).toBe(15_000)
    await page.getByRole('button', { name: 'Zoom', exact: true }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('f')).toBe(searchParams.get('sf'))
  })

  test('alerts and downtimes are drawn over the histogram, listed, and link to the monitor', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 15 minutes' }))
    await page.getByRole('button', { name: '1 status change, 1 downtime' }).click()
    const list = page.getByRole('list', { name: 'Markers' })
    await list.getByText('Downtime: Release of the till').waitFor()
    await overTime(page).locator('[data-marker="downtime"]').waitFor({ state: 'attached' })
    await list.getByRole('link', { name: /Alert Payments are refused/ }).click()
    await page.getByRole('heading', { name: 'Payments are refused' }).waitFor()
    await page.goBack()
    await overTime(page).locator('[data-marker="ALERT"] a').click()
    await page.getByRole('heading', { name: 'Payments are refused' }).waitFor()
  })

  test('a table is sorted by any column, has a total row, and links from a group to its events', async () => {
    const page = await stand.open(exploreUrl({ ...ten(), tab: 'table', by: ['region', 'host'] }))
    const rows = page.getByRole('region', { name: 'Table' }).getByRole('row')
    await rows.nth(1).getByText('eu').waitFor()
    const host = page.getByRole('columnheader', { name: 'host' })
    await host.getByRole('button').click()
    await expect.poll(() => host.getAttribute('aria-sort')).toBe('ascending')
    await rows.nth(1).getByText('eu').waitFor()
    await host.getByRole('button').click()
    await expect.poll(() => host.getAttribute('aria-sort')).toBe('descending')
    await rows.nth(1).getByRole('button', { name: 'b', exact: true }).waitFor()
    await rows.last().getByText('All 3 groups').waitFor()
    await rows.last().getByText('50', { exact: true }).waitFor()
    await rows.nth(1).getByRole('button', { name: 'Show events' }).click()
    await counted(page, '10 events')
    expect(await page.getByRole('list', { name: 'Conditions' }).getByRole('listitem').count()).toBe(2)
  })

  test('every view shows its results and cost, and copies its request', async () => {
    const page = await stand.open(exploreUrl({ ...ten(), q: 'order' }))
    for (const [name, said, path] of [
      ['Events', /^40 events · .* read · \d+ ms/, '/search'],
      ['Patterns', /^40 events · .* read · \d+ ms/, '/patterns'],
      ['Table', /^40 events · .* read · \d+ ms/, '/search'],
      ['Chart', /^40 events · .* read · \d+ ms/, '/search'],
      ['Fields', /^40 events · \d+ ms/, '/top-keys'],
    ] as const) {
      await tab(page, name)
      await page.getByText(said).waitFor()
      await page.getByRole('button', { name: 'curl' }).click()
      await page.getByRole('button', { name: 'copied' }).waitFor()
      expect(await copied(page)).toContain(
        `${stand.app.url}${path} -d '{"from_expr":"*"`.replace(
          '{"from_expr',
          path === '/patterns' ? '{"search_details":{"from_expr' : '{"from_expr',
        ),
      )
    }
  })

  test('similar events are hidden in one click, by a condition', async () => {
    const page = await stand.open(exploreUrl(ten()))
    await counted(page, '50 events')
    const rows = page.getByRole('region', { name: 'Events', exact: true }).locator('[data-index]')
    await rows.first().getByText('order 0 placed').waitFor()
    await rows.first().getByRole('button').first().click()
    await page.getByRole('button', { name: 'Hide similar events' }).click()
    await counted(page, '10 events')
    const chip = page.getByRole('list', { name: 'Conditions' }).getByRole('listitem')
    await chip.getByText(/^NOT @pattern = /).waitFor()
    await chip.getByRole('button', { name: /^Remove/ }).click()
    await counted(page, '50 events')
  })

  test('the histogram collapses, and stays collapsed', async () => {
    const page = await stand.open(exploreUrl(ten()))
    const chart = page.getByRole('img', { name: /^50 events in steps of/ })
    await chart.waitFor()
    await page.getByRole('button', { name: 'Histogram' }).click()
    await chart.waitFor({ state: 'detached' })
    await page.reload()
    await overTime(page).getByText('5 s per bar').waitFor()
    expect(await chart.count()).toBe(0)
    await page.getByRole('button', { name: 'Histogram' }).click()
    await chart.waitFor()
  })

  test('recent queries are stored with their time and results, and can be cleared', async () => {
    const page = await stand.open(exploreUrl({ ...ten(), q: "host = 'b'" }))
    await counted(page, '10 events')
    await page.goto(`${stand.app.url}${exploreUrl({ ...ten(), q: "region = 'us'" })}`)
    await counted(page, '20 events')
    await openAction(page, 'History')
    const list = page.getByRole('list', { name: 'Recent queries' })
    await list.getByText("region = 'us'").waitFor()
    await page.getByLabel('Find a query').fill('host')
    await list.getByText("region = 'us'").waitFor({ state: 'detached' })
    await list.getByText(/ago · 10 events|just now · 10 events/).waitFor()
    await list.getByText("host = 'b'").click()
    await counted(page, '10 events')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Type a command' }).pressSequentially('recent region')
    await page.getByRole('option', { name: /region = 'us'.*20 events/ }).click()
    await counted(page, '20 events')
    await openAction(page, 'History')
    await page.getByRole('button', { name: 'Clear history' }).click()
    await page.getByText('No recent queries yet').waitFor()
  })

  test('the dataset picker shows how fresh each dataset is', async () => {
    const page = await stand.open(exploreUrl(ten()))
    const seen = async () => {
      await page.getByRole('button', { name: /All datasets/ }).click()
      const row = page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'orders' })
      const text = (await row.textContent()) ?? ''
      await page.keyboard.press('Escape')
      return text
    }
    await expect.poll(seen, { interval: 500 }).toMatch(/(ago|just now)/)
  })

  test('the four reasons for an empty page: nothing ever, nothing in the range, filters, and not permitted', async () => {
    const own = await stand.app.newOrganization()
    const never = await stand.open('/app/explore', { key: own.key })
    await never.getByRole('heading', { name: 'No events received yet' }).waitFor()
    await never.getByRole('link', { name: 'How to send' }).waitFor()

    const range = await stand.open(exploreUrl({ f: 1_000_000_000_000, t: 1_000_000_060_000, tab: 'patterns' }))
    await range.getByRole('heading', { name: 'No events in this range' }).waitFor()
    await range.getByText(/^The last event was .* ago, at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.$/).waitFor()
    await range.getByRole('button', { name: 'Jump to the last event' }).click()
    await range.getByRole('row', { name: /order <\*> placed/ }).waitFor()

    const filters = await stand.open(exploreUrl({ ...ten(), q: "host = 'b' AND region = 'eu'" }))
    await filters.getByText('Without conditions there are 50 events in this range.').waitFor()
    const each = filters.getByRole('list', { name: 'Matches of each condition' }).getByRole('listitem')
    await each.filter({ hasText: "region = 'eu'" }).getByText('matches 30 events').waitFor()
    await each.filter({ hasText: "region = 'eu'" }).getByRole('button', { name: 'Remove' }).click()
    await counted(filters, '10 events')

    const near = await stand.open(exploreUrl({ ...ten(), q: "hst = 'a' AND region = 'EU'" }))
    const misses = near.getByRole('list', { name: 'Matches of each condition' }).getByRole('listitem')
    await misses.filter({ hasText: 'hst is none of the usual keys' }).getByRole('button', { name: "Change to host = 'a'" }).click()
    await misses
      .filter({ hasText: "no event has region 'EU', but 30 events have 'eu'" })
      .getByRole('button', { name: /Change to/ })
      .click()
    await near.getByRole('list', { name: 'Matches of each condition' }).waitFor({ state: 'detached' })

    const role = await stand.org.ask<{ role_id: string }>('POST', '/roles', {
      body: { role_type: 'API', display_name: 'Knows names', permissions: ['logs_read'] },
    })
    expect(role.status, JSON.stringify(role.body)).toBe(201)
    const denied = await stand.open(exploreUrl(ten()), { key: await stand.org.newKey([role.body.role_id]) })
    await denied.getByRole('heading', { name: 'You do not have access to these events' }).waitFor()
    await denied.getByRole('button', { name: /Copy$/ }).first().waitFor()
  })

  test('a failure is never shown as an empty result: every part shows it with its id, and can be retried', async () => {
    const page = await stand.open(exploreUrl(ten()))
    await counted(page, '50 events')
    const failed = {
      code: 500,
      type: 'INTERNAL',
      details: 'the event store did not answer',
      correlation_id: '7d0c1b1e-0000-4000-8000-000000000001',
    }
    await page.route('**/search', (route) => route.fulfill({ status: 500, json: failed }))
    for (const name of ['Table', 'Events']) {
      await page.goto(
        `${stand.app.url}${exploreUrl({ ...ten(), q: `order AND host = '${name}'`, ...(name === 'Table' ? { tab: 'table' } : {}) })}`,
      )
      await page
        .getByRole('alert')
        .nth(1)
        .getByText(/could not be loaded$/)
        .waitFor()
      expect(await page.getByText('No event matches').count()).toBe(0)
    }
    await page
      .getByRole('button', { name: /0001 Copy$/ })
      .first()
      .click()
    await expect.poll(() => copied(page)).toBe(failed.correlation_id)
    await page.unroute('**/search')
    await page.getByRole('button', { name: 'Try again' }).last().click()
    await page.getByText('No event matches all conditions').waitFor()
  })

  test('the field list is resized by keyboard, counts rare fields, and finds one outside the query', async () => {
    const own = await stand.app.newOrganization()
    const nowMs = stand.app.clock.nowMs()
    // The sample of values has the first 32 events of each sixteenth of the range, and this one lies between.
    const many = Array.from({ length: 3_000 }, (_, index) => ({
      timestamp: new Date(nowMs - MINUTE_MS - index * 1_000).toISOString(),
      message: index % 2 === 0 ? 'even' : 'odd',
      ...(index === 1_440 ? { seldom: 'treasure' } : {}),
    }))
    await stand.send('many', many, own)
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour' }), { key: own.key })
    await counted(page, '3,000 events')
    const list = page.getByRole('region', { name: 'Fields', exact: true })
    await list.getByText(/fields in 3,000 events$/).waitFor()
    expect(await list.getByText('≈').count()).toBe(0)
    await list.locator('summary[title="seldom: in 1 of 3,000 events"]').waitFor()
    const width = async () => (await list.boundingBox())?.width ?? 0
    const before = await width()
    const edge = page.getByRole('separator', { name: 'Width of the field list' })
    await edge.press('ArrowRight')
    await edge.press('ArrowRight')
    await expect.poll(width).toBe(before + 32)
    await page.reload()
    await list.getByText(/fields in 3,000 events$/).waitFor()
    expect(await width()).toBe(before + 32)
    await list.getByText('seldom', { exact: true }).click()
    await list.getByRole('button', { name: /^treasure/ }).click()
    await page.getByRole('menuitem', { name: 'Include' }).click()
    await counted(page, '1 event')
    await page.goto(`${stand.app.url}${exploreUrl({ r: 'Last 1 hour', q: "message = 'odd'" })}`)
    await counted(page, '1,500 events')
    await page.getByLabel('Find a field').fill('seldom')
    await list.getByText('Not in the list, but in 1 event in this range.').waitFor()
    await page.getByLabel('Find a field').fill('nowhere')
    await list.getByText(/no event in this range has the field/).waitFor()
  })

  test('a time is typed, pasted or given by its ends, in UTC or the zone of the browser, and used again', async () => {
    const page = await stand.open('/app/explore', { zone: 'Europe/Berlin' })
    const picker = page.getByRole('dialog', { name: 'Time range' })
    const open = () => page.locator('[data-key="t"]').click()
    await open()
    await picker.getByLabel('Type a time range').fill('last 3 weeks')
    await picker.getByLabel('Type a time range').press('Enter')
    await expect.poll(() => new URL(page.url()).searchParams.get('r')).toBe('Last 3 weeks')
    await open()
    await picker.getByLabel('From').fill('2026-07-01 12:00')
    await picker.getByLabel('To', { exact: true }).fill('2026-07-01 11:00')
    await picker.getByText('To must be after From').waitFor()
    await picker.getByLabel('To', { exact: true }).fill('2026-07-01 13:00')
    await picker.getByRole('button', { name: 'Use', exact: true }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('f')).toBe(String(Date.UTC(2026, 6, 1, 12)))
    await open()
    await picker.getByRole('button', { name: 'Use local' }).click()
    await picker.getByText('Europe/Berlin, UTC+02:00').waitFor()
    // The day the clocks went back had 25 hours.
    await picker.getByLabel('From').fill('2026-10-25')
    await picker.getByLabel('To', { exact: true }).fill('2026-10-26')
    await picker.getByRole('button', { name: 'Use', exact: true }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('f')).toBe(String(Date.UTC(2026, 9, 24, 22)))
    expect(Number(new URL(page.url()).searchParams.get('t')) - Date.UTC(2026, 9, 24, 22)).toBe(25 * 60 * MINUTE_MS)
    await open()
    await picker.getByRole('list', { name: 'Recent' }).getByRole('button', { name: 'Last 3 weeks' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('r')).toBe('Last 3 weeks')
  })

  test('nothing is wider than the window, from 360 to 3440 pixels', async () => {
    for (const width of [360, 3_440]) {
      const page = await stand.open(exploreUrl({ ...ten(), cmp: 'previous', q: 'order' }), { width })
      for (const name of ['Events', 'Patterns', 'Table', 'Chart', 'Fields']) {
        await tab(page, name)
        await page
          .getByRole('toolbar', { name: 'View' })
          .getByText(/\d+ events · .*\d+ ms/)
          .waitFor()
        expect(await page.evaluate<number>('document.documentElement.scrollWidth'), `${name} at ${width}`).toBe(width)
        expect(await page.evaluate(scrolledSideways), `${name} at ${width} hides a part of its tools`).toEqual([])
      }
    }
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('has no fault that axe finds: %s, %d pixels', async (theme, width) => {
    const page = await stand.open(
      exploreUrl({ ...ten(), cmp: 'previous', tab: 'changes', sf: END - 5 * MINUTE_MS, st: END - 4 * MINUTE_MS }),
      { theme, width },
    )
    await page.getByText('Counts are exact.').waitFor()
    expect(await axeFaults(page, 'changes')).toEqual([])
    await tab(page, 'Table')
    await page.getByRole('columnheader', { name: 'Change' }).waitFor()
    expect(await axeFaults(page, 'Table')).toEqual([])
    for (const name of [/downtime/, /^20\d\d-/]) {
      await page.getByRole('button', { name }).first().click()
      await page.getByRole('dialog').waitFor()
      expect(await axeFaults(page, String(name))).toEqual([])
      await page.keyboard.press('Escape')
    }
  })
})
