import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

const HOSTILE = '<img src=x onerror="document.title=1"> \u001b[31mred\u001b[0m \u202egnp.exe'

/** events are of the last minutes: 60 of every kind, and one that means harm. */
function events(nowMs: number): object[] {
  const at = (index: number) => new Date(nowMs - 60_000 - index * 1_000).toISOString()
  return [
    ...Array.from({ length: 60 }, (_, index) => ({
      timestamp: at(index),
      level: index % 10 === 0 ? 'error' : 'info',
      message: `order ${index} placed`,
      number: index,
      region: index % 2 ? 'eu' : 'us',
    })),
    { timestamp: at(61), level: 'warn', message: HOSTILE, stack: 'Error: x\n at a\n at b' },
  ]
}

const counted = (page: Page, events: number) => page.getByText(`${events} events ·`).waitFor()
const rows = (page: Page) => page.getByRole('region', { name: 'Events', exact: true }).locator('[data-index]')

describe.skipIf(browserPath === undefined)('the web app', () => {
  beforeAll(async () => {
    stand = await openStand()
    await stand.send('orders', events(stand.app.clock.nowMs()))
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('asks for sign-in, accepts a key, and continues to the requested page', async () => {
    const page = await stand.open('/app/data', { key: null })
    await page.getByLabel('API key').fill('dk_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('API key').fill(stand.org.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Data' }).waitFor()
    await page.getByRole('cell', { name: 'orders', exact: true }).waitFor()
  })

  test('a second tab is signed in as the first, and both sign out together', async () => {
    const page = await stand.open('/app/data', { key: null })
    await page.getByLabel('API key').fill(stand.org.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Data' }).waitFor()
    const second = await page.context().newPage()
    await second.goto(`${stand.app.url}/app/usage`)
    await second.getByRole('heading', { name: 'Usage' }).waitFor()
    await second.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Dendro' }).waitFor()
    await second.getByRole('heading', { name: 'Sign in to Dendro' }).waitFor()
    await page.goto(`${stand.app.url}/app/data`)
    await page.getByRole('heading', { name: 'Sign in to Dendro' }).waitFor()
  })

  test('a tab that answers late still signs in the second one, which goes on to its page', async () => {
    const page = await stand.open('/app/data')
    await page.getByRole('heading', { name: 'Data' }).waitFor()
    await page.evaluate(`BroadcastChannel.prototype.postMessage = ((post) => function (message) {
      globalThis.answer = () => post.call(this, message)
    })(BroadcastChannel.prototype.postMessage)`)
    const second = await page.context().newPage()
    // The context gives every tab its key before the first page, which this one must not have.
    await second.addInitScript(
      `if (!sessionStorage.getItem('emptied')) { sessionStorage.clear(); sessionStorage.setItem('emptied', 'yes') }`,
    )
    await second.goto(`${stand.app.url}/app/usage`)
    await second.getByRole('heading', { name: 'Sign in to Dendro' }).waitFor()
    await page.evaluate('answer()')
    await second.getByRole('heading', { name: 'Usage' }).waitFor()
  })

  test('shows the newest events with their count, and a reload shows the same', async () => {
    const page = await stand.open('/')
    await rows(page).first().getByText('order 0 placed').waitFor()
    await counted(page, 61)
    expect(await page.title()).toBe('Dendro')
    await page.reload()
    await counted(page, 61)
  })

  test('narrows by a clicked value, undoes it with Back, and edits, negates and disables conditions', async () => {
    const page = await stand.open('/app/explore')
    await rows(page).first().getByRole('button').first().click()
    await page.getByRole('button', { name: 'us', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Include' }).click()
    await counted(page, 30)
    const chip = page.getByRole('list', { name: 'Conditions' }).getByRole('listitem')
    await chip.getByRole('button', { name: /^Negate/ }).click()
    await counted(page, 31)
    await chip.getByRole('button', { name: /^Disable/ }).click()
    await counted(page, 61)
    await chip.getByRole('button', { name: /^Enable/ }).click()
    await counted(page, 31)
    for (let back = 0; back < 4; back += 1) await page.goBack()
    await counted(page, 61)
    expect(await chip.count()).toBe(0)
  })

  test('a condition is edited in place with completions and error marks, saved by Enter, and cancelled by Esc', async () => {
    const page = await stand.open(exploreUrl({ q: "region = 'us'" }))
    await counted(page, 30)
    const chip = page.getByRole('list', { name: 'Conditions' }).getByRole('listitem')
    const line = chip.getByRole('textbox', { name: 'Edit the condition' })
    const edit = async () => {
      await chip.getByTitle(/\(edit\)$/).click()
      await chip.locator('.cm-content').waitFor()
    }
    await edit()
    for (const _ of "'us'") await page.keyboard.press('Backspace')
    await chip.getByRole('option', { name: /^eu/ }).waitFor()
    // The list closes first, then the edit, which leaves all as it was.
    await page.keyboard.press('Escape')
    await chip.getByRole('listbox').waitFor({ state: 'hidden' })
    expect(await line.count()).toBe(1)
    await page.keyboard.press('Escape')
    await chip.getByText("region = 'us'").waitFor()
    await edit()
    await page.keyboard.press('End')
    await page.keyboard.type(' level')
    await chip.locator('[aria-invalid="true"]').waitFor()
    for (const _ of "'us' level") await page.keyboard.press('Backspace')
    await page.keyboard.type('e')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await chip.getByText("region = 'eu'").waitFor()
    await counted(page, 30)
    expect(await line.count()).toBe(0)
  })

  test('a regular expression that the service would reject is marked before it is sent, a valid one is not', async () => {
    const page = await stand.open('/app/explore')
    await counted(page, 61)
    await page.keyboard.press('/')
    await page.locator('.cm-focused').waitFor()
    await page.keyboard.type("message ~ '(?P<word>\\pL+) [[:digit:]]+ \\Qplaced\\E(' AND region = 'us'")
    const invalid = page.locator('.cm-content[aria-invalid="true"]')
    await invalid.waitFor()
    await page.getByText('invalid regular expression').waitFor()
    for (const _ of "' AND region = 'us'") await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Backspace')
    await invalid.waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await counted(page, 30)
  })

  test('marks the characters of an error, and fixes them with one click where a fix is known', async () => {
    const page = await stand.open(exploreUrl({ q: 'level == error' }))
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.locator('mark').textContent()).toContain('=')
    // The histogram is requested after the events, so it learns of the error later.
    await expect.poll(() => page.getByText('Counting').count()).toBe(0)
    await page.getByRole('img', { name: 'No result' }).waitFor()
    await page.getByRole('region', { name: 'Fields', exact: true }).getByText('No result').waitFor()
    await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
    const fix = alert.getByRole('button', { name: /^Change to/ })
    await fix.click()
    await counted(page, 6)
  })

  test('completes known fields and values', async () => {
    const page = await stand.open('/app/explore')
    await counted(page, 61)
    const query = page.getByRole('textbox', { name: 'Query' })
    await page.keyboard.press('/')
    await query.pressSequentially('reg')
    await page.getByRole('option', { name: /^region/ }).waitFor()
    await page.keyboard.press('Tab')
    await query.pressSequentially('= e')
    await page.getByRole('option', { name: /^eu/ }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await counted(page, 30)
  })

  test('marks an error while the user types, and fixes it by one key', async () => {
    const page = await stand.open('/app/explore')
    await counted(page, 61)
    const query = page.getByRole('textbox', { name: 'Query' })
    await query.locator('..').and(page.locator('.cm-scroller')).waitFor()
    await query.click()
    await page.keyboard.type("level == 'error' AND region")
    await page.keyboard.press('Escape')
    const mark = query.locator('mark')
    await mark.waitFor()
    expect(await mark.textContent()).toBe('==')
    const error = page.getByRole('status').filter({ hasText: "'==' is not an operator: use =" })
    await error.waitFor()
    expect(await axeFaults(page, 'a query with a mistake')).toEqual([])
    await page.keyboard.press('Alt+Enter')
    await error.waitFor({ state: 'detached' })
    await expect.poll(() => query.textContent()).toBe("level = 'error' AND region")
    // A line break is a blank like any other, and Enter asks.
    await page.keyboard.press('End')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type("= 'mars'")
    await page.keyboard.press('Enter')
    await counted(page, 0)
  })

  test('text typed before the editor has loaded is kept, and typing continues', async () => {
    const page = await stand.open('/app/explore')
    const held = Promise.withResolvers<void>()
    await page.route('**/query-editing-*.js', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.reload()
    const query = page.getByRole('textbox', { name: 'Query' })
    await page.locator('textarea').and(query).click()
    await page.keyboard.type("level = 'error'")
    await page.keyboard.press('ArrowLeft')
    held.resolve()
    await page.locator('.cm-content:focus').and(query).waitFor()
    await page.keyboard.press('Backspace')
    await page.keyboard.type('r')
    await page.keyboard.press('Enter')
    await counted(page, 6)
  })

  test('the editor and the reader of regular expressions are loaded on their next use after a failure', async () => {
    const page = await stand.open('/app/explore')
    const files = /\/(query-editing|regex)-[^/]*\.js$/
    let failures = 0
    await page.route(files, async (route) => {
      failures += 1
      await route.abort()
    })
    await page.reload()
    const query = page.getByRole('textbox', { name: 'Query' })
    await page.locator('textarea').and(query).click()
    await page.keyboard.type("message ~ '('")
    await expect.poll(() => failures).toBeGreaterThan(1)
    await page.unrouteAll({ behavior: 'wait' })
    await expect
      .poll(async () => {
        await query.blur()
        await query.focus()
        return page.locator('.cm-content').count()
      })
      .toBe(1)
    await page.keyboard.press('End')
    await page.keyboard.type(' ')
    await page.locator('.cm-content[aria-invalid="true"]').waitFor()
  })

  test('explains an empty result: the range, or which condition', async () => {
    const old = await stand.open(exploreUrl({ f: 1_000_000_000_000, t: 1_000_000_060_000 }))
    await old.getByText('No events in this range').waitFor()
    await old.getByRole('button', { name: 'Jump to the last event' }).click()
    await counted(old, 61)
    const none = await stand.open(exploreUrl({ q: "level = 'error' AND region = 'mars'" }))
    await none.getByText('matches 6 events').waitFor()
    await none.getByRole('listitem').filter({ hasText: 'mars' }).getByRole('button', { name: 'Remove', exact: true }).last().click()
    await counted(none, 6)
  })

  test('text from logs stays text', async () => {
    const page = await stand.open(exploreUrl({ q: "level = 'warn'" }))
    const row = rows(page).first()
    await row.getByText('<img src=x onerror=').waitFor()
    expect(await row.textContent()).toContain('◇')
    await row.getByRole('button').first().click()
    await row.getByText('Error: x').first().waitFor()
    expect(await page.title()).toBe('Dendro')
  })

  test('shows the context of an event in exact order, with the event highlighted', async () => {
    const page = await stand.open(exploreUrl({ q: "message = 'order 30 placed'" }))
    await rows(page).first().getByRole('button').first().click()
    await page.getByRole('button', { name: 'Context' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('order 31 placed').waitFor()
    await dialog.getByText('order 29 placed').waitFor()
    expect(await dialog.locator('[aria-current=true]').textContent()).toContain('order 30 placed')
    const text = (await dialog.textContent()) ?? ''
    expect(text.indexOf('order 31 placed')).toBeLessThan(text.indexOf('order 29 placed'))
  })

  test('a drag over the histogram selects bars and no text, and a click leaves no frame', async () => {
    const page = await stand.open('/app/explore')
    await counted(page, 61)
    await rows(page).first().getByText('order 0 placed').dblclick()
    const chart = page.getByRole('img', { name: /^61 events in steps/ })
    const box = await chart.boundingBox()
    if (!box) throw new Error('the histogram is not shown')
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + box.width / 2, y)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width - 4, y + 40, { steps: 4 })
    await page.mouse.up()
    await page.getByRole('button', { name: 'Clear selection' }).waitFor()
    expect(await page.evaluate('String(getSelection()).includes("bar")')).toBe(false)
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await chart.click({ position: { x: box.width - 4, y: 10 } })
    await page.getByRole('button', { name: 'Clear selection' }).waitFor()
    await page.keyboard.press('Shift')
    expect(await chart.evaluate((svg) => svg.ownerDocument.defaultView?.getComputedStyle(svg).outlineStyle)).toBe('none')
  })

  test('a key that focuses the query works while the editor takes the place of the plain line', async () => {
    const page = await stand.open('/app/data')
    await page.addInitScript(`new MutationObserver((changes) => {
      if (!changes.some(({ target }) => target.tagName === 'TEXTAREA' && target.hidden)) return
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }))
      globalThis.hasPressed = true
    }).observe(document, { subtree: true, attributeFilter: ['hidden'] })`)
    await page.goto(`${stand.app.url}/app/explore`)
    await expect.poll(() => page.evaluate('globalThis.hasPressed')).toBe(true)
    await page.locator('.cm-focused').waitFor()
  })

  test('a cancelled query says so, shows no rows of the previous query, and can be run again', async () => {
    const page = await stand.open('/app/explore')
    await counted(page, 61)
    const held = Promise.withResolvers<void>()
    const isSent = Promise.withResolvers<void>()
    await page.route('**/search', async (route) => {
      if (route.request().postData()?.includes("region = 'us'")) isSent.resolve()
      await held.promise
      await route.continue().catch(() => undefined)
    })
    await page.keyboard.press('/')
    await page.locator('.cm-focused').waitFor()
    await page.keyboard.type("region = 'us'")
    await page.keyboard.press('Enter')
    // The counts of the query before may still load, and have the same button.
    await isSent.promise
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByText('Query cancelled').first().waitFor()
    expect(await rows(page).getByText('order 1 placed').count()).toBe(0)
    held.resolve()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByRole('button', { name: 'Run', exact: true }).last().click()
    await counted(page, 30)
    expect(await page.getByText('Query cancelled').count()).toBe(0)
  })

  test('a refresh that fails keeps the rows of the same query, marked with their range, and can be tried again', async () => {
    const page = await stand.open('/app/explore')
    await counted(page, 61)
    await page.route('**/search', (route) => route.fulfill({ status: 500, json: { details: 'the event store did not answer' } }))
    await page.getByRole('button', { name: /Last 15 minutes/ }).click()
    await page.getByRole('button', { name: '1 hour', exact: true }).click()
    const old = page.getByRole('alert').filter({ hasText: 'The rows below are old' })
    await old.getByText(/^\d{4}-\d\d-\d\d [\d:]+ – [\d: -]+$/).waitFor()
    await rows(page).getByText('order 1 placed').waitFor()
    expect(await page.getByText('61 events ·').count()).toBe(0)
    expect(await axeFaults(page, 'old rows', 'section[aria-label="Events"]')).toEqual([])
    await page.unrouteAll({ behavior: 'wait' })
    await old.getByRole('button', { name: 'Try again' }).click()
    await counted(page, 61)
    await old.waitFor({ state: 'detached' })
    // The rows of another filter would answer another question.
    await page.route('**/search', (route) => route.fulfill({ status: 500, json: { details: 'the event store did not answer' } }))
    await page.keyboard.press('/')
    await page.locator('.cm-focused').waitFor()
    await page.keyboard.type("region = 'us'")
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('the event store did not answer').first().waitFor()
    expect(await rows(page).getByText('order 1 placed').count()).toBe(0)
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('a column is added before the message, numbers are right-aligned, and the dataset column goes when one is chosen', async () => {
    const page = await stand.open(exploreUrl({ cols: ['number', 'region'] }))
    await counted(page, 61)
    const row = rows(page).filter({ hasText: 'order 30 placed' })
    await row.waitFor()
    const header = page.getByRole('group', { name: 'Columns' })
    await header.getByText('message', { exact: true }).waitFor()
    await header.getByText('dataset', { exact: true }).waitFor()
    const alignment = (name: string) =>
      row.locator(`[data-cell="${name}"]`).evaluate((cell) => cell.ownerDocument.defaultView?.getComputedStyle(cell).textAlign)
    expect(await alignment('number')).toBe('right')
    expect(await alignment('region')).not.toBe('right')
    const [column, message] = await Promise.all([
      row.locator('[data-cell="number"]').boundingBox(),
      row.getByText('order 30 placed').boundingBox(),
    ])
    expect(column && message && column.x + column.width <= message.x).toBe(true)
    const { datasets } = (await stand.org.ask<{ datasets: { id: string }[] }>('GET', '/datasets')).body
    await page.goto(stand.app.url + exploreUrl({ cols: ['region'], d: [datasets[0]?.id ?? ''] }))
    await rows(page).first().getByText('order 0 placed').waitFor()
    expect(await header.getByText('dataset', { exact: true }).count()).toBe(0)
    await rows(page).first().getByRole('button').first().click()
    await page.getByRole('button', { name: 'Context' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('order 1 placed').waitFor()
    await dialog.getByRole('group', { name: 'Columns' }).getByRole('button', { name: 'region' }).waitFor()
  })

  test('an open field has the exact counts of the query', async () => {
    const page = await stand.open(exploreUrl({ q: "region = 'us'" }))
    await counted(page, 30)
    const fields = page.getByRole('region', { name: 'Fields' })
    await fields.getByText('level', { exact: true }).click()
    await fields.getByRole('button', { name: /^info\s*24 · 80 %$/ }).waitFor()
    await fields.getByRole('button', { name: /^error\s*6 · 20 %$/ }).waitFor()
    expect(await fields.getByRole('button', { name: /^warn/ }).count()).toBe(0)
  })

  test('where shares of fields are estimates, all events are counted on request', async () => {
    const page = await stand.open(exploreUrl({}))
    const fields = page.getByRole('region', { name: 'Fields' })
    await fields.getByText(/^\d+ fields in \d+ events$/).waitFor()
    // As if there were too many events to count in passing.
    await page.route('**/top-keys', async (route) => {
      const request = route.request().postDataJSON()
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), are_counts_exact: request.exact === true } })
    })
    await page.goto(stand.app.url + exploreUrl({ q: "region = 'us'" }))
    await fields.getByText(/fields in 30 events, shares estimated · Count all$/).waitFor()
    await fields.getByText('≈').first().waitFor()
    await fields.getByRole('button', { name: 'Count all' }).click()
    await fields.getByText(/^\d+ fields in 30 events$/).waitFor()
    expect(await fields.getByText('≈').count()).toBe(0)
  })

  test('the field list follows the query and the range, also before a field is opened', async () => {
    const page = await stand.open(exploreUrl({ q: "level = 'warn'" }))
    await page.getByText('1 event ·').waitFor()
    const fields = page.getByRole('region', { name: 'Fields' })
    // The newest events have a number and no stack; the matching one is older.
    await fields.getByText('stack', { exact: true }).waitFor()
    await fields.getByText(/^\d+ fields in 1 event$/).waitFor()
    expect(await fields.getByText('number', { exact: true }).count()).toBe(0)
    // All matches were read, so nothing is estimated.
    expect(await fields.getByText('≈').count()).toBe(0)
  })

  test('one click narrows by any value, in the list of fields and in a row, and several values at once', async () => {
    const page = await stand.open('/app/explore')
    await counted(page, 61)
    const fields = page.getByRole('region', { name: 'Fields' })
    await fields.getByText('level', { exact: true }).click()
    await fields.getByRole('checkbox', { name: 'Select error' }).check()
    await fields.getByRole('checkbox', { name: 'Select warn' }).check()
    await fields.getByRole('button', { name: 'Include 2 values' }).click()
    await counted(page, 7)
    const chips = page.getByRole('list', { name: 'Conditions' }).getByRole('listitem')
    await chips.getByText("level IN ('error', 'warn')").waitFor()
    await fields.getByRole('button', { name: 'Exclude warn' }).click()
    await counted(page, 6)
    await rows(page).first().locator('[data-name="number"]').hover()
    await page.getByRole('toolbar', { name: 'Narrow by number = 0' }).getByRole('button', { name: 'Exclude this value' }).click()
    await fields.getByText('5 fields in 5 events').waitFor()
    expect(await axeFaults(page, 'an open field')).toEqual([])
  })

  test('fields are grouped by prefix, found by name, and pinned', async () => {
    const own = await stand.app.newOrganization()
    const labels = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`key${at}`, `v${at}`]))
    await stand.send(
      'pods',
      [{ message: 'up', level: 'info', service: { name: 'cart' }, kubernetes: { pod: { name: 'a' }, extra: labels } }],
      own,
    )
    const page = await stand.open('/app/explore', { key: own.key })
    const fields = page.getByRole('region', { name: 'Fields' })
    const names = fields.locator('summary')
    await names.first().waitFor()
    // Where an event comes from and how bad it is come first; sixty labels are one line.
    expect((await names.allTextContents()).slice(0, 2).map((text) => text.replace(/\d.*/, ''))).toEqual(['service.name', 'level'])
    const group = fields.getByRole('button', { name: /^kubernetes/ })
    expect(await group.textContent()).toContain('61')
    await group.click()
    await fields.getByLabel('Find a field').fill('key17 extra')
    await names.getByText('key17').waitFor()
    expect(await names.count()).toBe(1)
    await names.first().hover()
    await fields.getByRole('button', { name: 'Pin kubernetes.extra.key17' }).click()
    await page.reload()
    await fields.getByText('Pinned', { exact: true }).waitFor()
    expect((await names.first().textContent())?.replace(/100.*/, '')).toBe('kubernetes.extra.key17')
  })

  test('on a phone the first row is near the top, with one menu for navigation and one for actions', async () => {
    const page = await stand.open('/app/explore', { width: 390 })
    await rows(page).first().getByText('order 0 placed').waitFor()
    await counted(page, 61)
    expect((await rows(page).first().boundingBox())?.y).toBeLessThanOrEqual(250)
    expect(await page.getByRole('button', { name: /^(Saved|History|Share|Export|Create monitor|Sign out)/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Data' }).click()
    await page.getByRole('heading', { name: 'Data' }).waitFor()
  })

  test.each([390, 1280])('nothing moves when conditions come and go: %d pixels', async (width) => {
    const page = await stand.open('/app/explore', { width })
    await counted(page, 61)
    const places = async (): Promise<(number | undefined)[]> => {
      const parts = [
        page.getByRole('region', { name: 'Events over time' }),
        page.getByRole('toolbar', { name: 'View' }),
        rows(page).first(),
      ]
      return Promise.all(parts.map(async (part) => (await part.boundingBox())?.y))
    }
    const before = await places()
    for (const [clauses, events] of [
      ["region = 'us'", 30],
      ["region = 'us' AND level = 'error' AND message LIKE '%placed%'", 6],
    ] as const) {
      const query = page.getByRole('textbox', { name: 'Query' })
      await query.fill(clauses)
      await page.keyboard.press('Enter')
      await query.blur()
      await counted(page, events)
      expect(await places()).toEqual(before)
    }
  })

  test('the command palette changes the theme', async () => {
    const page = await stand.open('/app/data')
    await page.getByRole('heading', { name: 'Data' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Type a command' }).fill('theme dark')
    await page.keyboard.press('Enter')
    await page.locator('html[data-theme="dark"]').waitFor()
    await page.getByRole('button', { name: 'Theme dark, change to system' }).waitFor()
  })

  test('a name that no field has is not broken within a word while a line has room for it', async () => {
    const page = await stand.open('/app/explore')
    await counted(page, 61)
    await page.getByLabel('Find a field', { exact: true }).fill('resource_attributes_name')
    const name = page.getByRole('region', { name: 'Fields' }).getByText('resource_attributes_name')
    await name.waitFor()
    expect(await name.evaluate((span) => span.getClientRects().length)).toBe(1)
  })

  test('counts patterns, and narrows by one', async () => {
    const page = await stand.open(exploreUrl({ tab: 'patterns' }))
    await page
      .getByRole('row', { name: /order <\*> placed/ })
      .getByRole('button', { name: 'Include' })
      .click()
    await page.getByRole('button', { name: 'Events', exact: true }).click()
    await counted(page, 60)
  })

  test('shows live events, also those of a new dataset by its name', async () => {
    const page = await stand.open(exploreUrl({ live: true, q: "message = 'fresh from the press'" }))
    await page.getByText('Waiting for events').waitFor()
    const seen = rows(page).first().getByText('fresh from the press')
    // The first ones may come before the tail stands; some later one is seen.
    await expect
      .poll(
        async () => {
          await stand.send('orders', [{ message: 'fresh from the press' }])
          return await seen.isVisible()
        },
        { interval: 500 },
      )
      .toBe(true)
    await stand.send('newborn', [{ message: 'fresh from the press' }])
    await rows(page).getByText('newborn', { exact: true }).first().waitFor()
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('has no fault that axe finds: %s, %d pixels', async (theme, width) => {
    const [signedOut, signedIn] = [
      await stand.open('/app/sign-in', { theme, width, key: null }),
      await stand.open('/app/data', { theme, width }),
    ]
    for (const path of ['/app/sign-in', '/app/data', exploreUrl({ q: "region = 'eu'" }), exploreUrl({ tab: 'patterns' })]) {
      const page = path === '/app/sign-in' ? signedOut : signedIn
      await page.goto(stand.app.url + path)
      await page
        .getByText(path === '/app/sign-in' ? 'Sign in to Dendro' : path.includes('region') ? '30 events ·' : 'orders')
        .first()
        .waitFor({ state: 'attached' })
      expect(await axeFaults(page, path)).toEqual([])
    }
  })
})
