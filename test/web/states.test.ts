import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { placed } from './demo-records.fixture.ts'
import { shots, spoil } from './screenshots.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** What the pages look like where there is nothing, where nothing comes, and where everything fails; what they look like full is tried page by page. */

let stand: Stand
const paths = [...new Set(shots.filter(({ isPublic }) => !isPublic).map(({ path }) => placed(path, {})))]

describe.skipIf(browserPath === undefined)('every page', () => {
  beforeAll(async () => {
    stand = await openStand()
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand.close())

  test.each([
    ['empty', 'light', 1280],
    ['error', 'dark', 390],
    ['loading', 'light', 390],
  ] as const)('has a heading, fits the screen and has no fault that axe finds: %s, %s, %d pixels', async (state, theme, width) => {
    const page = await stand.open('/app/settings?part=you', { theme, width })
    if (state !== 'empty') await spoil(page, state)
    for (const path of paths) {
      await page.goto(stand.app.url + path)
      await page.getByRole('heading').first().waitFor()
      if (state !== 'loading')
        await expect.poll(() => page.getByText(/^(Loading|Reading|Counting|Measuring|Looking)/).count(), { message: path }).toBe(0)
      expect(await axeFaults(page, path)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${path} is wider than the screen`).toBe(true)
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('the actions of a page fit one line on a phone, and lists keep a readable width on a wide screen', async () => {
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/dashboards', { body: { name: 'The shop' } })).body
    const narrow = await stand.open(`/app/dashboards?id=${id}`, { width: 390 })
    const last = narrow.getByRole('button', { name: 'Delete' })
    await last.waitFor()
    const first = await narrow.getByRole('link', { name: 'All dashboards' }).boundingBox()
    const middle = (box: typeof first) => (box ? box.y + box.height / 2 : Number.NaN)
    expect(Math.abs(middle(await last.boundingBox()) - middle(first))).toBeLessThan(4)
    await last.click()
    await narrow.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    const wide = await stand.open('/app/monitors', { width: 1920 })
    const box = await wide.getByRole('link', { name: 'New monitor' }).boundingBox()
    expect((box?.x ?? Number.NaN) + (box?.width ?? 0)).toBeLessThan(1400)
  })

  test('a popover that opens while another closes keeps the focus and stays open', async () => {
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/dashboards', { body: { name: 'The shop' } })).body
    const page = await stand.open(`/app/dashboards?id=${id}`)
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog', { name: 'Rename' }).waitFor()
    await page.evaluate(`
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
      Array.from(document.querySelectorAll('button')).find((button) => button.textContent === 'Delete').click()`)
    await page.getByRole('dialog', { name: 'Rename' }).waitFor({ state: 'detached' })
    await page.evaluate('new Promise((done) => setTimeout(done))')
    expect(await page.getByRole('dialog', { name: /^Delete/ }).count()).toBe(1)
  })

  test('the page of a deleted record links back to its list', async () => {
    const none = '00000000-0000-4000-8000-000000000000'
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/dashboards', { body: { name: 'The shop' } })).body
    const page = await stand.open('/app/settings?part=you')
    for (const [path, back, place] of [
      [`/app/monitors?id=${none}`, 'All monitors', '/app/monitors'],
      [`/app/monitors?edit=${none}`, 'All monitors', '/app/monitors'],
      [`/app/monitors?template=${none}`, 'All templates', '/app/monitors?view=templates'],
      [`/app/downtimes?edit=${none}`, 'All downtimes', '/app/downtimes'],
      [`/app/dashboards?id=${none}`, 'All dashboards', '/app/dashboards'],
      [`/app/dashboards?template=${none}`, 'All templates', '/app/dashboards?view=templates'],
      [`/app/dashboards?view=metrics&metric=${none}`, 'All metrics', '/app/dashboards?view=metrics'],
      [`/app/dashboards?id=${id}&widget=${none}`, 'Back to the dashboard', `/app/dashboards?id=${id}`],
      [`/app/dashboards?id=${id}&frame=${none}`, 'Back to the dashboard', `/app/dashboards?id=${id}`],
      [`/app/data?id=${none}`, 'All datasets', '/app/data'],
    ] as const) {
      await page.goto(stand.app.url + path)
      await page.getByText(/^(This .* no longer exists|Not found, or deleted)$/).waitFor()
      expect(await axeFaults(page, path)).toEqual([])
      await page.getByRole('link', { name: back }).first().click()
      await page.waitForURL(stand.app.url + place)
    }
  })
})
