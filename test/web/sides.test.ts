import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { takePicture } from './pictures.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand
let range: { f: number; t: number }

const MINUTE = 60_000

/** calls are of two periods of ten minutes: 20 calls and 4 refusals in the first, 20 calls and 16 timeouts in the second. */
function calls(startMs: number): object[] {
  const at = (period: number, index: number) => new Date(startMs + period * 10 * MINUTE + index * 20_000).toISOString()
  return [0, 1].flatMap((period) => [
    ...Array.from({ length: 20 }, (_, index) => ({ timestamp: at(period, index), level: 'info', message: 'call answered' })),
    ...Array.from({ length: period ? 16 : 4 }, (_, index) => ({
      timestamp: at(period, index),
      level: 'error',
      message: period ? 'upstream timed out' : 'quota refused',
    })),
  ])
}

const side = (page: Page, name: string) => page.getByRole('region', { name: `Side ${name}`, exact: true })
const pair = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
const cellsOf = async (page: Page, text: string) => (await pair(page, text).getByRole('cell').allTextContents()).slice(0, 3)

describe.skipIf(browserPath === undefined)('two sides of a comparison', () => {
  beforeAll(async () => {
    stand = await openStand()
    const startMs = Math.floor(stand.app.clock.nowMs() / MINUTE) * MINUTE - 40 * MINUTE
    range = { f: startMs + 10 * MINUTE, t: startMs + 20 * MINUTE }
    await stand.send('calls', calls(startMs))
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('a query stands beside the time before, with its patterns by difference; a pattern opens its events', async () => {
    const page = await stand.open(exploreUrl({ ...range, tab: 'sides' }))
    await side(page, 'A').getByText('36 events · 16 errors · 0 warnings').waitFor()
    await side(page, 'B').getByText('24 events · 4 errors · 0 warnings').waitFor()
    await pair(page, 'upstream timed out').waitFor()
    expect(await cellsOf(page, 'upstream timed out')).toEqual(['16 · 44 %', '0 · 0.0 %', 'new'])
    expect(await cellsOf(page, 'quota refused')).toEqual(['0 · 0.0 %', '4 · 17 %', 'gone'])
    expect(await page.getByRole('row').nth(1).textContent()).toContain('upstream timed out')
    // Both charts mark the same place of their time axes.
    await side(page, 'A')
      .getByRole('img')
      .hover({ position: { x: 2, y: 40 } })
    for (const name of ['A', 'B'])
      await side(page, name)
        .getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d:00 · 2 events$/)
        .waitFor()
    await takePicture(page, 'sides')
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      expect(await axeFaults(page, theme)).toEqual([])
    }
    await page.getByRole('button', { name: 'upstream timed out' }).click()
    await page.getByText('16 events ·').waitFor()
  })

  test('both sides hold what is in them at every width, and their charts stand at one height', async () => {
    const page = await stand.open(exploreUrl({ ...range, tab: 'sides' }))
    await pair(page, 'upstream timed out').waitFor()
    const boxOf = async (name: string, role: 'img' | 'button') => {
      const found = side(page, name).getByRole(role, role === 'img' ? {} : { name: 'Exchange both sides' })
      return (await found.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    }
    /** How far the last button of side B goes beyond its frame, and how much lower one chart stands than the other. */
    const offsets = async () => {
      const [panel, exchange] = [await side(page, 'B').boundingBox(), await boxOf('B', 'button')]
      const beyond = Math.max(0, exchange.x + exchange.width - (panel?.x ?? 0) - (panel?.width ?? 0))
      return { beyond, lower: (await boxOf('A', 'img')).y - (await boxOf('B', 'img')).y }
    }
    for (const width of [390, 820, 1280, 1440, 2560]) {
      await page.setViewportSize({ width, height: 900 })
      // Narrow, side B is below side A.
      await expect.poll(offsets, { message: `at ${width}` }).toMatchObject(width < 820 ? { beyond: 0 } : { beyond: 0, lower: 0 })
    }
  })

  test('another query stands beside it at the same time, the sides are exchanged, and a link shows the same', async () => {
    const page = await stand.open(exploreUrl({ ...range, tab: 'sides' }))
    await pair(page, 'upstream timed out').waitFor()
    await side(page, 'B').getByRole('textbox', { name: 'Query of side B' }).fill("level = 'error'")
    await page.keyboard.press('Enter')
    await side(page, 'B').getByText('16 events · 16 errors · 0 warnings').waitFor()
    await expect.poll(() => cellsOf(page, 'call answered')).toEqual(['20 · 56 %', '0 · 0.0 %', 'new'])
    await side(page, 'B').getByRole('button', { name: 'Exchange both sides' }).click()
    await side(page, 'A').getByText('16 events · 16 errors · 0 warnings').waitFor()
    await side(page, 'B').getByText('36 events · 16 errors · 0 warnings').waitFor()
    await page.reload()
    await side(page, 'A').getByText('16 events · 16 errors · 0 warnings').waitFor()
    await side(page, 'B').getByText('36 events · 16 errors · 0 warnings').waitFor()
    // Neither side has events: nothing is compared, and the way out is said.
    await page.goto(stand.app.url + exploreUrl({ ...range, tab: 'sides', q: "level = 'none'" }))
    await page.getByText('Neither side has events.').waitFor()
  })
})
