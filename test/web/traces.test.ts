import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { takePicture } from './pictures.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

const TRACE = '5b8efff798038103d269b633813fc60c'
/** Its client and its server have one id. */
const TWINS = '7b8efff798038103d269b633813fc60c'
const LARGE = '6b8efff798038103d269b633813fc60c'
const SPANS = 10_000
/** The trace with twins is older than what the list shows. */
const LONG_AGO_MS = 7_200_000
/** The large trace has ended before the other begins. */
const EARLIER_MS = 15_000

let stand: Stand
let startMs = 0

const spanId = (at: number): string => (at + 1).toString(16).padStart(16, '0')

type Given = {
  name: string
  id?: number
  parent?: number | undefined
  service: string
  from: number
  to: number
  error?: string
  kind?: number
}

async function sendSpans(traceId: string, spans: readonly Given[]): Promise<void> {
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const nano = (offset: number) => String((BigInt(startMs) + BigInt(offset)) * 1_000_000n)
  const numbered = spans.map((span, at) => ({ ...span, at }))
  const resourceSpans = [...Map.groupBy(numbered, ({ service }) => service)].map(([service, own]) => ({
    resource: { attributes: [attribute('service.name', service)] },
    scopeSpans: [
      {
        spans: own.map(({ at, id = at, parent, name, from, to, error, kind = 1 }) => ({
          traceId,
          spanId: spanId(id),
          ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
          name,
          kind,
          startTimeUnixNano: nano(from),
          endTimeUnixNano: nano(to),
          attributes: [attribute('order.id', `order-${at}`)],
          ...(error ? { status: { code: 2, message: error } } : {}),
        })),
      },
    ],
  }))
  const raw = JSON.stringify({ resourceSpans })
  const reply = await stand.org.ask('POST', '/v1/traces', { raw, headers: { 'content-type': 'application/json' } })
  expect(reply.status).toBe(200)
}

const span = (page: Page, name: RegExp) => page.getByRole('treeitem', { name })

describe.skipIf(browserPath === undefined)('traces', () => {
  beforeAll(async () => {
    stand = await openStand()
    startMs = stand.app.clock.nowMs() - 120_000
    await sendSpans(TRACE, [
      { name: 'GET /cart', service: 'shop', from: 0, to: 100, kind: 2 },
      { name: 'call pay', parent: 0, service: 'shop', from: 10, to: 60, kind: 3 },
      { name: 'charge', parent: 1, service: 'pay', from: -35, to: 5, kind: 2, error: 'card refused' },
      { name: 'render', parent: 0, service: 'shop', from: 65, to: 95 },
      { name: 'send mail', parent: 900, service: 'mail', from: 70, to: 80 },
    ])
    await stand.send('pay', [
      {
        timestamp: new Date(startMs + 20).toISOString(),
        level: 'error',
        message: 'refused by the bank',
        trace_id: TRACE,
        span_id: spanId(2),
      },
    ])
    await sendSpans(TWINS, [
      { name: 'GET /offer', service: 'shop', from: 0 - LONG_AGO_MS, to: 100 - LONG_AGO_MS, kind: 2 },
      { name: 'ask price', parent: 0, id: 1, service: 'shop', from: 10 - LONG_AGO_MS, to: 60 - LONG_AGO_MS, kind: 3 },
      { name: 'price', parent: 0, id: 1, service: 'prices', from: 20 - LONG_AGO_MS, to: 50 - LONG_AGO_MS, kind: 2 },
      { name: 'read prices', parent: 1, id: 3, service: 'prices', from: 30 - LONG_AGO_MS, to: 40 - LONG_AGO_MS },
    ])
    const child = (at: number): Given => ({
      name: `step ${at}`,
      parent: at % 100 === 1 ? 0 : at - 1,
      service: `s${at % 7}`,
      from: at - EARLIER_MS,
      to: SPANS - EARLIER_MS,
    })
    await sendSpans(
      LARGE,
      Array.from({ length: SPANS }, (_, at) => (at === 0 ? { ...child(0), name: 'all', parent: undefined } : child(at))),
    )
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand.close())

  test('an event leads to its span, and the span to its log events in Explore', async () => {
    const page = await stand.open(exploreUrl({ f: startMs - 60_000, t: startMs + 60_000, q: `trace_id = '${TRACE}'` }))
    await page.locator('[data-index="0"]').getByRole('button').first().click()
    await page.getByRole('link', { name: 'Trace', exact: true }).click()
    await page.getByRole('heading', { name: 'shop GET /cart' }).waitFor()
    const detail = page.getByRole('complementary', { name: 'Span details' })
    await detail.getByText('refused by the bank').waitFor()
    await detail.getByText('card refused').waitFor()
    await detail.getByText('order-2').waitFor()
    await detail.getByText(/50 ms were added/).waitFor()
    await page.getByText('1 parent span missing').waitFor()
    await detail.getByRole('link', { name: 'Log events in Explore' }).click()
    await page.getByText('refused by the bank').first().waitFor()
  })

  test('the keys move through the tree, collapse it and close the details', async () => {
    const page = await stand.open(`/app/traces?id=${TRACE}`)
    await span(page, /charge/).waitFor()
    await span(page, /GET \/cart/).click()
    await page.getByRole('tree', { name: 'Spans' }).focus()
    await page.keyboard.press('ArrowLeft')
    await span(page, /charge/).waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowRight')
    await span(page, /charge/).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('heading', { name: 'call pay', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary', { name: 'Span details' }).waitFor({ state: 'detached' })
    await page.getByRole('textbox', { name: 'Find spans' }).fill('order-3')
    await page.getByText('1 span found').waitFor()
  })

  test.each(['light', 'dark'] as const)('a narrow and a wide page have no faults, %s', async (theme) => {
    for (const width of [390, 1_440]) {
      const page = await stand.open(`/app/traces?id=${TRACE}&span=${spanId(2)}`, { theme, width })
      await page.getByRole('complementary', { name: 'Span details' }).waitFor()
      expect(await axeFaults(page, `trace ${theme} ${width}`)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      if (process.env.DENDRO_TRACE_PICTURES)
        await page.screenshot({ path: `${process.env.DENDRO_TRACE_PICTURES}/trace-${theme}-${width}.png` })
    }
  })

  test.each(['light', 'dark'] as const)('a narrow and a wide list have no faults, %s', async (theme) => {
    for (const width of [390, 1_440]) {
      const page = await stand.open('/app/traces?any=true&order=slowest', { theme, width })
      await page.getByRole('table').waitFor()
      expect(await axeFaults(page, `traces ${theme} ${width}`)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      if (process.env.DENDRO_TRACE_PICTURES)
        await page.screenshot({ path: `${process.env.DENDRO_TRACE_PICTURES}/traces-${theme}-${width}.png` })
    }
  })

  test('the keys move over a client and a server that share an id', async () => {
    const page = await stand.open(`/app/traces?id=${TWINS}`)
    await span(page, /GET \/offer/).click()
    await page.getByRole('tree', { name: 'Spans' }).focus()
    for (const name of ['ask price', 'price', 'read prices']) {
      await page.keyboard.press('ArrowDown')
      await page.getByRole('heading', { name, exact: true }).waitFor()
    }
    expect(await span(page, /prices price/).getAttribute('aria-level')).toBe('3')
    await page.goto(page.url().replace(/span=[^&]*/, `span=${spanId(1)}.2`))
    await page.getByRole('heading', { name: 'price', exact: true }).waitFor()
  })

  test('operations lead to their traces, in every order', async () => {
    const page = await stand.open('/app/traces')
    await page.getByRole('link', { name: 'Operations', exact: true }).click()
    await page.getByRole('heading', { name: 'Operations' }).waitFor()
    await page.getByRole('button', { name: 'Failing' }).click()
    const rows = page.getByRole('table').getByRole('row')
    await expect.poll(() => rows.count()).toBe(2)
    await page.getByRole('link', { name: '1 (100 %)' }).click()
    await expect.poll(() => page.getByRole('table').getByRole('link').allTextContents()).toEqual(['shop GET /cart'])
    expect(await page.getByRole('combobox', { name: 'Operation' }).inputValue()).toBe('charge')
  })

  test.each(['light', 'dark'] as const)('a narrow and a wide list of operations have no faults, %s', async (theme) => {
    for (const width of [390, 1_440]) {
      const page = await stand.open('/app/traces?ops=true&rank=failing', { theme, width })
      await page.getByRole('table').waitFor()
      expect(await axeFaults(page, `operations ${theme} ${width}`)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      if (process.env.DENDRO_TRACE_PICTURES)
        await page.screenshot({ path: `${process.env.DENDRO_TRACE_PICTURES}/operations-${theme}-${width}.png` })
    }
  })

  test.each([1_440, 390])('numbers that are estimates are called so, %d pixels', async (width) => {
    const page = await stand.open('/app/traces?ops=true', { width })
    const note = page.getByText(/percentiles where there are too many spans to sort/)
    await page.getByRole('table').waitFor()
    expect(await note.count()).toBe(0)
    // Two million spans are too many for a test; that the answer says so is tried with the statistics.
    await page.route('**/operations?*', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ json: { ...(await answer.json()), is_exact: false } })
    })
    await page.reload()
    await note.waitFor()
    await takePicture(page, `operations-estimates-${width}`)
    expect(await axeFaults(page, 'estimates')).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('a service has charts, which lead to its traces and to a monitor on its spans', async () => {
    const page = await stand.open('/app/traces?ops=true&service=pay')
    const chart = page.getByRole('group', { name: /^Failed spans over time/ })
    await chart.waitFor()
    await page.getByRole('group', { name: /^Duration over time/ }).waitFor()
    await page.getByRole('link', { name: '40 ms', exact: true }).first().click()
    await page.getByRole('button', { name: 'All operations' }).waitFor()
    await page.getByRole('link', { name: 'New monitor: Slow spans' }).click()
    await page.getByRole('heading', { name: 'New monitor' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).last().inputValue()).toBe('Slow spans: pay charge')
    await page.getByText("collection = '.traces'").waitFor()
    await page.getByText("$service.name = 'pay' AND $span.name = 'charge'").waitFor()
  })

  test.each(['light', 'dark'] as const)('a narrow and a wide page of a service have no faults, %s', async (theme) => {
    for (const width of [390, 1_440]) {
      const page = await stand.open('/app/traces?ops=true&service=s1', { theme, width })
      await page.getByRole('group', { name: /^Duration over time/ }).waitFor()
      await page.getByRole('table').waitFor()
      expect(await axeFaults(page, `service ${theme} ${width}`)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      if (process.env.DENDRO_TRACE_PICTURES)
        await page.screenshot({ path: `${process.env.DENDRO_TRACE_PICTURES}/service-${theme}-${width}.png` })
    }
  })

  test('the map shows calls, and leads to one service and to what failed', async () => {
    const page = await stand.open('/app/traces')
    await page.getByRole('link', { name: 'Map', exact: true }).click()
    await page.getByRole('heading', { name: 'Service map' }).waitFor()
    const rows = page.getByRole('region', { name: 'Calls table' }).getByRole('row')
    // The head, shop to pay, and each of seven services to the next, at least.
    await expect.poll(() => rows.count()).toBeGreaterThan(8)
    await page.getByRole('button', { name: /^pay/ }).click()
    await expect.poll(() => rows.count()).toBe(2)
    expect(await page.getByRole('button', { name: /^pay/ }).getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('link', { name: '1 (100 %)' }).click()
    await expect.poll(() => page.getByRole('table').getByRole('link').allTextContents()).toEqual(['shop GET /cart'])
    await page.goBack()
    await page.getByRole('button', { name: 'All services' }).click()
    await expect.poll(() => rows.count()).toBeGreaterThan(8)
  })

  test.each(['light', 'dark'] as const)('a narrow and a wide map have no faults, %s', async (theme) => {
    for (const width of [390, 1_440]) {
      const page = await stand.open('/app/traces?map=true', { theme, width })
      await page.getByRole('table').waitFor()
      expect(await axeFaults(page, `map ${theme} ${width}`)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      if (process.env.DENDRO_TRACE_PICTURES)
        await page.screenshot({ path: `${process.env.DENDRO_TRACE_PICTURES}/map-${theme}-${width}.png` })
    }
  })

  test('a trace is drawn as a flame view and as a table, which leads to the spans', async () => {
    const page = await stand.open(`/app/traces?id=${TRACE}`)
    await page.getByRole('button', { name: 'Flame' }).click()
    await page.getByRole('region', { name: 'Flame view' }).getByRole('button', { name: 'pay charge: 40 ms, failed' }).click()
    await page.getByRole('heading', { name: 'charge', exact: true }).waitFor()
    await page.keyboard.press('ArrowUp')
    await page.locator('[aria-pressed=true]:focus[data-at]').waitFor()
    expect(await page.locator('[data-at]:focus').getAttribute('aria-label')).not.toContain('charge')
    await page.keyboard.press('ArrowDown')
    await page.getByRole('heading', { name: 'charge', exact: true }).waitFor()
    await page.keyboard.press('z')
    await page.getByRole('button', { name: 'Whole trace' }).waitFor()
    await page.keyboard.press('Shift+Z')
    await page.getByRole('button', { name: 'Whole trace' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Table' }).click()
    const table = page.getByRole('region', { name: 'Spans by operation' })
    await table.getByRole('button', { name: 'render' }).click()
    await page.getByText('1 span found').waitFor()
    await span(page, /render/).waitFor()
  })

  test('a part of the time is shown by dragging over the axis and by keys', async () => {
    const page = await stand.open(`/app/traces?id=${TRACE}`)
    const bar = span(page, /render/)
      .locator('span.rounded-sm')
      .last()
    const leftOf = async () => (await bar.boundingBox())?.width ?? 0
    await span(page, /render/).waitFor()
    const before = await leftOf()
    const axis = await page.locator('.cursor-col-resize').boundingBox()
    if (!axis) throw new Error('there is no axis')
    await page.mouse.move(axis.x + axis.width * 0.5, axis.y + 5)
    await page.mouse.down()
    await page.mouse.move(axis.x + axis.width - 1, axis.y + 5, { steps: 3 })
    await page.mouse.up()
    await expect.poll(leftOf).toBeGreaterThan(1.8 * before)
    await page.getByRole('button', { name: 'Whole trace' }).click()
    await expect.poll(leftOf).toBeLessThan(1.1 * before)
    await span(page, /render/).click()
    await page.getByRole('tree', { name: 'Spans' }).focus()
    await page.keyboard.press('z')
    await expect.poll(leftOf).toBeGreaterThan(1.8 * before)
    await page.keyboard.press('Shift+Z')
    await page.getByRole('button', { name: 'Whole trace' }).waitFor({ state: 'detached' })
  })

  test.each(['flame', 'table'])('10,000 spans as %s have no faults', async (as) => {
    const page = await stand.open(`/app/traces?id=${LARGE}&as=${as}`)
    await page.getByText('10,000 spans').waitFor()
    await page.getByRole('button', { name: /step/ }).first().waitFor()
    expect(await page.getByRole('button', { name: /step/ }).count()).toBeLessThan(4_000)
    expect(await axeFaults(page, `large ${as}`)).toEqual([])
    if (process.env.DENDRO_TRACE_PICTURES) await page.screenshot({ path: `${process.env.DENDRO_TRACE_PICTURES}/large-${as}.png` })
  })

  test.each(['light', 'dark'] as const)('the drawings of a trace have no faults, %s', async (theme) => {
    for (const as of ['flame', 'table']) {
      for (const width of [390, 1_440]) {
        const page = await stand.open(`/app/traces?id=${TRACE}&as=${as}&span=${spanId(2)}`, { theme, width })
        await page.getByRole('complementary', { name: 'Span details' }).waitFor()
        expect(await axeFaults(page, `${as} ${theme} ${width}`)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        if (process.env.DENDRO_TRACE_PICTURES)
          await page.screenshot({ path: `${process.env.DENDRO_TRACE_PICTURES}/${as}-${theme}-${width}.png` })
      }
    }
  })

  test('10,000 spans are drawn a screen at a time', async () => {
    const page = await stand.open(`/app/traces?id=${LARGE}`)
    await page.getByText('10,000 spans').waitFor()
    await span(page, /s0 all/).waitFor()
    expect(await page.getByRole('treeitem').count()).toBeLessThan(200)
    await page.getByRole('tree', { name: 'Spans' }).evaluate((tree) => tree.scrollTo({ top: tree.scrollHeight }))
    await span(page, /step 9999/).waitFor()
  })

  test('an id leads to its trace, and an unknown one says so', async () => {
    const page = await stand.open('/app/traces')
    await page.getByRole('textbox', { name: 'Trace id' }).fill('1'.repeat(32))
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText(/^No span or event has this trace id/).waitFor()
  })

  test('the list leads to a trace and back, with its conditions', async () => {
    const page = await stand.open('/app/traces')
    const rows = page.getByRole('table').getByRole('link')
    await expect.poll(() => rows.allTextContents()).toEqual(['shop GET /cart', 's0 all'])
    await page.getByRole('button', { name: 'Slowest' }).click()
    await expect.poll(() => rows.allTextContents()).toEqual(['s0 all', 'shop GET /cart'])
    await page.getByRole('button', { name: 'Failing' }).click()
    await page.getByText('No trace matches').waitFor()
    await page.getByRole('button', { name: 'Search any span' }).click()
    await expect.poll(() => rows.allTextContents()).toEqual(['shop GET /cart'])
    await rows.first().click()
    await page.getByRole('heading', { name: 'shop GET /cart' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'All traces' }).click()
    await expect.poll(() => rows.allTextContents()).toEqual(['shop GET /cart'])
    expect(await page.getByRole('button', { name: 'Failing' }).getAttribute('aria-pressed')).toBe('true')
    await page
      .getByRole('textbox', { name: 'Operation' })
      .or(page.getByRole('combobox', { name: 'Operation' }))
      .fill('render')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => rows.count()).toBe(2)
  })

  test('the histogram selects durations by dragging and by keys', async () => {
    const page = await stand.open('/app/traces')
    const bars = page.getByRole('toolbar', { name: 'Spans by duration' })
    const rows = page.getByRole('table').getByRole('link')
    await bars.getByRole('button', { name: '10 s to 20 s: 1 span' }).waitFor()
    const box = await bars.boundingBox()
    if (!box) throw new Error('there is no histogram')
    await page.mouse.move(box.x + box.width - 3, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 3 })
    await page.mouse.up()
    await expect.poll(() => rows.allTextContents()).toEqual(['s0 all'])
    await page.getByRole('button', { name: 'All durations' }).click()
    await expect.poll(() => rows.count()).toBe(2)
    await bars.getByRole('button').first().focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => rows.allTextContents()).toEqual(['shop GET /cart'])
    await page.keyboard.press('Shift+End')
    await expect.poll(() => rows.count()).toBe(2)
    await page.keyboard.press('Escape')
    await page.getByText('drag to select').waitFor()
  })
})
