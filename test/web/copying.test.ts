import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openAction } from './actions.fixture.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')
const FAILED = { details: 'the metadata store did not answer', correlation_id: '7d0c1b1e-0000-4000-8000-000000000002' }
const CONFIG = 'the configuration for curl'

/** hold keeps what is posted to a path until it is released. */
async function hold(page: Page, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(`**${path}`, async (route: Route) => {
    if (route.request().method() === 'POST') await promise
    await route.continue()
  })
  return resolve
}

/** The permission that a click gives ends after some seconds; it is waited for, not the time. */
const untilClickIsOver = (page: Page) =>
  page.evaluate(`new Promise((done) => {
    const look = setInterval(() => {
      if (navigator.userActivation.isActive) return
      clearInterval(look)
      done()
    }, 50)
  })`)

/** refuseClipboard lets the page write no text by itself, as a browser does by a policy. It may be read still, to see what is in it. */
const refuseClipboard = (page: Page) =>
  page.evaluate(`for (const name of ['write', 'writeText'])
    Clipboard.prototype[name] = () => Promise.reject(new DOMException('Write permission denied.', 'NotAllowedError'))`)

const welcome = async (): Promise<Page> => {
  const org = await stand.app.newOrganization()
  const page = await stand.open('/app/welcome', { key: org.key })
  await page.getByRole('button', { name: `Copy with a new key: ${CONFIG}` }).waitFor()
  return page
}

describe.skipIf(browserPath === undefined)('copying', () => {
  beforeAll(async () => {
    stand = await openStand()
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('a text that comes long after the click is copied, and stays copied until another text is', async () => {
    const page = await welcome()
    const release = await hold(page, '/api-keys')
    await page.getByRole('button', { name: `Copy with a new key: ${CONFIG}` }).click()
    const working = page.getByRole('button', { name: `Working…: ${CONFIG}` })
    await working.waitFor()
    await untilClickIsOver(page)
    expect(await page.locator('button:focus').getAttribute('aria-label')).toBe(`Working…: ${CONFIG}`)
    release()
    const done = page.getByRole('button', { name: `Copied: ${CONFIG}` })
    await done.waitFor()
    expect(await copied(page)).toMatch(/dk_[\w-]+/)
    await done.blur()
    await page.getByRole('heading', { level: 1 }).click()
    await page.getByRole('button', { name: 'Copy: the configuration for rsyslog', exact: true }).click()
    await page.getByRole('button', { name: 'Copied: the configuration for rsyslog', exact: true }).waitFor()
    await page.getByRole('button', { name: `Copy: ${CONFIG}` }).waitFor()
  })

  test('a notebook is copied when its slow queries have answered; one that fails says so in the text', async () => {
    const search_details = { from_expr: '*', time_range: 'Last 1 hour' }
    const body = { name: 'Slow', steps: [{ search_details }] }
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/notebooks', { body })).body
    const page = await stand.open('/app/sign-in')
    const release = await hold(page, '/search')
    await page.goto(`${stand.app.url}/app/notebooks?id=${id}`)
    await page.getByRole('button', { name: 'Copy as Markdown' }).click()
    await page.getByRole('button', { name: 'Working…' }).waitFor()
    await untilClickIsOver(page)
    release()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await copied(page)).toContain('Last 1 hour UTC · 0 events')
    await page.unroute('**/search')
    await page.route('**/search', (route) => route.fulfill({ status: 400, json: FAILED }))
    await page.reload()
    await page.getByRole('button', { name: 'Copy as Markdown' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await copied(page)).toContain(`The query could not be run: ${FAILED.details}`)
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    expect((await saved).suggestedFilename()).toBe('Slow.md')
  })

  test('a text that cannot be had gives its reason and can be tried again', async () => {
    const page = await welcome()
    await page.route('**/api-keys', (route) => route.fulfill({ status: 400, json: FAILED }))
    await page.getByRole('button', { name: `Copy with a new key: ${CONFIG}` }).click()
    await page.getByRole('alert').getByText(`Not copied: ${FAILED.details}`).waitFor()
    await page.unroute('**/api-keys')
    await page.getByRole('button', { name: `Try again: ${CONFIG}` }).click()
    await page.getByRole('button', { name: `Copied: ${CONFIG}` }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await copied(page)).toMatch(/dk_[\w-]+/)
  })

  test('a clipboard that is refused shows the text, selected, with a button that copies it', async () => {
    const page = await welcome()
    await refuseClipboard(page)
    const release = await hold(page, '/api-keys')
    await page.getByRole('button', { name: `Copy with a new key: ${CONFIG}` }).click()
    await page.getByRole('button', { name: `Working…: ${CONFIG}` }).waitFor()
    await untilClickIsOver(page)
    // A browser lets a page copy by selection only soon after a click; the one of this test has a permission that outlasts it.
    await page.evaluate('document.executed = document.execCommand; document.execCommand = () => false')
    release()
    const dialog = page.getByRole('dialog', { name: 'Copy this text yourself' })
    await dialog.getByText('The browser did not allow the page to copy it').waitFor()
    const selected = () => page.evaluate('getSelection().toString()')
    await expect.poll(selected).toMatch(/dk_[\w-]+/)
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      expect(await axeFaults(page, theme)).toEqual([])
    }
    await dialog.getByRole('button', { name: 'Copy' }).click()
    await dialog.getByRole('alert').getByText('The browser refused again').waitFor()
    await page.evaluate('document.execCommand = document.executed')
    await dialog.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: `Copied: ${CONFIG}` }).waitFor()
    expect(await dialog.count()).toBe(0)
    expect(await copied(page)).toMatch(/dk_[\w-]+/)
  })

  test('over plain HTTP, where there is no clipboard for pages, texts are copied from buttons and menus', async () => {
    await stand.send('orders', [{ timestamp: new Date(stand.app.clock.nowMs() - 60_000).toISOString(), message: 'an order', region: 'eu' }])
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', q: "region = 'eu'" }))
    await page.getByText('1 event ·').waitFor()
    await page.evaluate(`globalThis.hidden = navigator.clipboard; Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
    const held = () => page.evaluate<string>('hidden.readText()')
    await openAction(page, 'Share')
    await page.getByRole('button', { name: /^Link with relative time/ }).click()
    await page.getByText('Copied.').waitFor()
    expect(await held()).toContain('r=Last+1+hour')
    await page.keyboard.press('Escape')
    const region = page.getByRole('region', { name: 'Events', exact: true }).locator('[data-name="region"]').first()
    await region.click()
    await page.getByRole('menuitem', { name: 'Copy value' }).click()
    await page.getByText('Copied', { exact: true }).waitFor()
    expect(await held()).toBe('eu')
    // What is done next makes the note old.
    await page.keyboard.press('Shift')
    await page.getByText('Copied', { exact: true }).waitFor({ state: 'detached' })
  })
})
