import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { exportOf, type PlantedLog, plantedDay } from '../support/planted-day.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

const SEED = 38
const TRACES = 22_000
const TRACES_OF_POST = 1_000
const ACTIONS_MAX = 4

let stand: Stand

/** Sends a day of traces and their logs. */
async function sendDay(): Promise<number> {
  let sent = 0
  let batch: Parameters<typeof exportOf>[0] = []
  const logs: PlantedLog[] = []
  const send = async (): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    expect((await stand.org.ask('POST', '/v1/traces', { raw: exportOf(batch), headers })).status).toBe(200)
    sent += batch.reduce((sum, { spans }) => sum + spans.length, 0)
    batch = []
  }
  for (const trace of plantedDay(SEED, stand.app.clock.nowMs(), TRACES)) {
    batch = [...batch, trace]
    logs.push(...trace.logs)
    if (batch.length === TRACES_OF_POST) await send()
  }
  await send()
  for (const [dataset, own] of Map.groupBy(logs, (log) => log.dataset))
    await stand.send(
      dataset,
      own.map(({ event }) => event),
    )
  return sent
}

/** Does what a person does on the page, and counts it: a click, and a brush over a chart. */
function person(page: Page) {
  let actions = 0
  return {
    actions: () => actions,
    click: async (what: Locator): Promise<void> => {
      actions += 1
      await what.click()
    },
    /** Drags over the bars of the durations from one to another. */
    brush: async (from: RegExp, to: RegExp): Promise<void> => {
      actions += 1
      const bars = page.getByRole('toolbar', { name: 'Spans by duration' })
      const [first, last] = [bars.getByRole('button', { name: from }), bars.getByRole('button', { name: to })]
      await first.waitFor()
      const [start, end] = [await first.boundingBox(), await last.boundingBox()]
      if (!start || !end) throw new Error('there is nothing to brush over')
      await page.mouse.move(start.x + start.width / 2, start.y + 20)
      await page.mouse.down()
      await page.mouse.move(end.x + end.width / 2, end.y + 20, { steps: 3 })
      await page.mouse.up()
    },
  }
}

describe.skipIf(browserPath === undefined)('a day of traces of three services', () => {
  beforeAll(async () => {
    stand = await openStand()
    expect(await sendDay()).toBeGreaterThan(95_000)
  }, 300_000)
  afterEach(() => stand.endTest())
  afterAll(() => stand.close())

  const changed = (page: Page) => page.getByRole('region', { name: 'What changed' })

  async function openDay(page: Page, hands: ReturnType<typeof person>): Promise<void> {
    await hands.click(page.getByRole('button', { name: 'Last 1 hour' }))
    await hands.click(page.getByRole('list', { name: 'Presets' }).getByRole('button', { name: '24 hours', exact: true }))
    await page.getByRole('button', { name: 'Last 24 hours' }).waitFor()
  }

  test('a version that is slow for one customer is found in the last hour', async () => {
    const page = await stand.open('/app/traces')
    const hands = person(page)
    await hands.brush(/^2 s to 5 s/, /^2 s to 5 s/)
    await hands.click(page.getByRole('button', { name: 'What changed?' }))
    await changed(page).getByRole('button', { name: 'Filter by $customer.id = acme' }).first().waitFor()
    await changed(page).getByRole('button', { name: 'Filter by $service.version = 2.4.0' }).first().waitFor()
    expect(hands.actions()).toBeLessThanOrEqual(ACTIONS_MAX)
    expect(await axeFaults(page, 'what changed')).toEqual([])
    // A value leads to its traces.
    await changed(page).getByRole('button', { name: 'Filter by $service.version = 2.4.0' }).first().click()
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toContain("$service.version = '2.4.0'")
    await page.getByRole('region', { name: 'Traces table' }).getByRole('link').first().waitFor()
  })

  test('a downstream that makes its callers retry is found in the day', async () => {
    const page = await stand.open('/app/traces')
    const hands = person(page)
    await openDay(page, hands)
    await hands.brush(/^500 ms to 1 s/, /^1 s to 2 s/)
    await hands.click(page.getByRole('button', { name: 'What changed?' }))
    await changed(page)
      .getByRole('button', { name: /^Filter by \$http\.request\.resend_count/ })
      .first()
      .waitFor()
    await changed(page).getByRole('button', { name: 'Filter by $http.response.status_code = 503' }).first().waitFor()
    expect(hands.actions()).toBeLessThanOrEqual(ACTIONS_MAX)
  })

  test('a cold cache is found in the day', async () => {
    const page = await stand.open('/app/traces')
    const hands = person(page)
    await openDay(page, hands)
    await hands.brush(/^200 ms to 500 ms/, /^200 ms to 500 ms/)
    await hands.click(page.getByRole('button', { name: 'What changed?' }))
    await changed(page).getByRole('button', { name: 'Filter by $cache.hit = false' }).first().waitFor()
    expect(hands.actions()).toBeLessThanOrEqual(ACTIONS_MAX)
    // What is missing among them names no cause that was planted elsewhere.
    expect(
      await changed(page)
        .getByRole('button', { name: /resend_count|customer\.id/ })
        .count(),
    ).toBe(0)
  })
})
