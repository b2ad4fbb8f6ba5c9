import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { upsertInsights } from '../../server/src/resources/watching/insights/rows.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

describe.skipIf(browserPath === undefined)('the page of insights', () => {
  beforeAll(async () => {
    stand = await openStand()
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand.close())

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('shows each finding with its action, which opens a page of the app: %s, %d pixels', async (theme, width) => {
    const org = await stand.app.newOrganization()
    const { id } = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: 'orders' } })).body
    const link = `/app/data?${new URLSearchParams({ id, part: 'keys' })}`
    const sinceMs = Date.UTC(2026, 1, 3, 14)
    await upsertInsights(stand.app.app.world.meta, [
      {
        org_id: org.orgId,
        id: randomUUID(),
        name: 'fields_exploded',
        subject: id,
        entity_type: 'log',
        entity_id: id,
        evidence: 'The dataset has 90 keys, before 20.',
        confidence: 'high',
        action: { label: 'Look at the fields', link },
        since_ms: sinceMs,
        seen_ms: sinceMs,
        modified_at: sinceMs,
      },
    ])
    const page = await stand.open('/app/data', { key: org.key, theme, width })
    if (width < 640) await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('link', { name: 'Insights' }).click()
    const list = page.getByRole('list', { name: 'Insights' })
    await list.getByText('shop.orders: The dataset has 90 keys, before 20.').waitFor()
    await list.getByText('Too many fields').waitFor()
    await list.getByText('high confidence').waitFor()
    await list.getByText(/since .*14:00/).waitFor()
    expect(await axeFaults(page, 'insights')).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.evaluate('globalThis.isSamePage = true')
    await list.getByRole('link', { name: 'Look at the fields' }).click()
    await page
      .getByRole('heading', { name: 'orders', level: 1 })
      .or(page.getByRole('heading', { name: /orders/ }))
      .first()
      .waitFor()
    expect(page.url()).toBe(stand.app.url + link)
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true)
  })

  test('says what would be here where there is nothing', async () => {
    const page = await stand.open('/app/insights')
    await page.getByText('No insights now').waitFor()
    await page.getByText(/It takes a week to learn what is usual/).waitFor()
  })
})
