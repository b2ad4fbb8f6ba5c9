import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../server/src/meta/sql.ts'
import { openAction } from './actions.fixture.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

const STEP_MS = 60_000

/** events lie two in every minute of the last half hour; each has a region, a time it took, and a trace where it failed. */
function events(nowMs: number): object[] {
  const start = Math.floor(nowMs / STEP_MS) * STEP_MS - 90_000
  return Array.from({ length: 60 }, (_, index) => ({
    timestamp: new Date(start - index * 10_000).toISOString(),
    level: index % 10 === 0 ? 'error' : 'info',
    message: index % 10 === 0 ? `payment ${index} refused\nby the bank` : `order ${index} placed`,
    region: index % 3 ? 'eu' : 'us',
    took_ms: index,
    ...(index === 0 ? { stack: Array.from({ length: 42 }, (_, line) => `at frame ${line}`).join('\n') } : {}),
  }))
}

const counted = (page: Page, events: number) => page.getByText(`${events} events ·`).waitFor()
const rows = (page: Page) => page.getByRole('region', { name: 'Events', exact: true }).locator('[data-index]')
const heads = (page: Page) => page.getByRole('group', { name: 'Columns' }).getByRole('button')
/** becomes tells a page that its tab is hidden or seen again, which no browser without a screen does by itself. */
const becomes = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' })
    document.dispatchEvent(new Event('visibilitychange'))`)
const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

describe.skipIf(browserPath === undefined)('the views of events', () => {
  beforeAll(async () => {
    stand = await openStand()
    await stand.send('orders', events(stand.app.clock.nowMs()))
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('columns are added, moved, resized, remembered for the datasets, and reset', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', cols: ['region'] }))
    await counted(page, 60)
    await rows(page).nth(1).getByRole('button').first().click()
    await page.getByRole('cell', { name: 'order 1 placed' }).getByRole('button').click()
    await page.getByRole('menuitem', { name: 'Add as column' }).click()
    expect((await heads(page).allTextContents()).map((text) => text.replace(/\W/g, ''))).toEqual(['region', 'message'])
    await heads(page).filter({ hasText: 'message' }).click()
    await page.getByRole('menuitem', { name: 'Move left' }).click()
    expect((await heads(page).allTextContents()).map((text) => text.replace(/\W/g, ''))).toEqual(['message', 'region'])
    const edge = page.getByRole('separator', { name: 'Width of region' })
    const before = await page.locator('[data-column="region"]').evaluate((head) => head.getBoundingClientRect().width)
    await edge.press('ArrowLeft')
    await edge.press('ArrowLeft')
    const after = await page.locator('[data-column="region"]').evaluate((head) => head.getBoundingClientRect().width)
    expect(after).toBeLessThan(before)
    // A new visit without columns in the address finds what was used last.
    await page.goto(`${stand.app.url}${exploreUrl({ r: 'Last 1 hour' })}`)
    await heads(page).first().waitFor()
    expect((await heads(page).allTextContents()).map((text) => text.replace(/\W/g, ''))).toEqual(['message', 'region'])
    await page.getByRole('button', { name: 'Reset columns' }).click()
    await heads(page).first().waitFor({ state: 'detached' })
    await page.goto(`${stand.app.url}${exploreUrl({ r: 'Last 1 hour' })}`)
    await counted(page, 60)
    expect(await heads(page).count()).toBe(0)
  })

  test('a bar is selected, zoomed into, and deselected', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour' }))
    await counted(page, 60)
    const chart = page.getByRole('img', { name: /^60 events? in steps of/ })
    await chart.focus()
    const barText = page.getByRole('region', { name: 'Events over time' }).getByText(/:\d\d · \d+ events?/)
    do await chart.press('ArrowLeft')
    while (!/ · [1-9]\d* events?/.test((await barText.textContent()) ?? ''))
    await chart.press('Enter')
    await page.getByRole('button', { name: 'Clear selection' }).waitFor()
    await page.getByText(/^[1-9] events? · .* read · /).waitFor()
    await chart.waitFor()
    await page.getByRole('button', { name: 'Zoom', exact: true }).click()
    await page.getByRole('img', { name: /^[1-9] events? in steps of/ }).waitFor()
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await page.getByRole('button', { name: 'Reset' }).click()
    await expect.poll(() => new URL(page.url()).search).toBe('')
    await page.goBack()
    await page.goBack()
    await page.goBack()
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await counted(page, 60)
  })

  test('patterns show their trend, statuses, first and last times, and are sorted', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', tab: 'patterns' }))
    const orders = page.getByRole('row', { name: /order <\*> placed/ })
    await orders.getByText('54 info').waitFor({ state: 'attached' })
    await page
      .getByRole('row', { name: /refused/ })
      .getByText('6 error')
      .waitFor({ state: 'attached' })
    await orders.getByText(/ago – /).waitFor()
    const first = page.getByRole('row').nth(1).getByRole('cell').nth(3)
    await first.getByText('order').waitFor()
    await page.getByRole('button', { name: 'Rarest' }).click()
    await first.getByText('refused').waitFor()
    await page.getByRole('button', { name: 'Most bytes' }).click()
    await first.getByText('order').waitFor()
  })

  test('a pattern shows the kinds and values of its variable parts, and a value narrows the query', async () => {
    const own = await stand.app.newOrganization()
    const users = ['ada', 'grace', 'ada', 'linus', 'ada', 'grace']
    const logins = users.map((user, n) => ({ message: `login of ${user} from 10.0.0.${n % 2} port 22` }))
    await stand.send('orders', [...logins, { message: 'nothing to do' }], own)
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', tab: 'patterns' }), { key: own.key })
    let isFailing = true
    await page.route('**/patterns/values', (route) =>
      isFailing ? route.fulfill({ status: 500, json: { details: 'the store is away' } }) : route.fallback(),
    )
    await page.getByRole('button', { name: 'nothing to do' }).click()
    await page.getByText('the store is away').waitFor()
    isFailing = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('This pattern has no variable parts.').waitFor()
    await page.getByRole('button', { name: /login of <\*> from/ }).press('Enter')
    await page.getByText('login of <word> from <ip> port 22').waitFor()
    expect(await page.getByRole('button', { name: '22', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: '<ip>' }).press('Enter')
    const values = page.getByRole('list', { name: 'Values of' }).getByRole('listitem')
    await values.filter({ hasText: '10.0.0.1' }).waitFor()
    expect(await values.allTextContents()).toEqual(['10.0.0.03 · 50 %', '10.0.0.13 · 50 %'])
    await page.getByRole('button', { name: '<word>' }).click()
    await values.filter({ hasText: 'ada' }).waitFor()
    expect(await values.allTextContents()).toEqual(['ada3 · 50 %', 'grace2 · 33 %', 'linus1 · 17 %'])
    expect(await axeFaults(page, 'values')).toEqual([])
    await values.getByRole('button', { name: /grace/ }).press('Enter')
    await page.getByText('login of grace from 10.0.0.1 port 22').waitFor()
    await page.getByText('All events have the same values.').waitFor()
    await page.getByRole('button', { name: 'Events', exact: true }).click()
    await counted(page, 2)
  })

  test('a value leads to a table by its field, the table to a chart, and both back to the events', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour' }))
    await counted(page, 60)
    await rows(page).nth(1).getByRole('button').first().click()
    await page.getByRole('cell', { name: 'eu', exact: true }).getByRole('button').click()
    await page.getByRole('menuitem', { name: 'Group by this field' }).click()
    await page.getByRole('row', { name: /^eu.*40.*67 %/ }).waitFor()
    await page.getByRole('row', { name: /^us.*20/ }).waitFor()
    await page.getByLabel('Measure').selectOption('max')
    await page.getByLabel('Measured field').fill('took_ms')
    await page.getByLabel('Measured field').press('Enter')
    await page.getByRole('row', { name: /^eu 59 ms 40/ }).waitFor()
    const measure = page.getByLabel('Measure').first()
    await measure.selectOption('median, p95, p99')
    await page.getByRole('row', { name: /^eu \d[\d.]* ms \d[\d.]* ms \d[\d.]* ms 40/ }).waitFor()
    await page.getByRole('button', { name: 'Chart', exact: true }).click()
    const legend = page.getByRole('list', { name: 'Legend' })
    await expect.poll(() => legend.getByRole('listitem').count()).toBe(6)
    await page.getByRole('group', { name: /: 6 series of/ }).waitFor()
    await legend.getByRole('listitem').filter({ hasText: 'p99(took_ms)' }).filter({ hasText: 'eu' }).waitFor()
    expect(await page.getByRole('button', { name: 'Stacked bars' }).isDisabled()).toBe(true)
    const colorOf = (name: string) => legend.getByRole('listitem').filter({ hasText: name }).locator('span').first().getAttribute('style')
    await measure.selectOption('count(*)')
    await expect.poll(() => legend.getByRole('listitem').count()).toBe(2)
    const color = await colorOf('us')
    await page.getByRole('button', { name: 'Stacked bars' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('as')).toBe('bar')
    // The chart fills the page below its tools.
    const plot = await page.getByRole('group', { name: /: 2 series of/ }).boundingBox()
    expect(plot?.height).toBeGreaterThan(300)
    await legend.getByRole('button', { name: 'us' }).click()
    await page.getByRole('menuitem', { name: 'Only this' }).click()
    await expect.poll(() => legend.getByRole('listitem').count()).toBe(1)
    expect(await colorOf('us')).toBe(color)
    await page.getByRole('button', { name: 'Events', exact: true }).click()
    await counted(page, 20)
  })

  test('all fields are listed with their values', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', tab: 'fields' }))
    const region = page.getByRole('region', { name: 'All fields' }).getByRole('row', { name: /^region/ })
    await region.getByRole('button', { name: /^eu/ }).waitFor()
    await region.getByRole('button', { name: 'Group by' }).click()
    await page.getByRole('row', { name: /^us.*20/ }).waitFor()
  })

  test('f includes and F excludes the value under the focus', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour' }))
    await counted(page, 60)
    await rows(page).nth(1).getByRole('button').first().click()
    const value = page.getByRole('cell', { name: 'eu', exact: true }).getByRole('button')
    await value.focus()
    await page.keyboard.press('f')
    await counted(page, 40)
    await page.goBack()
    await counted(page, 60)
    await value.focus()
    await page.keyboard.press('Shift+F')
    await counted(page, 20)
  })

  test('a search is saved, opened and deleted', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', q: "region = 'us'", cols: ['message', 'took_ms'] }))
    await counted(page, 20)
    await openAction(page, 'Saved searches')
    await page.getByLabel('Name of this search').fill('Orders from over there')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const list = page.getByRole('list', { name: 'Saved searches' })
    await list.getByText('Orders from over there').waitFor()
    await page.goto(`${stand.app.url}/app/explore`)
    await openAction(page, 'Saved searches')
    await list.getByText('Orders from over there').click()
    await counted(page, 20)
    await heads(page).filter({ hasText: 'took_ms' }).waitFor()
    await openAction(page, 'Saved searches')
    const flag = page.getByRole('button', { name: 'Mark the events of Orders from over there on charts' })
    await flag.click()
    await page.locator('button[aria-pressed=true]', { has: page.locator('svg.lucide-flag') }).waitFor()
    const charted = await stand.open(exploreUrl({ r: 'Last 1 hour', tab: 'chart', by: ['level'] }))
    await charted.getByRole('group', { name: /2 series of .*, 20 marks/ }).waitFor()
    await charted.getByRole('button', { name: /20 marks$/ }).click()
    await charted.getByRole('list', { name: 'Markers' }).getByText('Orders from over there: ').nth(19).waitFor()
    expect(await charted.locator('[data-marker="mark"]').count()).toBe(20)
    await page.getByRole('button', { name: 'Delete Orders from over there' }).click()
    await page.getByText('No saved searches yet').waitFor()
  })

  test('a link shows the same view with relative or fixed times; a link to one event shows it with its context', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', q: "region = 'us'" }))
    await counted(page, 20)
    await openAction(page, 'Share')
    await page.getByRole('button', { name: /^Link with relative time/ }).click()
    await page.getByText('Copied.').waitFor()
    expect(await copied(page)).toContain('r=Last+1+hour')
    await page.getByRole('button', { name: /^Link with fixed times/ }).click()
    await expect.poll(() => copied(page)).toMatch(/[?&]f=\d{13}/)
    const there = await stand.open((await copied(page)).replace(stand.app.url, ''))
    await counted(there, 20)
    await rows(there).nth(2).getByRole('button').first().click()
    await there.getByRole('button', { name: 'More actions for this event' }).click()
    await there.getByRole('button', { name: 'Copy link' }).click()
    await expect.poll(() => copied(there)).toContain('e=')
    const event = await stand.open((await copied(there)).replace(stand.app.url, ''))
    const dialog = event.getByRole('dialog')
    await dialog.getByText('order 6 placed').waitFor()
    expect(await dialog.locator('[aria-current=true]').textContent()).toContain('order 6 placed')
    await dialog.getByText('order 7 placed').waitFor()
  })

  test('Ctrl-K finds all commands', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour' }))
    await counted(page, 60)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Type a command' }).pressSequentially('show patt')
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /order <\*> placed/ }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Type a command' }).pressSequentially('go data')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Data' }).waitFor()
  })

  test('long texts fold to their first line with the number of further lines, and a cached result is marked', async () => {
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', q: "level = 'error'" }))
    await counted(page, 6)
    await rows(page).first().getByText('payment 0 refused').waitFor()
    await rows(page).first().getByText('+43', { exact: true }).waitFor()
    await rows(page).nth(1).getByText('+1', { exact: true }).waitFor()
    await page.getByRole('button', { name: /^Disable/ }).click()
    await counted(page, 60)
    // An answer stays good for half a minute; where going back took longer it is requested again, and is there the next time.
    const isFromCache = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      await page.goBack()
      await counted(page, 6)
      const said = await page.getByText(/6 events · .* read · /).textContent()
      await page.goForward()
      await counted(page, 60)
      return said
    }
    await expect.poll(isFromCache, { timeout: 240_000, interval: 100 }).toMatch(/from cache, /)
  })

  test('live pauses while the user is scrolled down, shows how many events are new, and continues', async () => {
    const page = await stand.open(exploreUrl({ live: true, q: 'herd' }))
    await page.getByText('Waiting for events').waitFor()
    const batch = (from: number) =>
      stand.send(
        'orders',
        Array.from({ length: 100 }, (_, index) => ({ message: `herd of ${from + index}` })),
      )
    let sent = 0
    await expect
      .poll(
        async () => {
          await batch(sent)
          sent += 100
          return rows(page).count()
        },
        { interval: 500 },
      )
      .toBeGreaterThan(20)
    const list = page.getByRole('region', { name: 'Events', exact: true })
    await list.evaluate((place) => place.scrollTo({ top: 400 }))
    await expect.poll(() => page.evaluate<number>('document.querySelector("section[aria-label=Events]").scrollTop')).toBeGreaterThan(300)
    const pill = page.getByRole('button', { name: / new$/ })
    await expect
      .poll(
        async () => {
          await batch(sent)
          sent += 100
          return pill.count()
        },
        { interval: 500 },
      )
      .toBe(1)
    await pill.click()
    await pill.waitFor({ state: 'detached' })
    await page.getByText(/events received · [\d.]+ per second/).waitFor()
  })

  test('a query is cancelled when the tab is hidden or the page is left, and repeated on return', async () => {
    const page = await stand.open('/app/data')
    const ended: string[] = []
    page.on('requestfailed', (request) => ended.push(new URL(request.url()).pathname))
    let held = 0
    await page.route('**/search', async (route) => {
      held += 1
      await new Promise((resolve) => setTimeout(resolve, 60_000))
      await route.abort().catch(() => undefined)
    })
    await page.getByRole('link', { name: 'Explore' }).first().click()
    await expect.poll(() => held).toBeGreaterThanOrEqual(2)
    await becomes(page, 'hidden')
    await expect.poll(() => ended.filter((path) => path === '/search').length).toBeGreaterThanOrEqual(2)
    const before = held
    await becomes(page, 'visible')
    await expect.poll(() => held).toBeGreaterThanOrEqual(before + 2)
    const cut = ended.length
    await page.getByRole('link', { name: 'Data' }).first().click()
    await expect.poll(() => ended.length).toBeGreaterThan(cut)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('live samples events at high rates and shows the ratio', async () => {
    const owner = await stand.app.newOrganization()
    await stand.send('floods', [{ message: 'dry' }], owner)
    const page = await stand.open(exploreUrl({ live: true, q: 'flood' }), { key: owner.key })
    await page.getByText('Waiting for events').waitFor()
    const sampled = page.getByText(/about .* events received · .* · sampled 1 in \d/)
    let sent = 0
    const flood = async () => {
      await stand.send(
        'floods',
        Array.from({ length: 12_000 }, (_, index) => ({ message: `flood ${sent + index}` })),
        owner,
      )
      sent += 12_000
      return sampled.count()
    }
    await expect.poll(flood, { interval: 3_000 }).toBe(1)
  })

  test('Cancel, another query, a hidden tab and leaving the page cancel the query in the store', async () => {
    const owner = await stand.app.newOrganization()
    const lines = Array.from({ length: 4_000 }, (_, n) => ({ n, text: `${'abc '.repeat(300)}${n}` }))
    for (let batch = 0; batch < 12; batch += 1) await stand.send('slow', lines, owner)
    const { meta, events: store } = stand.app.app.world
    const found = await meta.one<{ number: number }>(sql`select number from organisations where id = ${owner.orgId}`)
    const running = async (): Promise<number> => {
      const answer = await store.writer.query({
        query: "select count() as n from system.processes where Settings['log_comment'] = {org:String}",
        query_params: { org: String(found?.number) },
        format: 'JSONEachRow',
      })
      return Number((await answer.json<{ n: string }>())[0]?.n)
    }
    const isRunning = () => expect.poll(running, { interval: 20 }).toBeGreaterThan(0)
    const isOver = () => expect.poll(running, { interval: 20 }).toBe(0)
    // Patterns that take the store long for every event: half a minute for all of them on a quick machine, longer than a click takes on a slow one.
    const slow = (round: number) => Array.from({ length: 120 }, (_, n) => `text ~ '(a?b?c? ?){30}${n}x${round}'`).join(' OR ')

    const page = await stand.open(exploreUrl({ q: slow(1) }), { key: owner.key })
    await isRunning()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await isOver()
    await page.goto(stand.app.url + exploreUrl({ q: slow(2) }))
    await isRunning()
    await becomes(page, 'hidden')
    await isOver()
    await becomes(page, 'visible')
    await isRunning()
    await page.getByRole('link', { name: 'Usage' }).click()
    await isOver()
  }, 300_000)

  test('any line stays text in every view: markup, scripts, terminal colors, direction marks, 100 kB, 500 fields', async () => {
    const own = await stand.app.newOrganization()
    const attack = '<img src=x onerror="window.hit=1"><script>window.hit=2</script>'
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key_${index}`, `${attack} ${index}`]))
    const hostile = [
      { message: `markup ${attack}`, [attack]: attack, kind: attack },
      { message: `colours \u001b[31mred\u001b[0m and \u202egnp.exe` },
      { message: `long ${'x'.repeat(100_000)}` },
      { message: 'many', ...many },
      { message: `words ${'of a long line '.repeat(500)}` },
      { message: 'فشل الدفع للطلب', المستخدم: 'أحمد' },
    ]
    await stand.send('orders', hostile, own)
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', wrap: false }), { key: own.key })
    await counted(page, 6)
    for (const text of ['markup <img src=x', 'colours red and ◇gnp.exe', 'long xxx', 'many']) {
      const row = rows(page).filter({ hasText: text }).first()
      expect((await row.boundingBox())?.height).toBeLessThan(40)
      await row.getByRole('button').first().click()
    }
    await page.getByRole('button', { name: 'Show all 501 fields' }).click()
    await page.getByRole('rowheader', { name: 'key_499' }).waitFor({ state: 'attached' })
    await page
      .getByText(/more characters; copy the line for the full text/)
      .first()
      .waitFor({ state: 'attached' })
    const line = rows(page).filter({ hasText: 'فشل الدفع للطلب' }).locator('[dir=auto]').first()
    const firstTextLeft = await line.evaluate((one) => {
      const range = one.ownerDocument.createRange()
      if (one.firstChild) range.selectNode(one.firstChild)
      return range.getBoundingClientRect().left
    })
    const field = await line.getByText('المستخدم=').last().boundingBox()
    expect((field?.x ?? 0) + (field?.width ?? 0)).toBeLessThan(firstTextLeft)
    for (const tab of ['Patterns', 'Fields', 'Table', 'Chart']) {
      await page.getByRole('button', { name: tab, exact: true }).click()
      if (tab === 'Table') {
        await page.getByLabel('Group by').fill('kind')
        await page.getByLabel('Group by').press('Enter')
      }
      await page
        .getByText(tab === 'Patterns' ? 'markup' : attack)
        .first()
        .waitFor({ state: 'attached' })
      if (tab === 'Patterns')
        expect((await page.getByRole('row').filter({ hasText: 'words of a long line' }).boundingBox())?.height).toBeLessThan(120)
    }
    expect(await page.evaluate('window.hit')).toBe(undefined)
    expect(await page.locator('img[src="x"]').count()).toBe(0)
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('has no fault that axe finds: %s, %d pixels', async (theme, width) => {
    // Other tests have sent newer lines, which have no region.
    const page = await stand.open(exploreUrl({ q: 'region IS NOT NULL', r: 'Last 1 hour', cols: ['region', 'message'] }), { theme, width })
    for (const [tab, said] of [
      ['Events', 'order'],
      ['Patterns', 'order'],
      ['Table', 'total'],
      ['Chart', 'in steps of'],
      ['Fields', 'of the matching events'],
    ] as const) {
      if (width < 640) await page.getByLabel('Tab', { exact: true }).selectOption(tab)
      else await page.getByRole('button', { name: tab, exact: true }).click()
      await page.getByText(said).first().waitFor({ state: 'attached' })
      expect(await axeFaults(page, tab)).toEqual([])
    }
  })
})
