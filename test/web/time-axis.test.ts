import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** Charts that stand beside each other have one time axis: one moment is read in all, and a part that is selected in one is shown by all. */

let stand: Stand
let range: { f: number; t: number }

const MINUTE = 60_000
/** The steps of all charts over these twenty minutes. */
const STEP = 10_000
const clock = (ms: number) => new Date(ms).toISOString().slice(11, 19)
const STARTS = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/

const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const plot = (page: Page, name: string) => panel(page, name).getByRole('group', { name: new RegExp(`^${name}: `) })
/** The time below a chart, of the step that is read. */
const timeRead = async (page: Page, name: string) =>
  STARTS.exec((await panel(page, name).locator('figcaption').textContent()) ?? '')?.[0] ?? ''
const rangeOf = (page: Page) => ['f', 't'].map((name) => Number(new URL(page.url()).searchParams.get(name)))

async function dragOver(page: Page, where: Locator, from: number, to: number): Promise<void> {
  const box = await where.boundingBox()
  if (!box) throw new Error('there is nothing to drag over')
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * from, y)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * ((from + to) / 2), y)
  await page.mouse.move(box.x + box.width * to, y)
  await page.mouse.up()
}

describe.skipIf(browserPath === undefined)('a time axis that several panels share', () => {
  beforeAll(async () => {
    stand = await openStand()
    const startMs = Math.floor(stand.app.clock.nowMs() / MINUTE) * MINUTE - 40 * MINUTE
    range = { f: startMs, t: startMs + 20 * MINUTE }
    await stand.send(
      'calls',
      Array.from({ length: 120 }, (_, index) => ({
        timestamp: new Date(startMs + index * 10_000).toISOString(),
        level: index % 3 ? 'info' : 'error',
        message: 'a call',
      })),
    )
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  async function openDashboard(): Promise<Page> {
    const make = async (path: string, body: object) => {
      const made = await stand.org.ask<{ id: string }>('POST', path, { body })
      expect(made.status, path).toBe(201)
      return made.body.id
    }
    const metric = (where: string) =>
      make('/metrics/definitions', { queries: [{ name: 'a', select: ['count(*)'], from_expr: '*', where }] })
    const widget_ids = [
      await make('/widgets', { name: 'Calls', type: 'bar', metric_ids: [await metric('')] }),
      await make('/widgets', { name: 'Failures', type: 'line', metric_ids: [await metric("level = 'error'")] }),
      await make('/widgets', { name: 'Areas', type: 'area', metric_ids: [await metric('')] }),
    ]
    const id = await make('/dashboards', { name: 'The calls', widget_ids })
    const page = await stand.open(`/app/dashboards?id=${id}&f=${range.f}&t=${range.t}`)
    for (const name of ['Calls', 'Failures', 'Areas']) await plot(page, name).waitFor()
    return page
  }

  test('the pointer reads one moment in all charts of a dashboard, and a drag over one is the range of all, once', async () => {
    const page = await openDashboard()
    await plot(page, 'Failures').hover()
    await expect.poll(() => timeRead(page, 'Failures')).not.toBe('')
    const read = await timeRead(page, 'Failures')
    for (const name of ['Calls', 'Areas']) await expect.poll(() => timeRead(page, name)).toBe(read)
    const entries = () => page.evaluate<number>('history.length')
    const before = await entries()
    await dragOver(page, plot(page, 'Calls'), 0.4, 0.7)
    await expect.poll(() => rangeOf(page)[0]).toBeGreaterThan(range.f)
    const [from = 0, to = 0] = rangeOf(page)
    expect(to).toBeLessThan(range.t)
    expect(to - from).toBeGreaterThan(2 * MINUTE)
    for (const name of ['Calls', 'Failures', 'Areas']) await plot(page, name).waitFor()
    expect(await entries()).toBe(before + 1)
    await page.goBack()
    await expect.poll(() => rangeOf(page)).toEqual([range.f, range.t])
  })

  test('the arrow keys read all charts of a dashboard, and with Shift and Enter select the range of all', async () => {
    const page = await openDashboard()
    await plot(page, 'Failures').focus()
    for (let pressed = 0; pressed < 5; pressed += 1) await page.keyboard.press('ArrowRight')
    await expect.poll(() => timeRead(page, 'Failures')).not.toBe('')
    const read = await timeRead(page, 'Failures')
    for (const name of ['Calls', 'Areas']) await expect.poll(() => timeRead(page, name)).toBe(read)
    // One chart speaks: the one with the focus.
    expect(await panel(page, 'Failures').locator('figcaption').getAttribute('aria-live')).toBe('polite')
    expect(await panel(page, 'Calls').locator('figcaption').getAttribute('aria-live')).toBe('off')
    for (let pressed = 0; pressed < 9; pressed += 1) await page.keyboard.press('Shift+ArrowRight')
    await page.keyboard.press('Enter')
    await expect.poll(() => rangeOf(page)[0]).toBeGreaterThan(range.f)
    expect(new Date(rangeOf(page)[0] ?? 0).toISOString().slice(0, 19).replace('T', ' ')).toBe(read)
    expect(new URL(page.url()).pathname).toBe('/app/dashboards')
  })

  test('a part that is selected on one side of a comparison is shown on both, by pointer and by keyboard', async () => {
    const page = await stand.open(exploreUrl({ f: range.f + 10 * MINUTE, t: range.t, tab: 'sides' }))
    const chart = (name: string) => page.getByRole('region', { name: `Side ${name}`, exact: true }).getByRole('img', { name: /over time$/ })
    for (const name of ['A', 'B']) await chart(name).waitFor()
    await dragOver(page, chart('B'), 0.21, 0.48)
    const sides = () => ['f', 't', 'bf', 'bt'].map((name) => Number(new URL(page.url()).searchParams.get(name)))
    await expect.poll(() => sides()[0]).toBeGreaterThan(range.f + 10 * MINUTE)
    const [f = 0, t = 0, bf = 0, bt = 0] = sides()
    // Side B is the time before, and stays ten minutes earlier.
    expect([f - bf, t - bt]).toEqual([10 * MINUTE, 10 * MINUTE])
    expect(t - f).toBeGreaterThan(2 * MINUTE)
    expect(t - f).toBeLessThan(4 * MINUTE)
    for (const name of ['A', 'B']) await chart(name).waitFor()
    await chart('A').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Shift+ArrowRight')
    for (const name of ['A', 'B']) await expect.poll(() => chart(name).locator('[data-brush]').count()).toBe(1)
    await page.keyboard.press('Enter')
    await expect.poll(() => (sides()[1] ?? 0) - (sides()[0] ?? 0)).toBeLessThan(t - f)
    expect((sides()[0] ?? 0) - (sides()[2] ?? 0)).toBe(10 * MINUTE)
    for (const name of ['A', 'B']) expect(await chart(name).locator('[data-brush]').count()).toBe(0)
  })

  const histogram = (page: Page) => page.getByRole('region', { name: 'Events over time' }).getByRole('img', { name: /events in steps of/ })
  /** The time of the bar that the histogram reads, as its line below shows it. */
  const barRead = async (page: Page) =>
    /^\d\d:\d\d:\d\d(?= · )/.exec(
      (await page.getByRole('region', { name: 'Events over time' }).locator('[aria-live]').textContent()) ?? '',
    )?.[0] ?? ''

  test('the histogram of Explore and the chart below it read one moment and show one selection, by pointer and by keyboard', async () => {
    const page = await stand.open(exploreUrl({ ...range, tab: 'chart' }))
    const below = page.getByRole('region', { name: 'Chart', exact: true })
    const drawn = below.getByRole('group', { name: /^count\(\*\) over time: / })
    const chartRead = async () => STARTS.exec((await below.locator('figcaption').textContent()) ?? '')?.[0]?.slice(11) ?? ''
    const isOneMoment = async () => {
      const read = await chartRead()
      return read !== '' && read === (await barRead(page))
    }
    /** How wide the part is that the chart shows as selected. */
    const selected = () => below.locator('.u-select').evaluate((part) => part.getBoundingClientRect().width)
    await drawn.waitFor()
    await histogram(page).waitFor()
    const speaks = () => page.getByRole('region', { name: 'Events over time' }).locator('[aria-live]').getAttribute('aria-live')

    await drawn.hover()
    await expect.poll(isOneMoment).toBe(true)
    await expect.poll(speaks).toBe('off')
    await histogram(page).hover()
    await expect.poll(speaks).toBe('polite')
    await expect.poll(isOneMoment).toBe(true)

    await page.mouse.move(2, 2)
    await expect.poll(chartRead).toBe('')
    await expect.poll(() => barRead(page)).toBe('')

    await histogram(page).focus()
    for (let pressed = 0; pressed < 3; pressed += 1) await page.keyboard.press('ArrowRight')
    await expect.poll(() => barRead(page)).toBe(clock(range.f + 2 * STEP))
    await expect.poll(chartRead).toBe(clock(range.f + 2 * STEP))
    for (let pressed = 0; pressed < 5; pressed += 1) await page.keyboard.press('Shift+ArrowRight')
    await expect.poll(selected).toBeGreaterThan(0)
    await page.keyboard.press('Escape')
    await expect.poll(selected).toBe(0)

    await drawn.focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(isOneMoment).toBe(true)
    for (let pressed = 0; pressed < 5; pressed += 1) await page.keyboard.press('Shift+ArrowRight')
    await expect.poll(() => histogram(page).locator('[data-brush]').getAttribute('width')).toBe('6')
    await page.keyboard.press('Escape')
    await expect.poll(() => histogram(page).locator('[data-brush]').count()).toBe(0)
    await expect.poll(isOneMoment).toBe(true)
    // What a chart has read ends with it.
    await page.getByRole('toolbar', { name: 'View' }).getByRole('button', { name: 'Fields', exact: true }).click()
    await drawn.waitFor({ state: 'detached' })
    await expect.poll(() => barRead(page)).toBe('')
  })

  test('the histogram of Explore and both sides of a comparison read one place', async () => {
    const page = await stand.open(exploreUrl({ f: range.f + 10 * MINUTE, t: range.t, tab: 'sides' }))
    const side = (name: string) => page.getByRole('region', { name: `Side ${name}`, exact: true })
    const chart = (name: string) => side(name).getByRole('img', { name: /over time$/ })
    const sideRead = async (name: string) =>
      STARTS.exec((await side(name).locator('p[aria-live]').textContent()) ?? '')?.[0]?.slice(11) ?? ''
    for (const name of ['A', 'B']) await chart(name).waitFor()
    const isOneMoment = async () => {
      const read = await sideRead('A')
      return read !== '' && read === (await barRead(page))
    }
    await chart('B').hover()
    await expect.poll(() => sideRead('B')).not.toBe('')
    await expect.poll(isOneMoment).toBe(true)
    const before = await barRead(page)
    await histogram(page).focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => barRead(page)).not.toBe(before)
    await expect.poll(isOneMoment).toBe(true)
    await page.keyboard.press('Shift+ArrowLeft')
    for (const name of ['A', 'B']) await expect.poll(() => chart(name).locator('[data-brush]').count()).toBe(1)
    await page.keyboard.press('Escape')
    for (const name of ['A', 'B']) await expect.poll(() => chart(name).locator('[data-brush]').count()).toBe(0)
  })
})
