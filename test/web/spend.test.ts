import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

describe.skipIf(browserPath === undefined)('the page of spend', () => {
  beforeAll(async () => {
    stand = await openStand()
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand.close())

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('shows what arrived, and what it costs once a price is set: %s, %d pixels', async (theme, width) => {
    const org = await stand.app.newOrganization()
    for (const [dataset, bytes] of [
      ['orders', 3_000],
      ['carts', 1_000],
    ] as const) {
      const headers = { 'content-type': 'application/x-ndjson', 'x-service-dataset': dataset }
      expect((await stand.app.ask('POST', '/', { raw: 'x'.repeat(bytes), key: org.key, headers })).status).toBeLessThan(300)
    }
    const page = await stand.open('/app/usage', { key: org.key, theme, width })
    await page.getByRole('main').getByRole('link', { name: 'Spend' }).click()
    await page.getByRole('heading', { name: 'Spend', level: 1 }).waitFor()
    const table = page.getByRole('region', { name: 'Datasets' })
    await table.getByRole('row', { name: /default \/ orders 75 % 3\.0 kB 1/ }).waitFor()
    await page.getByText('No forecast before three full days of data.').waitFor()
    const form = page.getByRole('form', { name: 'Price and budget' })
    await form.getByLabel('Currency').fill('eur')
    await form.getByLabel('Price of a GB').fill('1000000')
    await form.getByLabel('Budget of a month').fill('3')
    await form.getByLabel('Unit of the budget').selectOption('MONEY')
    await form.getByRole('button', { name: 'Save' }).click()
    await table.getByRole('row', { name: /default \/ orders 75 % 3\.0 kB 1 €3\.00/ }).waitFor()
    await page.getByText('133 % of €3.00 used, exceeds the budget').waitFor()
    expect(await axeFaults(page, 'spend')).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.getByText('Nothing stands out in the last 30 days').waitFor()
    await page.getByRole('button', { name: 'Protocols' }).click()
    await page.getByRole('region', { name: 'Protocols' }).getByRole('row').nth(1).waitFor()
  })

  test('names ways to save, each with a rule that is one click away', async () => {
    const org = await stand.app.newOrganization()
    const line = (at: number) => JSON.stringify({ level: 'info', message: `order ${at} was stored`, dump: 'x'.repeat(900) })
    const raw = Array.from({ length: 3_000 }, (_, at) => line(at)).join('\n')
    const headers = { 'content-type': 'application/x-ndjson', 'x-service-dataset': 'orders' }
    expect((await stand.app.ask('POST', '/', { raw, key: org.key, headers })).status).toBeLessThan(300)
    const page = await stand.open('/app/spend', { key: org.key })
    const ways = page.getByRole('list', { name: 'Ways to save' })
    const removal = ways.getByRole('listitem').filter({ hasText: 'Remove the field dump' })
    await ways.getByText(/Keep one of ten: order .* was stored/).waitFor()
    await removal.getByRole('link', { name: 'Create the rule' }).click()
    await page.waitForURL(/rules=true/)
    await page.locator('input[value="Remove dump of default.orders"]').waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Patterns' }).click()
    await page
      .getByRole('region', { name: 'Patterns' })
      .getByRole('link', { name: /order .* was stored in default/ })
      .waitFor()
    await page.getByText('parts are estimated from samples of lines').waitFor()
  })
})
