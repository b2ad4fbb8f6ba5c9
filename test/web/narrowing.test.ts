import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { takePicture } from './pictures.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

const hour = { r: 'Last 1 hour' }

/** carts have items in an array, and an object that only every fourth has. */
function carts(startMs: number): object[] {
  return Array.from({ length: 40 }, (_, index) => ({
    timestamp: new Date(startMs - index * 2_000).toISOString(),
    level: index % 4 === 3 ? 'error' : 'info',
    message: `cart ${index} closed`,
    region: index % 2 ? 'eu' : 'us',
    items: [{ sku: `s-${index % 5}`, price: 1.5, tags: ['new', null] }, { sku: 'bag' }],
    ...(index % 4 === 3 ? { refund: { reason: 'late', amount: '9.90' } } : {}),
  }))
}

const counted = (page: Page, events: number) => page.getByText(`${events} event${events === 1 ? '' : 's'} ·`).waitFor()
const list = (page: Page) => page.getByRole('region', { name: 'Events', exact: true })
const conditions = (page: Page) => page.getByRole('list', { name: 'Conditions' }).getByRole('listitem')

async function openRow(page: Page, at: number) {
  const row = list(page).locator(`[data-index="${at}"]`)
  await row.getByRole('button').first().click()
  return seeOpenRow(page, at)
}

async function seeOpenRow(page: Page, at: number) {
  const row = list(page).locator(`[data-index="${at}"]`)
  await row.getByRole('rowheader', { name: 'region' }).waitFor()
  return row
}

/** Counts the changes of the page after which row `at` has `text` and is closed. */
const watchClosedRows = (page: Page, at: number, text: string) =>
  page.evaluate(`globalThis.closedRows = 0
    new MutationObserver(() => {
      const row = document.querySelector('[data-index="${at}"]')
      if (row?.textContent.includes('${text}') && !row.querySelector('th')) closedRows += 1
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`)

async function filterBy(page: Page, path: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Filter by ${path}`, exact: true }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

describe.skipIf(browserPath === undefined)('narrowing a query by what is seen', () => {
  beforeAll(async () => {
    stand = await openStand()
    await stand.send('carts', carts(stand.app.clock.nowMs() - 120_000))
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('every node of the tree of an event filters: a value in an array, an element, an object and its absence', async () => {
    const page = await stand.open(exploreUrl(hour))
    await counted(page, 40)
    const row = await openRow(page, 3)
    await row.getByRole('button', { name: 'items 2 elements' }).waitFor()
    await row.getByRole('rowheader', { name: 'items.0.price' }).waitFor()
    expect(await row.getByRole('cell', { name: '1.5', exact: true }).count()).toBe(1)
    await takePicture(page, 'event-tree')
    await row.locator('[data-name="items.0.sku"]').click()
    await page.getByRole('menuitem', { name: 'Include', exact: true }).click()
    await counted(page, 8)
    await conditions(page).getByText("items.0.sku = 's-3'").waitFor()
    await page.keyboard.press('Escape')
    await watchClosedRows(page, 3, 'cart 3 closed')
    await page.keyboard.press('u')
    await counted(page, 40)
    // Back opens the event again, in the same moment as its row appears: a click on the closed row would close it.
    await seeOpenRow(page, 3)
    expect(await page.evaluate('closedRows')).toBe(0)
    await filterBy(page, 'refund', 'Events with this')
    await counted(page, 10)
    await conditions(page).getByText('refund.reason IS NOT NULL OR refund.amount IS NOT NULL').waitFor()
    await page.goBack()
    await counted(page, 40)
    await seeOpenRow(page, 3)
    await filterBy(page, 'refund', 'Events without this')
    await counted(page, 30)
    await page.goBack()
    await counted(page, 40)
    await seeOpenRow(page, 3)
    await filterBy(page, 'refund', 'Include these values')
    await counted(page, 10)
    expect(await conditions(page).count()).toBe(2)
    await page.goBack()
    await counted(page, 40)
    await seeOpenRow(page, 3)
    await filterBy(page, 'items.0', 'Include these values')
    await counted(page, 8)
    await seeOpenRow(page, 0)
    await filterBy(page, 'items.1', 'Add as column')
    await page.getByRole('group', { name: 'Columns' }).getByRole('button', { name: 'items.1' }).waitFor()
    expect(await axeFaults(page, 'event tree')).toEqual([])
  })

  test('a facet counts the values of the selection; a click includes or excludes one, and a click takes that back', async () => {
    const page = await stand.open(exploreUrl(hour))
    await counted(page, 40)
    const fields = page.getByRole('region', { name: 'Fields' })
    await fields.getByText('region', { exact: true }).click()
    await fields.getByRole('button', { name: /^eu\s*20 · 50 %$/ }).waitFor()
    await fields.getByText('level', { exact: true }).click()
    await fields.getByRole('button', { name: /^error\s*10 · 25 %$/ }).hover()
    await fields.getByRole('button', { name: 'Include error' }).click()
    await counted(page, 10)
    await fields.getByRole('button', { name: /^eu\s*10 · 100 %$/ }).waitFor()
    expect(await fields.getByRole('button', { name: 'Include error' }).getAttribute('aria-pressed')).toBe('true')
    await takePicture(page, 'facets')
    expect(await axeFaults(page, 'facets')).toEqual([])
    await fields.getByRole('button', { name: 'Include error' }).click()
    await counted(page, 40)
    await fields.getByRole('button', { name: 'Exclude us' }).click()
    await counted(page, 20)
    // An excluded value has no row, so that its condition is taken back above the values.
    const own = fields.getByRole('list', { name: 'Filters on region' })
    await own.getByRole('button', { name: "Undo NOT region = 'us'" }).click()
    await counted(page, 40)
    await own.waitFor({ state: 'detached' })
    await list(page).focus()
    await page.keyboard.press('u')
    await counted(page, 20)
    await page.keyboard.press('u')
    await counted(page, 40)
    await page.keyboard.press('u')
    await counted(page, 10)
    await page.keyboard.press('u')
    await counted(page, 40)
    // Here the page was opened: nothing is left to undo.
    for (let pressed = 0; pressed < 5; pressed += 1) await page.keyboard.press('u')
    await list(page).getByText('cart 0 closed').waitFor()
    expect(new URL(page.url()).pathname).toBe('/app/explore')
  })

  test('live is paused by a button and by key, and the events since then are marked', async () => {
    const page = await stand.open(exploreUrl({ live: true, q: 'parcel' }))
    await page.getByText('Waiting for events').waitFor()
    let sent = 0
    const sendUntil = (isSeen: () => Promise<number>) =>
      expect
        .poll(
          async () => {
            await stand.send('parcels', [{ message: `parcel ${sent++}` }])
            return isSeen()
          },
          { interval: 500 },
        )
        .toBeGreaterThan(0)
    await sendUntil(() => list(page).locator('[data-index]').getByText('parcel').count())
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    const pill = page.getByRole('button', { name: / new$/ })
    await sendUntil(() => pill.count())
    expect(await page.getByText('New since').count()).toBe(0)
    await page.keyboard.press('L')
    await page.getByText(/^New since \d\d:\d\d:\d\d$/).waitFor()
    await pill.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    await takePicture(page, 'live-since')
    expect(await axeFaults(page, 'live')).toEqual([])
  })
})
