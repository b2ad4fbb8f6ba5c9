import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const RUN = '7d0c1b1e-0000-4000-8000-000000000001'
const hour = { r: 'Last 1 hour' }

/** orders lie two seconds apart: three that repeat each other, one refused, and so on; the newest comes first. */
function orders(startMs: number): object[] {
  return Array.from({ length: 40 }, (_, index) => ({
    timestamp: new Date(startMs - index * 2_000).toISOString(),
    level: index % 4 === 3 ? 'error' : 'info',
    message: index % 4 === 3 ? `payment ${index} refused` : `order ${index} placed`,
    http: { method: 'POST', status: index % 4 === 3 ? 502 : 200, url: { path: '/checkout' } },
    region: index % 2 ? 'eu' : 'us',
    ...(index === 5 ? { trace_id: TRACE } : {}),
  }))
}

const counted = (page: Page, events: number) => page.getByText(`${events.toLocaleString('en')} events ·`).waitFor()
const list = (page: Page) => page.getByRole('region', { name: 'Events', exact: true })
const row = (page: Page, at: number) => list(page).locator(`[data-index="${at}"]`)
const open = (page: Page, at: number) => row(page, at).getByRole('button').first().click()
const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')
const isOrder = { q: 'region IS NOT NULL', ...hour }

async function pin(page: Page, at: number): Promise<void> {
  await row(page, at).hover()
  await row(page, at).getByRole('button', { name: 'Pin this event' }).click()
}

async function toggleOption(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('button', { name: 'Rows' }).click()
  await page.getByRole('dialog', { name: 'Row options' }).getByLabel(name).click()
  await page.keyboard.press('Escape')
}

describe.skipIf(browserPath === undefined)('the rows of events', () => {
  beforeAll(async () => {
    stand = await openStand()
    const startMs = stand.app.clock.nowMs() - 120_000
    await stand.send('orders', orders(startMs))
    const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'gateway', 'content-type': 'text/plain' }
    const raw = `time=${new Date(startMs - 10_500).toISOString()} level=info msg="passed on" request=${TRACE} took=12ms`
    expect((await stand.org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
    const plain = `nightly run ${RUN} has begun`
    expect((await stand.org.ask('POST', '/ingest', { raw: plain, headers })).status).toBe(200)
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('a pair within the text of a row narrows by its key, and an id that belongs to no key by its text', async () => {
    const page = await stand.open(exploreUrl(hour))
    await counted(page, 42)
    await list(page).locator('[data-name="region"][data-value="us"]').first().click()
    await page.getByRole('menuitem', { name: 'Exclude' }).click()
    await counted(page, 22)
    await page.getByRole('list', { name: 'Conditions' }).getByText("NOT region = 'us'").waitFor()
    await list(page).locator('[data-name="took"]').click()
    await page.getByRole('menuitem', { name: 'Only this' }).click()
    await page.getByText('1 event ·').waitFor()
    await page.goBack()
    await list(page).getByText(RUN).click()
    await page.getByRole('menuitem', { name: 'Include' }).click()
    await page.getByRole('list', { name: 'Conditions' }).getByText(`'${RUN}'`).waitFor()
    await page.getByText('1 event ·').waitFor()
  })

  test('an event opens as a tree of its fields, copied by path, value or JSON, and closes by Escape', async () => {
    const page = await stand.open(exploreUrl(isOrder))
    await counted(page, 40)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const detail = row(page, 0)
    await detail.getByRole('rowheader', { name: 'http.url.path' }).waitFor()
    const branch = detail.getByRole('button', { name: 'http 3 fields' })
    await detail.getByRole('button', { name: 'Filter by http' }).click()
    await page.getByRole('menuitem', { name: 'Copy as JSON' }).click()
    await expect.poll(() => copied(page)).toContain('"url.path": "/checkout"')
    await branch.click()
    await detail.getByRole('rowheader', { name: 'http.url.path' }).waitFor({ state: 'detached' })
    const region = detail.getByRole('cell', { name: 'us', exact: true }).getByRole('button')
    for (const [item, text] of [
      ['Copy field name', 'region'],
      ['Copy value', 'us'],
      ['Copy as JSON', '{"region":"us"}'],
    ] as const) {
      await region.click()
      await page.getByRole('menuitem', { name: item }).click()
      await expect.poll(() => copied(page)).toBe(text)
    }
    await page.keyboard.press('Escape')
    await detail.getByRole('rowheader', { name: 'region' }).waitFor({ state: 'detached' })
  })

  test('find highlights a text in the loaded rows and moves between matches by key; elsewhere the browser handles Ctrl-F', async () => {
    const page = await stand.open(exploreUrl(isOrder))
    await counted(page, 40)
    const bar = page.getByRole('search').getByRole('textbox')
    await page.getByRole('textbox', { name: 'Query' }).focus()
    await page.keyboard.press('Control+f')
    expect(await bar.count()).toBe(0)
    await list(page).focus()
    await page.keyboard.press('Control+f')
    await bar.pressSequentially('REFUSED')
    const status = page.getByRole('search').getByRole('status')
    await expect.poll(() => status.textContent()).toBe('10 rows')
    await page.keyboard.press('Enter')
    await expect.poll(() => status.textContent()).toBe('1 of 10 rows')
    await page.keyboard.press('Enter')
    await expect.poll(() => status.textContent()).toBe('2 of 10 rows')
    await list(page).locator('[aria-current=true]').getByText('payment 7').waitFor()
    expect(await list(page).locator('[aria-current=true] .bg-accent').textContent()).toBe('refused')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.press('Shift+Enter')
    await expect.poll(() => status.textContent()).toBe('10 of 10 rows')
    await list(page).locator('[aria-current=true]').getByText('payment 39').waitFor()
    await page.keyboard.press('Escape')
    await bar.waitFor({ state: 'detached' })
    expect(await list(page).locator('.bg-accent').count()).toBe(0)
  })

  test('pinned events stay when the query changes, are copied as a table, compared by their differences, and unpinned', async () => {
    const page = await stand.open(exploreUrl(isOrder))
    await counted(page, 40)
    await pin(page, 0)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('p')
    const tray = page.getByRole('region', { name: 'Pinned events' })
    await tray.getByText('2 pinned events').waitFor()
    await row(page, 1).locator('[data-name="region"]').click()
    await page.getByRole('menuitem', { name: 'Include' }).click()
    await counted(page, 20)
    await tray.getByText('2 pinned events').waitFor()
    await tray.getByRole('button', { name: 'Copy as Markdown' }).click()
    await expect.poll(() => copied(page)).toMatch(/^\| Time \(UTC\) \| Dataset \| Line \|\n\| --- /)
    const [, , older, newer] = (await copied(page)).split('\n')
    expect(older).toMatch(/ \| orders \| `.*payment 3 refused/)
    expect(newer).toMatch(/ \| orders \| `.*order 0 placed/)
    await tray.getByRole('button', { name: 'Compare' }).click()
    const compared = page.getByRole('dialog', { name: '2 events side by side' })
    const keys = compared.getByRole('rowheader')
    await expect.poll(async () => (await keys.allTextContents()).slice(-2)).toEqual(['http.method', 'http.url.path'])
    await compared.getByRole('button', { name: 'Only differences' }).click()
    await expect.poll(() => keys.allTextContents()).toEqual(['http.status', 'level', 'message', 'region', 'timestamp'])
    await compared.getByRole('button', { name: 'Close' }).click()
    await tray
      .getByRole('button', { name: /^Unpin the event/ })
      .first()
      .click()
    await tray.getByText('1 pinned event').waitFor()
    await tray.getByRole('button', { name: 'Clear' }).click()
    await tray.waitFor({ state: 'detached' })
  })

  test('pinned events survive a reload for their owner only, and are deleted when cleared or signed out', async () => {
    const page = await stand.open(exploreUrl(isOrder))
    await counted(page, 40)
    const tray = page.getByRole('region', { name: 'Pinned events' })
    const pinned = tray.getByRole('listitem').getByText('order 0 placed')
    await pin(page, 0)
    await pinned.waitFor()
    await page.reload()
    await pinned.waitFor()
    // The time of a pinned event leads to what was around it, so its number is as exact as before.
    await tray.getByTitle('Show the events before and after').click()
    await page.getByRole('dialog').getByText('order 0 placed').first().waitFor()
    await page.keyboard.press('Escape')
    const become = async (key: string) => {
      await page.evaluate(`sessionStorage.setItem('dendro.credential', 'key ${key}')`)
      await page.reload()
      await page.getByRole('link', { name: 'Explore' }).first().waitFor()
    }
    const kept = () => page.evaluate<string | null>(`sessionStorage.getItem('dendro.kept-events')`)
    expect(await kept()).toContain('order 0 placed')
    await become((await stand.app.newOrganization()).key)
    await expect.poll(kept).toBeNull()
    expect(await tray.count()).toBe(0)
    await become(stand.org.key)
    await counted(page, 40)
    await pin(page, 0)
    await tray.getByRole('button', { name: 'Clear' }).click()
    await page.reload()
    await counted(page, 40)
    await expect.poll(kept).toBeNull()
    expect(await tray.count()).toBe(0)
    await pin(page, 0)
    await expect.poll(kept).toContain('order 0 placed')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    expect(await kept()).toBeNull()
  })

  test('repeats collapse into one row with their count, expand to all rows, and a link shows the same', async () => {
    const page = await stand.open(exploreUrl(isOrder))
    await counted(page, 40)
    await toggleOption(page, /^Collapse repeats/)
    const times = row(page, 0).getByRole('button', { name: '×3' })
    await times.waitFor()
    await row(page, 1).getByText('payment 3 refused').waitFor()
    await page.reload()
    await times.click()
    await row(page, 2).getByText('order 2 placed').waitFor()
    await row(page, 3).getByText('payment 3 refused').waitFor()
    await times.click()
    await row(page, 1).getByText('payment 3 refused').waitFor()
    await toggleOption(page, /^Collapse repeats/)
    await row(page, 1).getByText('order 1 placed').waitFor()
  })

  test('gaps are measured from the row above, or from a marked row', async () => {
    const page = await stand.open(exploreUrl(isOrder))
    await counted(page, 40)
    const gap = (at: number) => row(page, at).locator('[data-gap]')
    await toggleOption(page, /^Time between rows/)
    await expect.poll(() => gap(1).textContent()).toBe('2 s')
    expect(await gap(0).textContent()).toBe('')
    for (let at = 0; at < 3; at += 1) await page.keyboard.press('j')
    await page.keyboard.press('m')
    await expect.poll(() => gap(2).textContent()).toBe('0')
    expect(await gap(0).textContent()).toBe('+4 s')
    expect(await gap(5).textContent()).toBe('−6 s')
    await page.reload()
    await expect.poll(() => gap(5).textContent()).toBe('−6 s')
    await page.goBack()
    await expect.poll(() => gap(5).textContent()).toBe('2 s')
  })

  test('an id is followed through all datasets, oldest first, and Back returns', async () => {
    const page = await stand.open(exploreUrl({ ...isOrder, cols: ['trace_id'], q: 'trace_id IS NOT NULL' }))
    await list(page).getByRole('button', { name: TRACE }).first().click()
    await page.getByRole('menuitem', { name: 'Follow in all datasets' }).click()
    await counted(page, 2)
    await row(page, 0).getByText('passed on').waitFor()
    await row(page, 1).getByText('order 5 placed').waitFor()
    await expect.poll(() => row(page, 1).locator('[data-gap]').textContent()).toBe('500 ms')
    await page.goBack()
    await page.getByText('trace_id IS NOT NULL').first().waitFor()
    await row(page, 0).getByRole('button', { name: TRACE }).waitFor()
  })

  test('density and the placement of event details are stored in the browser', async () => {
    const page = await stand.open(exploreUrl(isOrder))
    await counted(page, 40)
    const height = async () => (await row(page, 4).boundingBox())?.height
    expect(await height()).toBe(21)
    await page.getByRole('button', { name: 'Rows' }).click()
    await page.getByRole('button', { name: 'Comfortable' }).click()
    await page.getByRole('button', { name: 'Side panel' }).click()
    await page.keyboard.press('Escape')
    await expect.poll(height).toBe(29)
    await page.reload()
    await expect.poll(height).toBe(29)
    await open(page, 1)
    const panel = page.getByRole('complementary', { name: 'Event details' })
    await panel.getByRole('cell', { name: 'order 1 placed' }).waitFor()
    await list(page).focus()
    await page.keyboard.press('j')
    await panel.getByRole('cell', { name: 'order 0 placed' }).waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
  })

  test('the context of an event is shown before it, after it or both, and loads more on either side until it ends', async () => {
    const own = await stand.app.newOrganization()
    const startMs = stand.app.clock.nowMs() - 300_000
    const lines = Array.from({ length: 400 }, (_, index) => ({
      timestamp: new Date(startMs + index * 10).toISOString(),
      message: `step ${index}`,
      service: index % 2 ? 'cart' : 'pay',
      ...(index % 100 ? {} : { trace_id: 'ab12' }),
    }))
    await stand.send('steps', lines, own)
    const page = await stand.open(exploreUrl({ ...hour, q: "message = 'step 200'" }), { key: own.key })
    await open(page, 0)
    await page.getByRole('button', { name: 'Context' }).click()
    const dialog = page.getByRole('dialog')
    const steps = async () => [...((await dialog.textContent()) ?? '').matchAll(/step (\d+)/g)].map(([, step]) => Number(step))
    const isUpTo = async (first: number, last: number) => {
      await expect.poll(async () => (await steps()).at(0)).toBe(first)
      await expect.poll(async () => (await steps()).at(-1)).toBe(last)
    }
    await dialog.getByRole('button', { name: 'Before', exact: true }).click()
    await expect.poll(async () => (await steps()).at(-1)).toBe(200)
    const [first = 0] = await steps()
    expect(first).toBeLessThan(110)
    await dialog.getByRole('button', { name: 'Earlier' }).click()
    await expect.poll(async () => (await steps()).at(0)).toBeLessThan(first)
    await dialog.getByRole('button', { name: 'After', exact: true }).click()
    await expect.poll(async () => (await steps()).at(0)).toBe(200)
    await page.goBack()
    await page.goBack()
    await dialog.getByRole('button', { name: 'Later' }).waitFor()
    while ((await dialog.getByText('No later events within a minute').count()) === 0) {
      const before = (await steps()).length
      const later = dialog.getByRole('button', { name: 'Later' })
      if (await later.isVisible()) await later.click()
      await expect
        .poll(async () => (await steps()).length > before || (await dialog.getByText('No later events within a minute').count()) > 0)
        .toBe(true)
    }
    while ((await dialog.getByText('No earlier events within a minute').count()) === 0) {
      const before = (await steps()).length
      const earlier = dialog.getByRole('button', { name: 'Earlier' })
      if (await earlier.isVisible()) await earlier.click()
      await expect
        .poll(async () => (await steps()).length > before || (await dialog.getByText('No earlier events within a minute').count()) > 0)
        .toBe(true)
    }
    await isUpTo(0, 399)
    expect(await steps()).toEqual(Array.from({ length: 400 }, (_, index) => index))
    expect(await dialog.locator('[aria-current=true]').textContent()).toContain('step 200')
    await dialog.getByRole('button', { name: 'trace ab12' }).click()
    await expect.poll(steps).toEqual([0, 100, 200, 300])
    await dialog.getByRole('button', { name: 'service pay' }).click()
    await isUpTo(100, 298)
    expect((await steps()).every((step) => step % 2 === 0)).toBe(true)
    expect(await dialog.locator('[aria-current=true]').textContent()).toContain('step 200')
    await page.goBack()
    await expect.poll(steps).toEqual([0, 100, 200, 300])
    await dialog.getByRole('button', { name: 'all senders' }).click()
    await isUpTo(0, 399)
  })

  test('thousands of rows are in the page only where they are seen, on one line or wrapped, down to where the range ends', async () => {
    const own = await stand.app.newOrganization()
    const startMs = stand.app.clock.nowMs() - 60_000
    const lines = Array.from({ length: 3_000 }, (_, index) => ({
      timestamp: new Date(startMs - index * 10).toISOString(),
      message: `step ${index} ${'of a long way '.repeat(index % 40)}`,
    }))
    await stand.send('steps', lines, own)
    const page = await stand.open(exploreUrl(hour), { key: own.key })
    await counted(page, 3_000)
    const isAtEnd = async () => {
      await list(page).evaluate((place) => place.scrollTo({ top: place.scrollHeight }))
      return list(page).getByText('The range ends here, at ').isVisible()
    }
    await expect.poll(isAtEnd, { timeout: 240_000 }).toBe(true)
    await list(page).getByText('step 2999 ').waitFor()
    expect(await list(page).locator('[data-index]').count()).toBeLessThan(150)
    await toggleOption(page, /^Wrap long lines/)
    await expect.poll(isAtEnd, { timeout: 240_000 }).toBe(true)
    // Rows that have just come into sight are measured, and then placed below one another.
    const misplaced = () =>
      list(page).evaluate((place) => {
        const rows = [...place.querySelectorAll('[data-index]')].map((one) => one.getBoundingClientRect())
        return rows.filter(({ top }, at) => at > 0 && Math.abs(top - (rows[at - 1]?.bottom ?? 0)) > 1).length
      })
    await expect.poll(misplaced, { timeout: 240_000 }).toBe(0)
    expect(await list(page).locator('[data-index]').count()).toBeLessThan(150)
  })

  test('? lists every shortcut', async () => {
    const page = await stand.open(exploreUrl(isOrder))
    await counted(page, 40)
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    for (const key of ['/', 'Tab', 'Enter', 'Esc', 'j k', 'x', 'f F', 'c', 'p', 'm', 'Ctrl F', 'n N', 't', 'l', 'r', 'Ctrl K', '?']) {
      await keys
        .getByRole('term')
        .filter({ hasText: new RegExp(`^${key.replace('?', '\\?').replace(' ', '\\s+')}$`) })
        .waitFor()
    }
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('axe finds no fault with pinned events, find bar, panel and comparison: %s, %d pixels', async (theme, width) => {
    const page = await stand.open(exploreUrl({ ...isOrder, fold: true, gap: true }), { theme, width })
    await counted(page, 40)
    for (const at of [0, 1]) {
      await open(page, at)
      await row(page, at).getByRole('button', { name: 'Pin', exact: true }).click()
      await open(page, at)
    }
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.keyboard.type('refused')
    await open(page, 1)
    await page.getByRole('button', { name: 'Rows' }).click()
    if (width > 1_000) expect(await axeFaults(page, 'menu')).toEqual([])
    await page.getByRole('button', { name: 'Side panel' }).click()
    await page.keyboard.press('Escape')
    await open(page, 2)
    await page.getByRole('complementary', { name: 'Event details' }).waitFor()
    expect(await axeFaults(page, 'drawer')).toEqual([])
    await page.getByRole('complementary', { name: 'Event details' }).getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await axeFaults(page, 'comparison')).toEqual([])
  })
})
