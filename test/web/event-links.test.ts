import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { takePicture } from './pictures.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** The address of Explore holds the event that is open. */

let stand: Stand
let END = 0

const EVENTS = 150
const hour = () => ({ f: END - 3_600_000, t: END })
const list = (page: Page) => page.getByRole('region', { name: 'Events', exact: true })
const row = (page: Page, at: number) => list(page).locator(`[data-index="${at}"]`)
const details = (page: Page, at: number) => row(page, at).getByRole('table', { name: 'Fields of this event' })
const panel = (page: Page) => page.getByRole('complementary', { name: 'Event details' })
const openInAddress = (page: Page): string | null => new URL(page.url()).searchParams.get('o')

/** eventRefs are the references of the events, oldest first. Sequence numbers do not fit into the numbers of JavaScript. */
async function eventRefs(): Promise<string[]> {
  const body = { from_expr: '*', select: ['*'], from_ts: hour().f, to_ts: hour().t, limit: EVENTS, most_recent_first: false }
  const headers = { 'x-service-api-key': stand.org.key, 'content-type': 'application/json' }
  const text = await (await fetch(`${stand.app.url}/search`, { method: 'POST', headers, body: JSON.stringify(body) })).text()
  type Found = { events: { metadata: { service_id: string; timestamp: number; sequence: string } }[] }
  const { events } = JSON.parse(text.replaceAll(/"sequence":(\d+)/g, '"sequence":"$1"')) as Found
  return events.map(({ metadata: { service_id, timestamp, sequence } }) => `${service_id}.${timestamp}.${sequence}`)
}

describe.skipIf(browserPath === undefined)('the open event of Explore', () => {
  beforeAll(async () => {
    stand = await openStand()
    END = stand.app.clock.nowMs()
    const at = (n: number) => new Date(END - (EVENTS - n) * 1_000).toISOString()
    await stand.send(
      'web',
      Array.from({ length: EVENTS }, (_, n) => ({ timestamp: at(n), message: `order ${n} placed`, n })),
    )
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand.close())

  test('is in the address, and is open for who opens the link', async () => {
    const page = await stand.open('/app/data')
    await page.goto(stand.app.url + exploreUrl(hour()))
    await row(page, 2).getByRole('button').first().click()
    await details(page, 2).waitFor()
    const refs = await eventRefs()
    await expect.poll(() => openInAddress(page)).toBe(refs.at(-3))
    const other = await stand.open(new URL(page.url()).pathname + new URL(page.url()).search)
    await details(other, 2).getByText('order 147 placed').first().waitFor()
    expect(await panel(other).count()).toBe(0)
    // Back leads to where the page came from, not to each event that was open.
    await row(page, 1).getByRole('button').first().click()
    await expect.poll(() => openInAddress(page)).toBe(refs.at(-2))
    await row(page, 1).getByRole('button').first().click()
    await expect.poll(() => openInAddress(page)).toBe(refs.at(-3))
    await row(page, 2).getByRole('button').first().click()
    await expect.poll(() => openInAddress(page)).toBe(null)
    await page.goBack()
    await page.getByRole('heading', { name: 'Data', level: 1 }).waitFor()
  })

  test('is shown in its context where it is not among the first rows', async () => {
    const [oldest = ''] = await eventRefs()
    const page = await stand.open(exploreUrl({ ...hour(), o: oldest }))
    const context = page.getByRole('dialog', { name: /^Events around this one/ })
    await context.locator('[aria-current=true]').getByText('order 0 placed').waitFor()
    await takePicture(page, 'explore-linked')
    expect(await axeFaults(page, 'linked event')).toEqual([])
    expect(new URL(page.url()).searchParams.get('e')).toBe(oldest)
    expect(openInAddress(page)).toBe(null)
  })

  test('is said to be gone where it is', async () => {
    const [oldest = ''] = await eventRefs()
    const page = await stand.open(exploreUrl({ ...hour(), o: oldest.replace(/\d+$/, '999999999999') }))
    await page.getByRole('alert').getByText('This event no longer exists').waitFor()
  })

  test('is open again when Back undoes a filter, also one that left it out', async () => {
    const refs = await eventRefs()
    const page = await stand.open(exploreUrl(hour()))
    await row(page, 2).getByRole('button').first().click()
    await page.getByRole('textbox', { name: 'Query' }).fill('n < 10')
    await page.keyboard.press('Enter')
    await row(page, 9).getByText('order 0 placed').waitFor()
    await expect.poll(() => openInAddress(page)).toBe(null)
    await page.goBack()
    await details(page, 2).getByText('order 147 placed').first().waitFor()
    expect(openInAddress(page)).toBe(refs.at(-3))
  })

  test('stays in view under another query, and without one the list begins at its first row', async () => {
    const page = await stand.open(exploreUrl(hour()))
    const top = () => list(page).evaluate((element) => element.scrollTop)
    await row(page, 0).waitFor()
    await list(page).evaluate((element) => element.scrollTo({ top: 1_500 }))
    await row(page, 75).getByRole('button').first().click()
    await details(page, 75).waitFor()
    const query = page.getByRole('textbox', { name: 'Query' })
    await query.fill('n < 100')
    await page.keyboard.press('Enter')
    await details(page, 25).getByText('order 74 placed').first().waitFor()
    expect(await row(page, 25).getByRole('button').first().isVisible()).toBe(true)
    await page.goBack()
    await details(page, 75).getByText('order 74 placed').first().waitFor()
    await expect
      .poll(async () => Math.round((await row(page, 75).boundingBox())?.y ?? 0))
      .toBe(Math.round((await list(page).boundingBox())?.y ?? -1))
    await query.fill('n < 70')
    await page.keyboard.press('Enter')
    await row(page, 0).getByText('order 69 placed').waitFor()
    expect(await top()).toBe(0)
  })

  test('follows the keys in the side panel, and leaves the address when the query leaves it out', async () => {
    const refs = await eventRefs()
    const page = await stand.open(exploreUrl({ ...hour(), o: refs.at(-1) }))
    await details(page, 0).waitFor()
    await page.getByRole('textbox', { name: 'Query' }).fill('n < 10')
    await page.keyboard.press('Enter')
    await row(page, 9).getByText('order 0 placed').waitFor()
    await expect.poll(() => openInAddress(page)).toBe(null)
    await page.evaluate(`localStorage.setItem('dendro.rows', '{"detail":"beside"}')`)
    await page.goto(stand.app.url + exploreUrl({ ...hour(), o: refs.at(-2) }))
    await panel(page).getByText('order 148 placed').first().waitFor()
    await page.keyboard.press('j')
    await panel(page).getByText('order 147 placed').first().waitFor()
    await expect.poll(() => openInAddress(page)).toBe(refs.at(-3))
    await page.keyboard.press('Escape')
    await expect.poll(() => openInAddress(page)).toBe(null)
  })
})
