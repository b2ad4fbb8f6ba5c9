import type { Monitor, SlackIntegration } from '@dendro/api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { Hands, incidentEvents, investigate } from './incident.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** What an engineer on call does at three in the morning, and what must not get in the way: things that move, and motion. */

let stand: Stand
let chat: SlackIntegration
let endMs = 0

const MINUTE_MS = 60_000
const ACTIONS_MAX = 12
/** The parts of Explore that stay where they are. */
const PARTS = [
  'section[aria-label="Events over time"]',
  'section[aria-label="Events over time"] svg[role="img"]',
  '[aria-label="Statuses"] button',
  'label:has(select)',
  '[aria-label="View"]',
  'section[aria-label="Fields"]',
  'section[aria-label="Events"]',
]

const counted = (page: Page, events: number) => page.getByText(`${events} events ·`).waitFor()
const rows = (page: Page) => page.getByRole('region', { name: 'Events', exact: true }).locator('[data-index]')

describe.skipIf(browserPath === undefined)('on call', () => {
  beforeAll(async () => {
    stand = await openStand()
    endMs = Math.floor(stand.app.clock.nowMs() / MINUTE_MS) * MINUTE_MS - MINUTE_MS
    await stand.send('orders', incidentEvents(endMs))
    const workspace = { name: 'Ours', webhook_url: 'https://chat.example.org/hooks/7c1f' }
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/integrations/slack/workspaces', { body: workspace })).body
    const body = { name: 'On call', channels: ['#oncall'], workspace_id: id }
    chat = (await stand.org.ask<SlackIntegration>('POST', '/integrations/slack', { body })).body
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('brush the hump, read the cause, make the monitor, tell the team: at most 12 actions', async () => {
    const page = await stand.open('/app/explore')
    const hands = new Hands(page)
    const { cause, monitorId, summary } = await investigate(page, hands, 'Chat On call')
    expect(hands.actions).toBeLessThanOrEqual(ACTIONS_MAX)
    for (const part of ['new', 'service = payments', 'status = 503', 'level = error', 'HikariPool-']) expect(cause).toContain(part)

    const monitor = (await stand.org.ask<Monitor>('GET', `/monitors/${monitorId}`)).body
    const [query] = monitor.queries
    expect({ ...monitor, where: query?.where }).toMatchObject({ comparison_operator: 'ABOVE', window: 'Last 5 minutes' })
    expect(monitor.actions).toEqual([expect.objectContaining({ integration_id: chat.id })])
    // Half a minute of the incident would have crossed it, and no normal window does.
    expect(monitor.threshold).toBeGreaterThan(0)
    expect(monitor.threshold).toBeLessThan(150)
    expect(cause).toContain((monitor.description ?? '').split('. ')[0])

    // The team opens the link that was copied, later and elsewhere, and reads the same.
    const lines = summary.split('\n')
    expect(lines[0]).toMatch(/^What changed, \d{4}-\d\d-\d\d \d\d:\d\d:00 to .* UTC: \d+ events, /)
    expect(lines[1]).toContain('1. New: ')
    const team = await stand.open(lines.at(-1)?.replace(stand.app.url, '') ?? '', { width: 390, theme: 'dark' })
    const first = team.getByRole('region', { name: 'What changed' }).getByRole('listitem').first()
    await first.getByRole('button', { name: 'Filter by service = payments' }).waitFor()
    expect(lines[1]).toContain((await first.locator('p').textContent()) ?? '-')
    expect(await axeFaults(team, 'what changed')).toEqual([])
  })

  /** placesOf are where the parts of Explore are, by their names: those that are on the page already. */
  const placesOf = (page: Page) =>
    page.evaluate<Record<string, string>>(`Object.fromEntries(${JSON.stringify(PARTS)}.flatMap((part) =>
      Array.from(document.querySelectorAll(part), (one, at) => {
        const { x, y, width, height } = one.getBoundingClientRect()
        return [part + ' ' + at, [x, y, width, height].map(Math.round).join(' ')]
      })))`)

  test.each([1280, 390])('nothing moves when results and conditions come, %d pixels wide', async (width) => {
    const page = await stand.open('/app/_kit', { width })
    await page.getByRole('heading', { name: 'Components' }).waitFor()
    await page.evaluate('document.fonts.ready')
    // The app goes on to Explore with its typefaces loaded, which may come late on a slow machine, and before any result.
    const held = Promise.withResolvers<void>()
    await page.route('**/search', (route) => held.promise.then(() => route.fallback()))
    const url = exploreUrl({ f: endMs - 60 * MINUTE_MS, t: endMs })
    await page.evaluate(`history.pushState({}, '', '${url}'); dispatchEvent(new PopStateEvent('popstate'))`)
    await page.getByRole('toolbar', { name: 'View' }).waitFor()
    const first = await placesOf(page)
    held.resolve()
    const settled = async (events: number) => {
      await counted(page, events)
      await page.getByRole('img', { name: new RegExp(`^${events} events in steps of`) }).waitFor()
    }
    await settled(480)
    const places = await placesOf(page)
    expect(places).toMatchObject(first)
    expect(Object.keys(places).length).toBeGreaterThan(6)
    // A phone has no space for an empty line of conditions.
    if (width < 900) return
    await page.getByRole('toolbar', { name: 'Statuses' }).getByRole('button', { name: 'error 180' }).click()
    await page.getByRole('list', { name: 'Conditions' }).waitFor()
    expect(await placesOf(page)).toEqual(places)
    await settled(180)
    expect(await placesOf(page)).toEqual(places)
    await page.getByRole('button', { name: /^Disable @status/ }).click()
    await settled(480)
    expect(await placesOf(page)).toEqual(places)
    await page.getByRole('button', { name: /^Remove @status/ }).click()
    await page.getByRole('list', { name: 'Conditions' }).waitFor({ state: 'detached' })
    expect(await placesOf(page)).toEqual(places)
  })

  test('live, a row that is open keeps its place while new ones come', async () => {
    const page = await stand.open(exploreUrl({ live: true, q: 'herd' }))
    await page.getByText('Waiting for events').waitFor()
    let sent = 0
    /** sends until the page shows them; the stream may begin after the first are stored */
    const sendUntil = (isShown: () => Promise<boolean>) =>
      expect
        .poll(
          async () => {
            await stand.send('live', [{ message: `herd of ${sent}` }, { message: `herd of ${sent + 1}` }])
            sent += 2
            return isShown()
          },
          { interval: 500 },
        )
        .toBe(true)
    await sendUntil(async () => (await rows(page).count()) > 4)
    const third = rows(page).nth(2)
    await third.getByRole('button').first().click()
    const detail = page.getByRole('region', { name: 'Events', exact: true }).getByRole('table')
    await detail.waitFor()
    const text = await third.textContent()
    const place = await third.boundingBox()
    const pill = page.getByRole('button', { name: / new$/ })
    await sendUntil(async () => (await pill.count()) === 1)
    expect(await third.textContent()).toBe(text)
    expect(await third.boundingBox()).toEqual(place)
    await pill.click()
    await pill.waitFor({ state: 'detached' })
    await expect.poll(() => third.textContent()).not.toBe(text)
  })
})
