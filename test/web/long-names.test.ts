import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** Names, texts and numbers of records that are longer than a page has room for. */

let stand: Stand
let sentMs = 0

const TRACE = '5b8efff798038103d269b633813fc60c'
const SERVICE = `payments-${'reconciliation-'.repeat(12)}worker`
const STACK = `java.lang.IllegalStateException: Pool is exhausted\n${'\tat com.example.pool.Borrower.borrow(Borrower.java:100)\n'.repeat(30)}`
const DATASETS = 60
const NANO = 1_000_000n

async function sendTrace(): Promise<void> {
  const startMs = BigInt(stand.app.clock.nowMs() - 60_000)
  const span = (at: number, name: string, parent?: number) => ({
    traceId: TRACE,
    spanId: String(at).padStart(16, '0'),
    ...(parent === undefined ? {} : { parentSpanId: String(parent).padStart(16, '0') }),
    name,
    startTimeUnixNano: String(startMs * NANO),
    endTimeUnixNano: String((startMs + 100n) * NANO),
    attributes: [{ key: 'exception.stacktrace', value: { stringValue: STACK } }],
  })
  const resourceSpans = [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: SERVICE } }] },
      scopeSpans: [{ spans: [span(1, 'POST /settle'), span(2, 'charge card', 1)] }],
    },
  ]
  const headers = { 'content-type': 'application/json' }
  expect((await stand.org.ask('POST', '/v1/traces', { raw: JSON.stringify({ resourceSpans }), headers })).status).toBe(200)
}

describe.skipIf(browserPath === undefined)('long names', () => {
  beforeAll(async () => {
    stand = await openStand()
    await sendTrace()
    sentMs = stand.app.clock.nowMs() - 60_000
    const timestamp = new Date(sentMs).toISOString()
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`attribute_${at}_with_a_rather_long_name_that_goes_on`, at]))
    await stand.send('wide', [
      { timestamp, message: 'wide', ...fields },
      { timestamp, message: 'narrow' },
    ])
    for (let at = 0; at < DATASETS; at += 1) await stand.send(`worker-${at}`, [{ timestamp, message: 'started' }])
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test.each([390, 1280])('the operation of a span is read beside a service with a long name, %d pixels', async (width) => {
    const page = await stand.open(`/app/traces?id=${TRACE}`, { width })
    const row = page.getByRole('treeitem', { name: /charge card/ })
    await row.waitFor()
    expect(await row.getAttribute('aria-level')).toBe('2')
    const name = await page.getByText('charge card', { exact: true }).first().boundingBox()
    const column = await row.locator('> span').first().boundingBox()
    const service = await row.getByText(SERVICE, { exact: true }).boundingBox()
    expect((name?.x ?? 0) - (service?.x ?? 0) - (service?.width ?? 0), 'a space between them').toBeGreaterThan(2)
    expect(name?.width).toBeGreaterThan(50)
    expect((name?.x ?? 0) + (name?.width ?? 0)).toBeLessThanOrEqual((column?.x ?? 0) + (column?.width ?? 0))
    const swatch = page.getByRole('list', { name: 'Services' }).locator('[aria-hidden]').first()
    expect(await swatch.evaluate((one) => one.getBoundingClientRect().width)).toBe(10)
  })

  test('a stack trace takes the whole width of the details of its span', async () => {
    const page = await stand.open(`/app/traces?id=${TRACE}`)
    await page.getByRole('treeitem', { name: /charge card/ }).click()
    const details = page.getByRole('complementary', { name: 'Span details' })
    const value = await details.locator('dd', { hasText: 'IllegalStateException' }).boundingBox()
    const panel = await details.boundingBox()
    expect(value?.width).toBeGreaterThan((panel?.width ?? 0) * 0.8)
  })

  test('a trace has one line for each of its services in the list', async () => {
    const page = await stand.open('/app/traces')
    const service = page.getByRole('list', { name: 'Services' }).getByRole('listitem').first()
    await service.waitFor()
    expect((await service.boundingBox())?.height).toBeLessThan(24)
    expect(await service.getAttribute('title')).toBe(SERVICE)
  })

  test('usage of many datasets is a list of lines that can be read', async () => {
    const page = await stand.open('/app/usage')
    const rows = page.getByRole('region', { name: 'By dataset' }).getByRole('listitem')
    await expect.poll(() => rows.count(), { timeout: 120_000 }).toBeGreaterThan(DATASETS / 2)
    const heights = await rows.evaluateAll((all) => all.map((one) => one.scrollHeight - one.clientHeight))
    expect(Math.max(...heights)).toBe(0)
  })

  test('fields have one line each, and the note about estimates is not cut', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour' }))
    const fields = page.getByRole('region', { name: 'Fields' })
    const summaries = fields.locator('summary')
    await summaries.nth(20).waitFor()
    const heights = await summaries.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(2)
    const note = fields.getByText(/shares estimated$|fields in/).first()
    expect(await note.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
  })

  test('the zone of all times is named in the frame of every page, and is changed there', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour' }), { zone: 'Asia/Kolkata' })
    const zone = page.getByRole('banner').getByRole('button', { name: /^Times in / })
    const rows = page.getByRole('region', { name: 'Events', exact: true }).locator('[data-index="0"]')
    const clockOf = (ms: number) => new Date(ms).toISOString().slice(11, 16)
    await rows.getByText(clockOf(sentMs)).waitFor()
    expect(await zone.textContent()).toBe('UTC')
    await zone.click()
    await rows.getByText(clockOf(sentMs + 19_800_000)).waitFor()
    expect(await zone.textContent()).toBe('UTC+05:30')
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await zone.isVisible()).toBe(true)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.setViewportSize({ width: 1024, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })

  test('the runbook in the description of a monitor is a link', async () => {
    const monitor = {
      name: 'Settlement fails',
      description: 'Runbook: https://wiki.example.org/settlement. Call the bank.',
      queries: [{ name: 'a', select: ['count(*)'], from_expr: '*', where: '' }],
      comparison_operator: 'ABOVE',
      threshold: 5,
      window: 'Last 5 minutes',
      actions: [{ email: 'oncall@example.org' }],
    }
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/monitors', { body: monitor })).body
    const page = await stand.open(`/app/monitors?id=${id}`)
    const link = page.getByRole('link', { name: 'https://wiki.example.org/settlement', exact: true })
    await link.waitFor()
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener')
  })
})
