import type { IngestRule } from '@dendro/api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { TestOrganization } from '../support/world.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

const rulesOf = async (org: TestOrganization): Promise<IngestRule[]> =>
  (await org.ask<{ ingest_rules: IngestRule[] }>('GET', '/ingest-rules')).body.ingest_rules
const create = async (org: TestOrganization, body: Record<string, unknown>): Promise<IngestRule> => {
  const created = await org.ask<IngestRule>('POST', '/ingest-rules', { body: { from_expr: '*', action: { type: 'DROP' }, ...body } })
  expect(created.status).toBe(201)
  return created.body
}
const send = (org: TestOrganization): Promise<void> => {
  const nowMs = stand.app.clock.nowMs()
  return stand.send(
    'web',
    Array.from({ length: 40 }, (_, at) => ({
      timestamp: new Date(nowMs - 60_000 + at).toISOString(),
      level: at % 4 === 0 ? 'debug' : 'info',
      message: at % 2 === 0 ? `order ${at} placed by ann${at}@example.org` : `cache miss for item ${at}`,
    })),
    org,
  )
}
const names = (page: Page) => page.getByRole('region', { name: 'Ingest rules table' }).locator('td .font-medium').allTextContents()

describe.skipIf(browserPath === undefined)('ingest rules', () => {
  beforeAll(async () => {
    stand = await openStand()
    await send(stand.org)
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand.close())

  test('without rules the page explains them, and leads to a new one', async () => {
    const org = await stand.app.newOrganization()
    const page = await stand.open('/app/data', { key: org.key })
    await page.getByRole('link', { name: 'Ingest rules' }).click()
    await page.getByRole('heading', { name: 'No rules yet' }).waitFor()
    await page.getByRole('link', { name: 'New rule' }).click()
    await page.getByRole('heading', { name: 'New rule' }).waitFor()
    expect(await page.getByRole('button', { name: 'Create rule' }).isDisabled()).toBe(true)
    await page.getByText('received no events in the last 7 days').waitFor()
  })

  test('a pattern leads to a rule that drops such lines, with its effect, and then they are dropped', async () => {
    const org = await stand.app.newOrganization()
    await send(org)
    const price = { currency: 'EUR', per_gb: 1_000 }
    expect((await org.ask('PUT', '/spend/settings', { body: { price } })).status).toBe(200)
    const page = await stand.open(exploreUrl({ r: 'Last 1 hour', tab: 'patterns' }), { key: org.key })
    const row = page.getByRole('row').filter({ hasText: 'cache miss' })
    await row.getByRole('link', { name: 'Drop' }).click()
    await page.getByRole('heading', { name: 'New rule' }).waitFor()
    await page.getByText(/^Of all 40 events of the last 7 days 20 match: 20 would be dropped .* or €[0-9.]+ a month\.$/).waitFor()
    await page.getByText('cache miss for item 39').waitFor()
    await page.getByRole('button', { name: 'Create rule' }).click()
    await page.getByText('Drops events').waitFor()
    await expect
      .poll(async () => (await rulesOf(org)).map(({ from, where, action }) => [from?.length, where, action]))
      .toEqual([[1, expect.stringMatching(/^@pattern = '[0-9a-f]{16}'$/), { type: 'DROP' }]])
    await send(org)
    const { totals } = (await org.ask<{ totals: { dropped: number } }>('GET', '/ledger')).body
    expect(totals.dropped).toBe(20)
  })

  test('the preview says of which events it is, where it has not tried all', async () => {
    const org = await stand.app.newOrganization()
    const startMs = Math.floor(stand.app.clock.nowMs() / 60_000) * 60_000 - 1_200_000
    const events = Array.from({ length: 1_200 }, (_, at) => ({
      timestamp: new Date(startMs + at * 500).toISOString(),
      message: `tick ${at}`,
    }))
    await stand.send('web', events, org)
    const page = await stand.open('/app/data?rules=true&rule=new', { key: org.key })
    // The oldest 200 are of the first 100 seconds.
    await page.getByText(/^Of the newest 1,000 events, from [\d-]+ \d\d:\d\d:40 to (?:[\d-]+ )?\d\d:\d\d:59, 1,000 match/).waitFor()
    await page.getByText('Older events of the last 7 days were not tried').waitFor()
  })

  test('a redaction shows the lines before and after, and can be edited; its versions are listed', async () => {
    const page = await stand.open('/app/data?rules=true&rule=new')
    await page.getByRole('combobox', { name: 'Action' }).selectOption('Redact')
    await page.locator('del').filter({ hasText: 'ann38@example.org' }).waitFor()
    await page.locator('ins').filter({ hasText: '[REDACTED]' }).first().waitFor()
    await page.getByRole('button', { name: 'Add an expression' }).click()
    await page.getByRole('textbox', { name: 'Regular expression (RE2)' }).fill('(')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('No addresses')
    await page.getByRole('button', { name: 'Create rule' }).click()
    await page
      .getByText(/action\.expressions\.0\.pattern/)
      .first()
      .waitFor()
    await page.getByRole('textbox', { name: 'Regular expression (RE2)' }).fill('item \\d+')
    await page.getByRole('button', { name: 'Create rule' }).click()
    await page.getByText('Redacts e-mail addresses, card numbers and 1 expression').waitFor()
    await page.getByRole('link', { name: 'Edit No addresses' }).click()
    await page.getByRole('checkbox', { name: 'tokens' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Redacts card numbers, e-mail addresses, tokens and 1 expression').waitFor()
    await page.getByRole('button', { name: 'Version 2 of No addresses' }).click()
    await page.getByRole('list', { name: 'Versions' }).getByText('Version 1').waitFor()
    await page.getByRole('button', { name: 'Delete No addresses' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No rules yet' }).waitFor()
  })

  test('rules are ordered by keys and by dragging, and disabled', async () => {
    const org = await stand.app.newOrganization()
    for (const name of ['one', 'two', 'three']) await create(org, { name, where: `level = '${name}'` })
    const page = await stand.open('/app/data?rules=true', { key: org.key })
    await expect.poll(() => names(page)).toEqual(['one', 'two', 'three'])
    await page.getByRole('button', { name: 'Move one, 1 of 3' }).press('ArrowDown')
    await expect.poll(() => names(page)).toEqual(['two', 'one', 'three'])
    await page.getByRole('button', { name: 'Move three, 3 of 3' }).dragTo(page.getByText('two', { exact: true }))
    await expect.poll(() => names(page)).toEqual(['three', 'two', 'one'])
    expect((await rulesOf(org)).map(({ name }) => name)).toEqual(['three', 'two', 'one'])
    await page.getByRole('button', { name: 'Disable two' }).click()
    await page.getByText('disabled', { exact: true }).waitFor()
    expect((await rulesOf(org)).map(({ enabled }) => enabled)).toEqual([true, false, true])
  })

  test('events get fields and tags, are parsed and moved, and the effect is seen before', async () => {
    const org = await stand.app.newOrganization()
    await send(org)
    const page = await stand.open('/app/data?rules=true&rule=new', { key: org.key })
    const action = page.getByRole('combobox', { name: 'Action' })
    const effect = page.getByRole('region', { name: 'Effect on recent events' })
    await action.selectOption('Add fields')
    await page.getByText('Shown when the action has the name of a field.').waitFor()
    await page.getByRole('textbox', { name: 'Field', exact: true }).fill('env')
    await page.getByRole('textbox', { name: 'Value' }).fill('prod')
    await effect.locator('ins').filter({ hasText: '"env":"prod' }).first().waitFor()
    await action.selectOption('Set tags')
    await page.getByRole('textbox', { name: 'Tag', exact: true }).fill('team')
    await page.getByRole('textbox', { name: 'Value' }).fill('shop')
    await effect.locator('ins').filter({ hasText: '$team = shop' }).first().waitFor()
    await action.selectOption('Parse')
    await page.getByRole('textbox', { name: 'Pattern' }).fill('order %{INT:order} placed')
    await effect.locator('ins').filter({ hasText: '"order":"38' }).first().waitFor()
    await action.selectOption('Look up in a table')
    const csv = 'level,meaning\ndebug,noise\ninfo,news\n'
    await page.getByLabel(/New table from a CSV file/).setInputFiles({ name: 'levels.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await page.getByRole('button', { name: 'Create table' }).click()
    await page.getByText('2 rows, by level').waitFor()
    await page.getByRole('textbox', { name: /^Field/ }).fill('level')
    await effect.locator('ins').filter({ hasText: '"meaning":"news' }).first().waitFor()
    await action.selectOption('Move to another dataset')
    await page.getByRole('textbox', { name: /^Dataset/ }).fill('errors')
    await effect.getByText('to shop.errors').first().waitFor()
    expect(await axeFaults(page, 'moving')).toEqual([])
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Elsewhere')
    await page.getByRole('button', { name: 'Create rule' }).click()
    await page.getByText('Moves events to errors').waitFor()
    expect((await rulesOf(org))[0]?.action).toEqual({ type: 'SET_DATASET', dataset: 'errors' })
  })

  test('many rules are found by every text of a row; only the whole list can be put in order', async () => {
    const org = await stand.app.newOrganization()
    for (let n = 0; n < 12; n += 1)
      await create(org, {
        name: `rule ${n}`,
        where: n % 2 ? `path = '/health${n}'` : '',
        enabled: n !== 3,
        description: n === 4 ? 'for audits' : '',
      })
    const page = await stand.open('/app/data?rules=true', { key: org.key })
    const find = page.getByLabel('Find a rule')
    await page.getByText('12 rules, 1 disabled').waitFor()
    expect(await page.getByRole('button', { name: /^Move / }).count()).toBe(12)
    await find.fill('HEALTH1 drops')
    await page.getByText('2 of 12 rules').waitFor()
    expect(await names(page)).toEqual(['rule 1', 'rule 11'])
    expect(await page.getByRole('button', { name: /^Move / }).count()).toBe(0)
    await find.fill('audits')
    await expect.poll(() => names(page)).toEqual(['rule 4'])
    await find.fill('nothing like it')
    await page.getByRole('heading', { name: 'No rule matches' }).waitFor()
    expect(await axeFaults(page, 'no rule')).toEqual([])
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => names(page)).toHaveLength(12)
  })

  test('a rule about whole traces has fields for what is kept and how long spans wait', async () => {
    const org = await stand.app.newOrganization()
    const draft = encodeURIComponent(JSON.stringify({ from_expr: "collection = '.traces'" }))
    const page = await stand.open(`/app/data?rules=true&draft=${draft}`, { key: org.key })
    await page.getByRole('combobox', { name: 'Action' }).selectOption('Sample whole traces')
    await page.getByText('it cannot be tried on single events').waitFor()
    const errors = page.getByRole('checkbox', { name: 'Keep all traces with failed spans' })
    const slow = page.getByRole('spinbutton', { name: /^Keep all with a span of this many milliseconds/ })
    const share = page.getByRole('spinbutton', { name: 'Percent of the others to keep' })
    const wait = page.getByRole('spinbutton', { name: /^Seconds to wait/ })
    expect([await errors.isChecked(), await slow.inputValue(), await share.inputValue(), await wait.inputValue()]).toEqual([
      ...[true, '1000', '10', '30'],
    ])
    expect(await axeFaults(page, 'whole traces')).toEqual([])
    await slow.fill('')
    await share.fill('2.5')
    await wait.fill('3600')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Few traces')
    await page.getByRole('button', { name: 'Create rule' }).click()
    // The browser itself refuses what is out of range.
    await page.locator('input[max="300"]:invalid').waitFor()
    expect(await rulesOf(org)).toEqual([])
    await wait.fill('45')
    await page.getByRole('button', { name: 'Create rule' }).click()
    await page.getByText('Keeps failed traces and 2.5 % of the others').waitFor()
    const saved = async () => (await rulesOf(org)).map(({ from_expr, action }) => [from_expr, action])
    const first = { type: 'TAIL_SAMPLE', keep: 0.025, keep_errors: true, wait_s: 45 }
    expect(await saved()).toEqual([["collection = '.traces'", first]])
    await page.getByRole('link', { name: 'Edit Few traces' }).click()
    await errors.uncheck()
    await slow.fill('750')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Keeps those of 750 ms and more and 2.5 % of the others').waitFor()
    expect(await saved()).toEqual([["collection = '.traces'", { ...first, keep_errors: false, slower_than_ms: 750 }]])
  })

  test('a reader sees rules and cannot change them', async () => {
    const org = await stand.app.newOrganization()
    await create(org, { name: 'No noise' })
    const { token } = await org.newUser(['Standard'])
    const { key } = (
      await stand.app.ask<{ key: string }>('POST', '/auth/api-keys', { token, body: { name: 'reader', roles: ['AdminApi'] } })
    ).body
    const page = await stand.open('/app/data?rules=true', { key })
    await page.getByText('No noise').waitFor()
    await page.getByRole('link', { name: /@/ }).waitFor()
    for (const name of [/^Move/, /^Disable/, /^Delete/]) expect(await page.getByRole('button', { name }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'New rule' }).count()).toBe(0)
  })

  test.each(['light', 'dark'] as const)('the list and the editor have no faults, %s', async (theme) => {
    const org = await stand.app.newOrganization()
    await send(org)
    await create(org, { name: 'No debug', where: "level = 'debug'" })
    await create(org, { name: 'A tenth of the cache', where: "message LIKE 'cache%'", action: { type: 'SAMPLE', keep: 0.1 } })
    await create(org, {
      name: 'Personal data',
      action: { type: 'REDACT', kinds: ['EMAIL', 'CARD_NUMBER'] },
      description: 'For the privacy office',
    })
    await send(org)
    const [rule] = await rulesOf(org)
    for (const width of [390, 1_440]) {
      for (const [name, path] of [
        ['rules', '/app/data?rules=true'],
        ['rule', `/app/data?rules=true&rule=${rule?.id}`],
        ['redaction', `/app/data?rules=true&draft=${encodeURIComponent('{"action":{"type":"REDACT"}}')}`],
      ] as const) {
        const page = await stand.open(path, { theme, width, key: org.key })
        await page.getByText(name === 'rules' ? /^In the last day/ : /^Of all \d+ events/).waitFor()
        expect(await axeFaults(page, `${name} ${theme} ${width}`)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        const pictures = process.env.DENDRO_RULE_PICTURES
        if (pictures) await page.screenshot({ path: `${pictures}/${name}-${theme}-${width}.png` })
      }
    }
  })
})
