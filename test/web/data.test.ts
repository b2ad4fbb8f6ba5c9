import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { TestOrganization } from '../support/world.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

type Datasets = { datasets: { id: string; dataset: string; collection: string; parser_id?: string; tags: object; retention?: string }[] }

const datasetsOf = async (org: TestOrganization) => (await org.ask<Datasets>('GET', '/datasets')).body.datasets
const datasetOf = async (org: TestOrganization, name: string) => (await datasetsOf(org)).find(({ dataset }) => dataset === name)

const rowOf = (page: Page, name: string) => page.getByRole('region', { name: 'Datasets table' }).getByRole('row').filter({ hasText: name })

const lines = (nowMs: number, many: number) =>
  Array.from({ length: many }, (_, at) => ({
    timestamp: new Date(nowMs - at * 1_000).toISOString(),
    level: at % 5 === 0 ? 'error' : 'info',
    message: `order ${at} placed`,
    ...(at % 2 === 0 ? { region: 'eu' } : {}),
  }))

describe.skipIf(browserPath === undefined)('the data page', () => {
  beforeAll(async () => {
    stand = await openStand()
    await stand.send('orders', lines(stand.app.clock.nowMs(), 40))
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('datasets are filtered by name and tag, sorted by volume, and the address contains both', async () => {
    const org = await stand.app.newOrganization()
    for (const [dataset, tags] of [
      ['ledger', { team: 'money' }],
      ['orders', {}],
    ] as const)
      await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset, tags } })
    await stand.send('orders', lines(stand.app.clock.nowMs(), 10), org)
    const page = await stand.open('/app/data', { key: org.key })
    await rowOf(page, 'orders').getByText('receiving').waitFor()
    await rowOf(page, 'ledger').getByText('waiting').waitFor()
    await expect.poll(() => rowOf(page, 'orders').textContent()).toMatch(/kB|\d B/)
    await page.getByRole('button', { name: '7 days' }).click()
    await expect
      .poll(() => page.getByRole('region', { name: 'Datasets table' }).getByRole('row').nth(1).textContent())
      .toContain('shop / orders')
    await page.getByRole('button', { name: /^Waiting/ }).click()
    await rowOf(page, 'orders').waitFor({ state: 'detached' })
    await rowOf(page, 'ledger').waitFor()
    await page.getByRole('button', { name: /^Waiting/ }).click()
    await rowOf(page, 'orders').waitFor()
    await page.getByLabel('Find a dataset').fill('money')
    await rowOf(page, 'orders').waitFor({ state: 'detached' })
    await page.reload()
    expect(await page.getByLabel('Find a dataset').inputValue()).toBe('money')
    await rowOf(page, 'ledger').waitFor()
    await page.getByLabel('Find a dataset').fill('no such thing')
    await page.getByText('No dataset matches').waitFor()
  })

  test('a dataset is created, shows a configuration and a key until events arrive, and is renamed and deleted', async () => {
    const org = await stand.app.newOrganization()
    const page = await stand.open('/app/data', { key: org.key })
    await page.getByText('Waiting for the first event').waitFor()
    await page.getByRole('button', { name: 'New dataset' }).click()
    const form = page.getByRole('dialog', { name: 'New dataset' })
    await form.getByLabel('Collection').fill('.shop')
    await form.getByLabel('Name').fill('orders')
    await form.getByRole('button', { name: 'Create dataset' }).click()
    await form.getByText('must not begin with a dot').first().waitFor()
    await form.getByLabel('Collection').fill('shop')
    await form.getByRole('button', { name: 'Create dataset' }).click()
    await page.getByRole('heading', { name: 'shop / orders' }).waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.getByRole('status').locator('code').textContent()
    await page.getByRole('combobox', { name: /^Agent/ }).selectOption('vector')
    await page.getByRole('button', { name: 'Generate' }).click()
    const file = page.getByRole('region', { name: 'Configuration' })
    await file.getByText('/ingest/shop/orders').first().waitFor()
    const sent = await stand.app.ask('POST', '/ingest', {
      key: key ?? '',
      raw: '{"message":"first"}',
      headers: { 'x-service-collection': 'shop', 'x-service-dataset': 'orders' },
    })
    expect(sent.status).toBe(200)
    await page.getByText('receiving').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('Every received event is accounted for.').waitFor()
    await page.getByRole('region', { name: 'Senders table' }).getByText('Sends shop/orders').waitFor()

    await page.getByRole('navigation', { name: 'Dataset' }).getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('form', { name: 'Names' }).getByLabel('Dataset').fill('purchases')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'shop / purchases' }).waitFor()
    await page.getByRole('button', { name: 'Delete dataset' }).click()
    await page.getByRole('dialog').getByText('with its events and tags').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete dataset' }).click()
    await page.getByRole('heading', { name: 'Data', exact: true }).waitFor()
    await rowOf(page, 'purchases').waitFor({ state: 'detached' })
    expect(await datasetOf(org, 'purchases')).toBeUndefined()
    await page.getByRole('link', { name: 'Retention', exact: true }).click()
    await page.getByRole('region', { name: 'Deleted datasets' }).getByText('shop / purchases').waitFor()
  })

  test('a dataset lists its fields with their shares, and a value links to its events', async () => {
    const page = await stand.open('/app/data')
    await page.getByRole('link', { name: 'orders', exact: true }).click()
    await page.getByRole('link', { name: 'Fields' }).click()
    const row = page.getByRole('region', { name: 'Fields table' }).getByRole('row').filter({ hasText: 'region' })
    await row.getByText('50 %').waitFor()
    await row.getByRole('link', { name: 'eu' }).click()
    await page
      .getByText(/20 events/)
      .first()
      .waitFor()
  })

  test('rejections are shown with their reason, on the page of the dataset or, without one, above the list', async () => {
    const org = await stand.app.newOrganization()
    const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'orders', 'content-type': 'application/json' }
    await org.ask('POST', '/ingest', { raw: '[{"message":"good"}]', headers })
    expect((await org.ask('POST', '/ingest', { raw: '[{"message":', headers })).status).toBe(400)
    const page = await stand.open('/app/data', { key: org.key })
    await rowOf(page, 'orders').waitFor()
    await page.getByText(/rejected in the last day before their dataset was known/).click()
    await page.getByText('invalid format').waitFor()
  })

  test('lines that tell their own time offer it in one click; an ambiguous date is said to be', async () => {
    const org = await stand.app.newOrganization()
    const send = (dataset: string, raw: string) =>
      org.ask('POST', '/ingest', {
        raw,
        headers: { 'x-service-collection': 'systems', 'x-service-dataset': dataset, 'content-type': 'text/plain' },
      })
    await send('hdfs', '081109 203615 148 INFO dfs.DataNode: a\n081109 203807 222 INFO dfs.DataNode: b')
    await send('spark', '17/06/09 20:10:40 INFO executor: run')
    const page = await stand.open(`/app/data?id=${(await datasetOf(org, 'hdfs'))?.id}`, { key: org.key })
    const panel = page.getByRole('region', { name: 'Timestamp of lines' })
    await panel.getByText('2008-11-09 20:36:15').waitFor()
    await panel.getByRole('combobox').selectOption('Europe/Berlin')
    await panel.getByText('2008-11-09 19:36:15').waitFor()
    await panel.getByRole('button', { name: 'Use this timestamp' }).click()
    await panel.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Parser', exact: true }).click()
    await panel.getByText('Events have the timestamp of their line: YYMMDD hh:mm:ss, Europe/Berlin.').waitFor()
    await panel.getByRole('button', { name: 'Turn off' }).click()
    await panel.getByText('The lines contain a timestamp').waitFor()
    await page.goto(new URL(`/app/data?id=${(await datasetOf(org, 'spark'))?.id}`, page.url()).href)
    await panel.getByText('The order of day, month and year is ambiguous').waitFor()
    expect(await panel.getByRole('button', { name: 'Use this timestamp' }).count()).toBe(2)
  })

  test('access logs are offered with a dashboard and monitors: previewed, created once, and opened', async () => {
    const org = await stand.app.newOrganization()
    const nowMs = stand.app.clock.nowMs()
    const requests = Array.from({ length: 40 }, (_, at) => ({
      timestamp: new Date(nowMs - at * 1_000).toISOString(),
      method: 'GET',
      path: `/page/${at % 3}`,
      status: at % 10 ? 200 : 502,
      client_ip: `10.0.0.${at % 4}`,
    }))
    await stand.send('nginx', requests, org)
    const page = await stand.open('/app/dashboards', { key: org.key })
    const offers = page.getByRole('list', { name: 'Ready-made dashboards' })
    await offers.getByText('a dashboard and 2 monitors are ready').waitFor()
    expect(await axeFaults(page, 'offers')).toEqual([])
    await offers.getByRole('link', { name: 'Preview Access logs: nginx' }).click()
    await page.getByRole('heading', { level: 1, name: 'Access logs: shop / nginx' }).waitFor()
    await page.getByRole('region', { name: 'Clients with the most requests' }).getByText('10.0.0.1').waitFor()
    await page.getByText('no field holds the duration of a request').first().waitFor()
    expect(await axeFaults(page, 'content pack')).toEqual([])
    await page.getByLabel('Client', { exact: true }).fill('')
    await page.getByText('no field holds the address of the client').waitFor()
    await page.getByLabel('Server errors: shop / nginx').check()
    await page.getByText('Missing: a recipient.').waitFor()
    await page.getByLabel('Address').fill('oncall@example.org')
    await page.getByRole('button', { name: 'Create dashboard and 1 monitor' }).click()
    // The preview has the same title and widgets, so only the address tells that the dashboard exists.
    await page.waitForURL(/\/dashboards\?id=/)
    await page.getByRole('region', { name: 'Requests by status' }).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('Access logs: shop / nginx')
    const nginx = await datasetOf(org, 'nginx')
    await page.goto(`${stand.app.url}/app/data?id=${JSON.stringify(nginx?.id)}`)
    const panel = page.getByRole('region', { name: 'Ready-made dashboards and monitors' })
    await panel.getByRole('link', { name: 'Open dashboard' }).waitFor()
    await panel.getByText('1 monitor is ready').waitFor()
  })

  test('an offer is dismissed for good in this browser', async () => {
    const org = await stand.app.newOrganization()
    await stand.send('orders', lines(stand.app.clock.nowMs(), 10), org)
    const page = await stand.open('/app/dashboards', { key: org.key })
    await page.getByRole('button', { name: 'Dismiss Application logs: orders' }).click()
    await page.getByRole('list', { name: 'Ready-made dashboards' }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('button', { name: 'Ready-made' }).click()
    await page
      .getByRole('dialog', { name: 'Ready-made' })
      .getByRole('link', { name: /Application logs/ })
      .waitFor()
    expect(await page.getByRole('list', { name: 'Ready-made dashboards' }).count()).toBe(0)
  })

  test('a parser is tested on the newest lines, created, assigned, unassigned and deleted', async () => {
    const org = await stand.app.newOrganization()
    const raw = Array.from({ length: 8 }, (_, at) => `port ${at} is ${at % 2 ? 'up' : 'down'}`).join('\n')
    const headers = { 'x-service-collection': 'net', 'x-service-dataset': 'ports', 'content-type': 'text/plain' }
    expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
    const dataset = await datasetOf(org, 'ports')
    const page = await stand.open(`/app/data?id=${dataset?.id}&part=parser`, { key: org.key })
    await page.getByRole('button', { name: 'New parser' }).click()
    await page.getByLabel('Pattern').fill('port %{NUMBER:port} is %{NOSUCH:state}')
    await page.getByRole('button', { name: 'Create parser' }).click()
    await page
      .getByRole('form', { name: 'New parser' })
      .getByText(/NOSUCH/)
      .first()
      .waitFor()
    await page.getByLabel('Pattern').fill('port %{NUMBER:port} is %{WORD:state}')
    await page.getByRole('button', { name: 'Test pattern' }).click()
    await page.getByText('Matches 8 of 8').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Ports')
    await page.getByRole('button', { name: 'Create parser' }).click()
    await page.getByRole('button', { name: 'Assign Ports' }).click()
    await page.getByRole('heading', { name: 'Parsed by Ports' }).waitFor()
    expect((await datasetOf(org, 'ports'))?.parser_id).toBeDefined()
    await page.getByRole('button', { name: 'Unassign' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unassign' }).click()
    await page.getByText('The format of each line is detected').waitFor()
    await page.getByRole('button', { name: 'Delete the parser Ports' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Assign Ports' }).waitFor({ state: 'detached' })
  })

  test('retention shows what it would hide, tags are added and edited, and a collection is renamed and deleted', async () => {
    const org = await stand.app.newOrganization()
    const nowMs = stand.app.clock.nowMs()
    const old = { timestamp: new Date(nowMs - 40 * 86_400_000).toISOString(), message: 'old' }
    await stand.send('orders', [old, { message: 'new' }], org)
    await stand.send('carts', [{ message: 'new' }], org)
    const dataset = await datasetOf(org, 'orders')
    const page = await stand.open(`/app/data?id=${dataset?.id}&part=care`, { key: org.key })
    await page.getByText('default of the service').waitFor()
    await page.getByLabel('Keep events for').selectOption('DAYS_30')
    await page.getByText(/are hidden at once/).waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('30 days, set for this dataset').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('team')
    await page.getByLabel('Value', { exact: true }).fill('till')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const tag = page.getByRole('region', { name: 'Tags table' }).getByRole('row').filter({ hasText: 'team' })
    await tag.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Value of team').fill('tills')
    await page.getByRole('form', { name: 'Edit the tag team' }).getByRole('button', { name: 'Save', exact: true }).click()
    await tag.getByText('tills').waitFor()

    await page.getByRole('link', { name: 'All datasets' }).click()
    await page.getByRole('button', { name: 'Edit the collection shop' }).click()
    await page.getByLabel('Name of the collection').fill('store')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('rowheader', { name: 'store' }).waitFor()
    expect((await datasetsOf(org)).filter(({ collection }) => collection === 'store')).toHaveLength(2)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Edit the collection store' }).click()
    await page.getByRole('button', { name: 'Delete collection' }).click()
    await page.getByText('and 2 datasets: ').waitFor()
    await page.getByRole('button', { name: 'Delete collection' }).click()
    await page.getByRole('rowheader', { name: 'store' }).waitFor({ state: 'detached' })
    expect((await datasetsOf(org)).filter(({ collection }) => collection === 'store')).toHaveLength(0)
  })

  test('a retention rule of a collection is created, edited and deleted', async () => {
    const org = await stand.app.newOrganization()
    await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset: 'orders' } })
    const page = await stand.open('/app/data?keep=true', { key: org.key })
    await page.getByLabel(/^Scope/).selectOption({ label: 'the collection shop' })
    await page.getByRole('form', { name: 'New rule' }).getByLabel('Keep events for').selectOption('DAYS_180')
    await page.getByRole('button', { name: 'Create rule' }).click()
    const kept = page.getByRole('region', { name: 'Retention table' }).getByRole('row').filter({ hasText: 'shop / orders' })
    await kept.getByText('180 days').waitFor()
    await page.getByRole('button', { name: 'Delete the rule of the collection shop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await kept.getByText('365 days').waitFor()
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('has no fault that axe finds: %s, %d pixels', async (theme, width) => {
    const dataset = await datasetOf(stand.org, 'orders')
    const page = await stand.open('/app/data', { theme, width })
    await rowOf(page, 'orders').waitFor()
    expect(await axeFaults(page, 'list')).toEqual([])
    for (const path of [
      'keep=true',
      `id=${dataset?.id}`,
      ...['keys', 'parser', 'care', 'sending'].map((part) => `id=${dataset?.id}&part=${part}`),
    ]) {
      await page.goto(`${stand.app.url}/app/data?${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expect.poll(() => page.getByText(/^Loading/).count()).toBe(0)
      expect(await axeFaults(page, path)).toEqual([])
    }
    await page.getByRole('combobox', { name: /^Agent/ }).waitFor()
    await page.goto(`${stand.app.url}/app/data`)
    await page.getByRole('button', { name: 'New dataset' }).click()
    await page.getByRole('button', { name: 'Create dataset' }).waitFor()
    expect(await axeFaults(page, 'new dataset')).toEqual([])
  })
})
