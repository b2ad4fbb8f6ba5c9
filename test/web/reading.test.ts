import type { CDPSession, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { browserPath } from './browser.fixture.ts'
import { type Made, makeWatched, placed } from './demo-records.fixture.ts'
import { pointerOnlyParts, readingFaults, readTree } from './reading.fixture.ts'
import { shots, spoil } from './screenshots.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** Every page is read as a screen reader does, from the tree of the browser, beside what axe finds in the document. */

let stand: Stand
let made: Made

const inside = shots.filter(({ path, isPublic }) => !isPublic && !path.startsWith('/docs'))
const pathsOf = (records: Made) => [...new Set(inside.map(({ path }) => placed(path, records)))]

async function open(): Promise<{ page: Page; cdp: CDPSession }> {
  const page = await stand.open('/app/settings?part=you')
  return { page, cdp: await page.context().newCDPSession(page) }
}

const untilLoaded = async (page: Page, path: string) => {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await expect.poll(() => page.getByText(/^(Loading|Reading|Counting|Measuring|Looking)/).count(), { message: path }).toBe(0)
}

describe.skipIf(browserPath === undefined)('every page as a screen reader reads it', () => {
  beforeAll(async () => {
    stand = await openStand()
    const nowMs = stand.app.clock.nowMs()
    const event = (index: number) => ({
      timestamp: new Date(nowMs - index * 60_000).toISOString(),
      level: index % 4 ? 'info' : 'error',
      status: index % 4 ? 200 : 503,
      path: index % 2 ? '/cart' : '/checkout',
      duration_ms: 100 + index,
      message: `request ${index} answered`,
    })
    const events = Array.from({ length: 40 }, (_, index) => event(index))
    for (const dataset of ['web', 'payments', 'checkout']) await stand.send(dataset, events)
    made = await makeWatched(stand.app.url, stand.org.key)
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('has one heading, its landmarks, and controls with names that keys reach', async () => {
    const { page, cdp } = await open()
    const faults: string[] = []
    for (const path of pathsOf(made)) {
      await page.goto(stand.app.url + path)
      await untilLoaded(page, path)
      faults.push(...readingFaults(await readTree(cdp)).map((fault) => `${path}: ${fault}`))
      faults.push(...(await pointerOnlyParts(page)).map((part) => `${path}: no key reaches ${part}`))
    }
    expect(faults).toEqual([])
  })

  test.each(['loading', 'error'] as const)('names what it waits for, and what failed: %s', async (state) => {
    const { page, cdp } = await open()
    await spoil(page, state)
    const faults: string[] = []
    for (const path of pathsOf(made)) {
      await page.goto(stand.app.url + path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      const isSaid = async () => {
        const parts = await readTree(cdp)
        return state === 'error' ? parts.some(({ role }) => role === 'alert') : parts.some(({ live }) => live !== undefined)
      }
      await expect.poll(isSaid, { message: `${path} says nothing` }).toBe(true)
      faults.push(...readingFaults(await readTree(cdp)).map((fault) => `${path}: ${fault}`))
    }
    expect(faults).toEqual([])
  })
})
