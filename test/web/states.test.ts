import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isNightly } from '../support/nightly.ts'
import { openAction } from './actions.fixture.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { placed } from './demo-records.fixture.ts'
import { shots, spoil } from './screenshots.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** What the pages look like where there is nothing, where nothing comes, and where everything fails; what they look like full is tried page by page. */

let stand: Stand
/** The pages of the app; the API reference has no states, is a hundred times as long, and has a test of its own. */
const paths = [...new Set(shots.filter(({ isPublic }) => !isPublic).map(({ path }) => placed(path, {})))].filter(
  (path) => !path.startsWith('/docs'),
)

/** A page that loads has the frame of the others and skeletons: axe reads it in the nightly run. */

/** The actions in the header of a page that the screen cuts off; a page has at most four. */
const cutActions = `(() => {
  const actions = [...document.querySelectorAll('div:has(> h1) + div > *')]
  return actions.length > 4 ? ['more than four actions'] : actions.filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.textContent)
})()`

/** The number of lines of the header of a page. */
const headerLines = `(() => {
  const parts = [...document.querySelectorAll('div:has(> h1), div:has(> h1) + div > *')].filter((one) => one.getBoundingClientRect().height > 0)
  const middles = parts.map((one) => one.getBoundingClientRect()).map((box) => box.y + box.height / 2)
  return Math.max(...middles) - Math.min(...middles) < 10 ? 1 : 2
})()`

/** Where the content of a page ends on the right. */
const contentEnd = `(() => {
  const heading = document.querySelector('h1')
  const content = heading.closest('.max-w-charts')
  return content ? content.getBoundingClientRect().right : 0
})()`

/**
 * What leaves a wide window half empty: a table or a form that ends long before its panel, and a panel over the whole width whose content ends before its
 * middle. A sentence may be short.
 */
const halfEmpty = `(() => {
  const faults = []
  const endOf = (one) => Math.max(...Array.from(one.getClientRects(), (box) => box.right))
  for (const one of document.querySelectorAll('main table, main form')) {
    const frame = one.closest('section:not([aria-label$=" table"])') ?? document.querySelector('main')
    if (one.getClientRects().length > 0 && endOf(frame) - endOf(one) > 64) faults.push(one.tagName + ' in ' + frame.getAttribute('aria-label'))
  }
  const page = document.querySelector('h1').closest('.max-w-charts')?.getBoundingClientRect()
  for (const panel of document.querySelectorAll('main section:has(> h2, > div > h2)')) {
    const box = panel.getBoundingClientRect()
    if (!page || box.width < page.width * 0.7) continue
    const parts = [...panel.querySelectorAll('table, form, input, select, button, canvas, svg, p, li, a')].filter((one) => !one.closest('h2') && one.getClientRects().length > 0)
    if (parts.length > 0 && Math.max(...parts.map(endOf)) < box.left + box.width / 2) faults.push('panel ' + panel.getAttribute('aria-label'))
  }
  return faults
})()`

/** The filters whose frame does not end just after their count. */
const looseCounts = `[...document.querySelector('fieldset[aria-label="Show only"]').children].filter((one) => {
  const [frame, count] = [one.getBoundingClientRect(), one.lastElementChild.getBoundingClientRect()]
  return getComputedStyle(one).borderRightWidth === '0px' || count.right > frame.right || frame.right - count.right > 16
}).map((one) => one.textContent)`

/** The texts of the controls in the header of a page that are cut with "…". */
const cutTexts = `[...document.querySelectorAll('h1')[0].parentElement.nextElementSibling.querySelectorAll('*')]
  .filter((one) => getComputedStyle(one).textOverflow === 'ellipsis' && one.scrollWidth > one.clientWidth).map((one) => one.textContent)`

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
  ] as const)(
    'has a heading, fits the screen and, once it is loaded, has no fault that axe finds: %s, %s, %d pixels',
    async (state, theme, width) => {
      const page = await stand.open('/app/settings?part=you', { theme, width })
      if (state !== 'empty') await spoil(page, state)
      for (const path of paths) {
        await page.goto(stand.app.url + path)
        await page.getByRole('heading').first().waitFor()
        if (state !== 'loading')
          await expect.poll(() => page.getByText(/^(Loading|Reading|Counting|Measuring|Looking)/).count(), { message: path }).toBe(0)
        if (state !== 'loading' || isNightly) expect(await axeFaults(page, path)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${path} is wider than the screen`).toBe(true)
        expect(await page.evaluate(cutActions), `${path} cuts an action of its header`).toEqual([])
      }
    },
  )

  test('a page has three prominent controls and one menu for the rest, on a phone in one line', async () => {
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/dashboards', { body: { name: 'The shop' } })).body
    const metric = { queries: [{ name: 'a', select: ['count(*)'], from_expr: '*', where: '' }] }
    const { id: metricId } = (await stand.org.ask<{ id: string }>('POST', '/metrics/definitions', { body: metric })).body
    const widget = { name: 'Events', type: 'score', metric_ids: [metricId] }
    const { id: widgetId } = (await stand.org.ask<{ id: string }>('POST', '/widgets', { body: widget })).body
    await stand.org.ask('PATCH', `/dashboards/${id}`, { body: { append_widget_ids: [widgetId] } })
    const narrow = await stand.open(`/app/dashboards?id=${id}`, { width: 390 })
    const last = narrow.getByRole('button', { name: 'Actions', exact: true })
    await narrow.getByRole('button', { name: 'Edit', exact: true }).waitFor()
    expect(await narrow.evaluate(`document.querySelectorAll('h1')[0].parentElement.nextElementSibling.children.length`)).toBe(4)
    const time = await narrow.getByRole('button', { name: /Last 1 hour/ }).boundingBox()
    const middle = (box: typeof time) => (box ? box.y + box.height / 2 : Number.NaN)
    expect(Math.abs(middle(await last.boundingBox()) - middle(time))).toBeLessThan(4)
    expect(await narrow.evaluate(cutTexts)).toEqual([])
    await openAction(narrow, 'Delete')
    await narrow.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await narrow.getByRole('dialog').waitFor({ state: 'detached' })
    for (const path of ['/app/monitors', '/app/dashboards', '/app/data', '/app/downtimes', '/app/exports', '/app/insights']) {
      await narrow.goto(stand.app.url + path)
      await narrow.getByRole('heading', { level: 1 }).first().waitFor()
      await expect.poll(() => narrow.getByText('Loading…').count()).toBe(0)
      expect(await narrow.evaluate(headerLines), `${path} wraps its header`).toBe(1)
    }
    await narrow.goto(`${stand.app.url}/app/monitors`)
    await openAction(narrow, 'Downtimes')
    await narrow.getByRole('heading', { name: 'Downtimes', level: 1 }).waitFor()
  })

  test.each([1440, 2560])('every page is as wide as the others, %d pixels', async (width) => {
    const page = await stand.open('/app/settings?part=you', { width })
    for (const path of paths.filter((one) => !one.startsWith('/app/explore') && one !== '/app/welcome')) {
      await page.goto(stand.app.url + path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      expect(width - (await page.evaluate<number>(contentEnd)), path).toBeLessThanOrEqual(32)
    }
  })

  test.each([1920, 2560])('no page leaves a window of %d pixels half empty', async (width) => {
    const page = await stand.open('/app/settings?part=you', { width })
    for (const path of paths.filter((one) => !one.startsWith('/app/explore') && one !== '/app/welcome')) {
      await page.goto(stand.app.url + path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
      expect(await page.evaluate(halfEmpty), path).toEqual([])
    }
  })

  test('every empty list has the button that fills it', async () => {
    const org = await stand.app.newOrganization()
    for (const [path, name] of [
      ['/app/monitors', 'Create the first monitor'],
      ['/app/dashboards', 'Create the first dashboard'],
      ['/app/dashboards?view=metrics', 'Create the first metric'],
      ['/app/downtimes', 'Create the first downtime'],
      ['/app/exports', 'Search in Explore'],
      ['/app/insights', 'All datasets'],
      ['/app/usage', 'Send data'],
      ['/app/spend', 'Send data'],
      ['/app/settings?part=integrations', 'Create the first webhook'],
    ] as const) {
      const page = await stand.open(path, { key: org.key })
      const box = page.getByRole('main')
      await box.getByRole('link', { name }).or(box.getByRole('button', { name })).first().waitFor()
    }
  })

  test('on a wide window records stand side by side, and both columns end at the edge of the page', async () => {
    const org = await stand.app.newOrganization()
    const create = async (_: unknown, index: number) => {
      const monitor = {
        name: `monitor ${index}`,
        queries: [{ name: 'a', select: ['count(*)'], from_expr: '*', where: '' }],
        comparison_operator: 'ABOVE',
        threshold: 5,
        window: 'Last 5 minutes',
        actions: [{ email: 'oncall@example.org' }],
      }
      expect((await org.ask('POST', '/monitors', { body: monitor })).status).toBe(201)
    }
    await Promise.all(Array.from({ length: 8 }, create))
    const lefts = (selector: string) =>
      `[...new Set(Array.from(document.querySelectorAll('${selector}'), (one) => Math.round(one.getBoundingClientRect().left)))].length`
    const page = await stand.open('/app/monitors', { width: 2560, key: org.key })
    for (const [path, selector] of [
      ['/app/monitors', 'main ul > li'],
      ['/app/settings?part=audit', 'main tbody > tr'],
    ] as const) {
      for (const [width, columns] of [
        [2560, 2],
        [1920, path === '/app/monitors' ? 2 : 1],
      ] as const) {
        await page.setViewportSize({ width, height: 800 })
        await page.goto(stand.app.url + path)
        await page.locator(selector).nth(7).waitFor()
        expect(await page.evaluate(lefts(selector)), `${path} at ${width} pixels`).toBe(columns)
        const right = await page.evaluate<number>(
          `Math.max(...Array.from(document.querySelectorAll('${selector}'), (one) => Math.max(...Array.from(one.getClientRects(), (box) => box.right))))`,
        )
        expect(right > 2500, `${path} at ${width} pixels`).toBe(width === 2560)
      }
    }
    // A long list is shown in parts; all of it is selected.
    await Promise.all(Array.from({ length: 94 }, create))
    await page.goto(`${stand.app.url}/app/monitors`)
    await page.getByLabel('Select all').check()
    await page.getByText('102 selected').waitFor()
    expect(await page.locator('main ul > li').count()).toBe(100)
    await page.getByRole('button', { name: 'Show 2 more of 2' }).click()
    await expect.poll(() => page.locator('main ul > li').count()).toBe(102)
  })

  test('a page whose code cannot be loaded says so within the app, and comes when the service answers again', async () => {
    const page = await stand.open('/app/data')
    await page.getByRole('heading', { name: 'Data', level: 1 }).waitFor()
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Monitors', exact: true }).click()
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
    await page.getByRole('alert').getByText('The service did not answer').waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.context().setOffline(false)
    await expect
      .poll(async () => {
        const again = page.getByRole('button', { name: 'Try again' })
        // Once the page has come there is no button: a click must not wait for it.
        if (await again.isVisible()) await again.click({ timeout: 1_000 }).catch(() => undefined)
        return page.getByRole('heading', { name: 'Monitors', level: 1 }).isVisible()
      })
      .toBe(true)
  })

  test('a page from before an update, whose files are gone, is loaded again once', async () => {
    const page = await stand.open('/app/data')
    await page.getByRole('heading', { name: 'Data', level: 1 }).waitFor()
    let loads = 0
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads += 1
    })
    await page.route(/\/monitors-[^/]*\.js$/, (route) => route.fulfill({ status: 404, body: 'gone' }))
    await page.getByRole('link', { name: 'Monitors', exact: true }).click()
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
    expect(loads).toBe(1)
  })

  test('whose session has ended signs in from the failed page and comes back to it', async () => {
    const page = await stand.open('/app/data', { key: `dk_${'0'.repeat(64)}` })
    await page.getByText('Your session has ended').first().waitFor()
    await page.getByRole('link', { name: 'Sign in', exact: true }).first().click()
    await page.getByRole('textbox', { name: 'API key' }).fill(stand.org.key)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Data', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'default', exact: true }).first().waitFor()
  })

  test('empty pages offer nothing that the caller may not do', async () => {
    const org = await stand.app.newOrganization()
    const { key } = (await org.ask<{ key: string }>('POST', '/api-keys', { body: { name: 'reader', roles: ['SearchApi'] } })).body
    await stand.send('web', [{ message: 'GET /cart 200', path: '/cart', status: 200, duration_ms: 12, client: '10.0.0.1' }], org)
    const page = await stand.open('/app/dashboards', { key })
    for (const path of ['/app/dashboards', '/app/dashboards?view=metrics', '/app/monitors']) {
      await page.goto(stand.app.url + path)
      await page.getByText(/^No (dashboards|metrics|monitors) yet/).waitFor()
      await expect
        .poll(
          () =>
            page
              .locator('main')
              .getByText(/[Cc]reate|choose “|Preview/)
              .count(),
          { message: path },
        )
        .toBe(0)
    }
  })

  test('a popover that opens while another closes keeps the focus and stays open', async () => {
    const page = await stand.open('/app/explore')
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('dialog', { name: 'Actions' }).waitFor()
    await page.evaluate(`
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
      document.querySelector('button[data-key=t]').click()`)
    await page.getByRole('dialog', { name: 'Actions' }).waitFor({ state: 'detached' })
    await page.evaluate('new Promise((done) => setTimeout(done))')
    expect(await page.getByRole('dialog').count()).toBe(1)
  })

  test('a page ignores parameters that it does not know or cannot read', async () => {
    const page = await stand.open('/app/settings?part=you')
    for (const [path, heading] of [
      ['/app/settings?part=nope', 'Users'],
      ['/app/settings?part=toString', 'Users'],
      ['/app/explore?tab=xyz', 'Explore'],
      ['/app/explore?d=garbage&cols=1&by=status&off=x&sf=a&st=b&e=1&cmp=never&r=7', 'Explore'],
      ['/app/explore?d=%5B%22garbage%22%5D', 'Explore'],
      ['/app/data?part=nope&keep=7', 'Data'],
      ['/app/dashboards?view=nope', 'Dashboards'],
      ['/app/monitors?view=nope&group=x', 'Monitors'],
      ['/app/usage?tab=nope&r=%7B%7D', 'Usage'],
    ] as const) {
      await page.goto(stand.app.url + path)
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor({ state: 'attached' })
      await expect.poll(() => page.getByText(/^(Loading|Counting)/).count(), { message: path }).toBe(0)
      expect(await page.getByRole('alert').allTextContents(), path).toEqual([])
    }
  })

  test('an unknown page is an HTML page with a link back', async () => {
    const response = await fetch(`${stand.app.url}/app/nope`, { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    const page = await stand.open('/app/nope')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    expect(await axeFaults(page, '/app/nope')).toEqual([])
    await page.getByRole('link', { name: 'Dashboards' }).click()
    await page.getByRole('heading', { name: 'Dashboards', exact: true }).waitFor()
  })

  test('a page that fails shows the error within the frame, and the other pages still work', async () => {
    const page = await stand.open('/app/settings?part=you')
    await page.route('**/limits*', (route) => route.fulfill({ json: { limits: 'none' } }))
    await page.goto(`${stand.app.url}/app/settings?part=limits`)
    await page.getByRole('heading', { name: 'This page has failed' }).waitFor()
    await page.getByRole('alert').waitFor()
    expect(await axeFaults(page, 'a failed page')).toEqual([])
    await page.getByRole('link', { name: 'Dashboards' }).click()
    await page.getByRole('heading', { name: 'Dashboards', exact: true }).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('forms work while the permissions of the caller cannot be loaded, and do not load them endlessly', async () => {
    const org = await stand.app.newOrganization()
    const page = await stand.open('/app/settings?part=you', { key: org.key })
    let requests = 0
    await page.route('**/auth/me', (route) => {
      requests += 1
      return route.fulfill({ status: 500, json: { details: 'away' } })
    })
    await page.goto(`${stand.app.url}/app/data?keep=true`)
    const form = page.getByRole('form', { name: 'New rule' })
    await form.getByLabel('Keep events for').selectOption('DAYS_365')
    await form.getByRole('button', { name: 'Create rule' }).click()
    await page.getByRole('button', { name: 'Delete the rule of the organization' }).waitFor()
    expect(requests).toBeLessThan(20)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('an empty list points to what is on the page', async () => {
    const { key } = await stand.app.newOrganization()
    const page = await stand.open('/app/data?keep=true', { key })
    await page.getByText('No rules yet: the default of the service applies. Create a rule above.').waitFor()
    await page.goto(`${stand.app.url}/app/settings?part=audit`)
    await page.getByText('No audit records yet').waitFor()
    await page.getByLabel('Action').fill('datasets.create')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByText('No audit records match. Clear the filter to see all.').waitFor()
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
      await page.getByText(/^This .* no longer exists$/).waitFor()
      expect(await axeFaults(page, path)).toEqual([])
      await page.getByRole('link', { name: back }).first().click()
      await page.waitForURL(stand.app.url + place)
    }
  })

  test('an editor names the page above it, as it does while its record loads', async () => {
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/dashboards', { body: { name: 'The shop' } })).body
    const page = await stand.open('/app/settings?part=you')
    for (const [path, back] of [
      ['/app/monitors?edit=new', 'All monitors'],
      ['/app/downtimes?edit=new', 'All downtimes'],
      ['/app/dashboards?view=metrics&metric=new', 'All metrics'],
      [`/app/dashboards?id=${id}&widget=new`, 'Back to the dashboard'],
      [`/app/dashboards?id=${id}&frame=new`, 'Back to the dashboard'],
      ['/app/data?rules=true&rule=new', 'All rules'],
      ['/app/data?sources=true&edit=new', 'All sources'],
      ['/app/data?forwarding=true&edit=new', 'Forwarding'],
      ['/app/data?rehydrations=true&edit=new', 'All rehydrations'],
    ] as const) {
      await page.goto(stand.app.url + path)
      await page.locator('main form').getByRole('link', { name: 'Cancel', exact: true }).waitFor()
      await page.locator('main div:has(> h1)').getByRole('link', { name: back, exact: true }).waitFor()
    }
  })

  test('on a phone Explore shows the whole names of its datasets and of its time', async () => {
    const page = await stand.open('/app/explore', { width: 390 })
    for (const name of ['All datasets', 'Last 15 minutes']) {
      const text = page.getByRole('button', { name }).getByText(name, { exact: true })
      expect(await text.evaluate((one) => one.scrollWidth - one.clientWidth), name).toBeLessThanOrEqual(0)
    }
  })

  test('the headings of all pages stand at one height', async () => {
    const page = await stand.open('/app/settings?part=you')
    const middles = new Map<number, string>()
    for (const path of paths.filter((one) => !one.startsWith('/app/explore') && one !== '/app/welcome')) {
      await page.goto(stand.app.url + path)
      await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
      const box = await page.getByRole('heading', { level: 1 }).first().boundingBox()
      middles.set(Math.round((box?.y ?? 0) + (box?.height ?? 0) / 2), path)
    }
    expect([...middles].length, JSON.stringify([...middles])).toBe(1)
  })

  test('on a phone each filter of a list is a frame around its icon, word and count', async () => {
    const page = await stand.open('/app/data', { width: 390 })
    const filters = page.getByRole('group', { name: 'Show only' })
    await filters.getByRole('button', { name: /^Receiving/ }).waitFor()
    expect(await page.evaluate(looseCounts)).toEqual([])
  })

  test('a failure names what could not be loaded, in the height of what it replaces, and how to report its request id', async () => {
    const page = await stand.open('/app/settings?part=you', { width: 390 })
    await spoil(page, 'error')
    await page.goto(`${stand.app.url}/app/explore`)
    const bars = page.getByRole('region', { name: 'Events over time' }).getByRole('alert')
    await bars.getByText('Counts over time could not be loaded').waitFor()
    expect(await bars.evaluate(({ parentElement: box }) => (box ? box.scrollHeight - box.clientHeight : Number.NaN))).toBeLessThanOrEqual(0)
    const events = page.getByRole('alert').filter({ hasText: 'Events could not be loaded' })
    await events.getByText(/send the request id to your administrator/).waitFor()
    await events.getByRole('button', { name: 'Try again' }).waitFor()
  })
  test('the command palette returns the focus to where it was, and a command may move it', async () => {
    const page = await stand.open('/app/explore')
    const live = page.getByRole('button', { name: 'Live', exact: true })
    const focused = () => page.evaluate<string>(`document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`)
    await live.focus()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Commands' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe('Live')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Edit the query')
    await page.keyboard.press('Enter')
    await expect.poll(focused).toBe('Query')
    await page.evaluate('new Promise((done) => setTimeout(done, 50))')
    expect(await focused()).toBe('Query')
  })

  test('an editor is read-only for a caller without the permission, and names it', async () => {
    const key = await stand.org.newKey(['SearchApi'])
    const page = await stand.open('/app/settings?part=you', { key })
    for (const [path, permission] of [
      ['/app/monitors?edit=new', 'monitors_write'],
      ['/app/downtimes?edit=new', 'monitors_write'],
      ['/app/data?rules=true&rule=new', 'ingest_rules_write'],
      ['/app/dashboards?view=metrics&metric=new', 'dashboards_write'],
    ] as const) {
      await page.goto(stand.app.url + path)
      const form = page.locator('main form').first()
      await form.getByRole('note').getByText(`needs the permission ${permission}`).waitFor()
      expect(await form.getByRole('textbox', { name: 'Name' }).last().isDisabled(), path).toBe(true)
      expect(await form.locator('button[type=submit]').count(), path).toBe(0)
      await form.getByRole('link', { name: 'Cancel', exact: true }).waitFor()
      expect(await axeFaults(page, path)).toEqual([])
    }
  })

  test('whose session ends in an editor signs in in another tab, and sends what was typed', async () => {
    const body = { name: 'ends soon', roles: ['AdminApi'] }
    const { id, key } = (await stand.org.ask<{ id: string; key: string }>('POST', '/api-keys', { body })).body
    const page = await stand.open('/app/dashboards?view=metrics&metric=new', { key })
    await page.getByLabel('Name', { exact: true }).first().fill('Typed before the end')
    expect((await stand.org.ask('DELETE', `/api-keys/${id}`)).status).toBe(204)
    await page.getByRole('button', { name: 'Create metric', exact: true }).click()
    const opened = page.context().waitForEvent('page')
    await page.locator('main form').getByRole('link', { name: 'Sign in in a new tab' }).click()
    const other = await opened
    await other.getByRole('textbox', { name: 'API key' }).fill(stand.org.key)
    await other.getByRole('button', { name: 'Sign in', exact: true }).click()
    await other.waitForURL(({ pathname }) => !pathname.endsWith('/sign-in'))
    await page.bringToFront()
    await page.getByRole('button', { name: 'Create metric', exact: true }).click()
    await page.getByRole('heading', { name: 'Metrics', level: 1 }).waitFor()
    await page.getByText('Typed before the end').first().waitFor()
  })
})
