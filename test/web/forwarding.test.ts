import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ForwardConfig } from '@dendro/api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeEngines } from '../../server/src/events/store/engine.fixture.ts'
import { forwarding } from '../../server/src/resources/queries/forward-configs/forward-configs.ts'
import { whileTimePasses } from '../support/passing-time.ts'
import type { TestOrganization } from '../support/world.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand
let target: Server
let targetUrl = ''
let targetStatus = 200
const engines = makeEngines()

const configsOf = async (org: TestOrganization): Promise<ForwardConfig[]> =>
  (await org.ask<{ 'forward-configs': ForwardConfig[] }>('GET', '/forward-configs')).body['forward-configs']

const create = async (org: TestOrganization, body: Record<string, unknown>): Promise<ForwardConfig> => {
  const destination = { destination_type: 'HTTP', url: targetUrl }
  const whole = { name: 'Archive', all_logs: true, compression: 'GZIP', max_buffer_time_ms: 60_000, destination, ...body }
  const created = await org.ask<ForwardConfig>('POST', '/forward-configs', { body: whole })
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  return created.body
}

/** Sends events whose time is that of the service. */
const send = (org: TestOrganization, count: number, dataset = 'web'): Promise<void> =>
  stand.send(
    dataset,
    Array.from({ length: count }, (_, n) => ({ level: n % 2 ? 'info' : 'error', n })),
    org,
  )

/** Waits for the state of a delivery while the clock moves on. */
const eventually = (org: TestOrganization, state: Partial<ForwardConfig['delivery']>) =>
  whileTimePasses(stand.app.clock, async () => expect((await configsOf(org))[0]?.delivery).toMatchObject(state), 10_000)

/** A key that sees forward configs and changes nothing. */
async function readerKey(org: TestOrganization): Promise<string> {
  const role = { role_type: 'API', display_name: 'Forward readers', permissions: ['forward_read', 'logs_read'] }
  const made = await org.ask<{ role_id: string }>('POST', '/roles', { body: role })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return org.newKey([made.body.role_id])
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

describe.skipIf(browserPath === undefined)('forwarding', () => {
  beforeAll(async () => {
    target = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(targetStatus).end())
    })
    await new Promise<void>((listening) => target.listen(0, '127.0.0.1', listening))
    targetUrl = `http://127.0.0.1:${(target.address() as AddressInfo).port}/in`
    // Moving the clock moves the sequence numbers of everyone who shares a store.
    const store = await engines.open(await engines.madeDir())
    const env = { DENDRO_CLICKHOUSE_URL: store.url, DENDRO_WEBHOOK_ALLOW: '127.0.0.1' }
    stand = await openStand({ kinds: (world) => [forwarding(world)], env })
  })
  afterEach(() => {
    targetStatus = 200
    return stand.endTest()
  })
  afterAll(async () => {
    await stand?.close()
    target?.close()
    await engines.cleanUp()
  })

  test('the page explains itself, and leads to a configuration whose destination is tested before it is saved', async () => {
    const org = await stand.app.newOrganization()
    const page = await stand.open('/app/data', { key: org.key })
    await page.getByRole('link', { name: 'Forwarding' }).click()
    await page.getByRole('heading', { name: 'Nothing is forwarded yet' }).waitFor()
    await page.getByRole('link', { name: 'Forward events' }).click()
    await page.getByText('Missing: a bucket.').waitFor()
    await page.getByRole('combobox', { name: 'Format' }).selectOption('Parquet, a column for each field')
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('URL, or another Dendro')
    expect(await page.getByRole('combobox', { name: 'Format' }).inputValue()).toBe('RAW')
    const run = page.getByRole('button', { name: 'Test destination' })
    expect(await run.isDisabled()).toBe(true)
    await page.getByRole('textbox', { name: /^URL/ }).fill(targetUrl)
    targetStatus = 403
    await run.click()
    await page.getByText('the target answered with status 403').waitFor()
    targetStatus = 200
    await page.getByRole('textbox', { name: /^Headers/ }).fill('authorization: Bearer of-the-target')
    await run.click()
    await page.getByText('It accepts payloads.').waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Second copy')
    await page.getByRole('button', { name: 'Create configuration' }).click()
    await row(page, 'Second copy').getByText('Nothing delivered yet').waitFor()
    const [config] = await configsOf(org)
    expect(config).toMatchObject({
      name: 'Second copy',
      all_logs: true,
      format: 'RAW',
      compression: 'ZSTD',
      max_payload_size_bytes: 10_000_000,
      max_buffer_time_ms: 300_000,
      destination: { destination_type: 'HTTP', url: targetUrl, headers: { authorization: '***' } },
    })
  })

  test('an edit keeps secrets that are not typed again, and a rejected field is named beside it', async () => {
    const org = await stand.app.newOrganization()
    const destination = { destination_type: 'HTTP', url: targetUrl, headers: { authorization: 'Bearer hidden-word' } }
    const { id } = await create(org, { name: 'Mirror', destination, filter: 'level = error' })
    const page = await stand.open('/app/data?forwarding=true', { key: org.key })
    await page.getByRole('link', { name: 'Edit Mirror' }).click()
    await page.getByText('To test, type the secret again').waitFor()
    expect(await page.content()).not.toContain('hidden-word')
    await page.getByRole('spinbutton', { name: 'Age in minutes' }).fill('2.5')
    await page.getByRole('textbox', { name: /^URL/ }).fill('http://10.0.0.1/')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/destination\.url/)
      .waitFor()
    await page.getByRole('textbox', { name: /^URL/ }).fill(`${targetUrl}/other`)
    await page.getByRole('button', { name: 'Save' }).click()
    await row(page, 'Mirror').getByText(`${targetUrl}/other`).waitFor()
    const [config] = await configsOf(org)
    expect(config).toMatchObject({
      id,
      filter: 'level = error',
      max_buffer_time_ms: 150_000,
      destination: { headers: { authorization: '***' } },
    })
  })

  test('waiting and lost events are shown with the reason, then the delivery; a deleted configuration is gone', async () => {
    const org = await stand.app.newOrganization()
    await create(org, { name: 'Archive' })
    targetStatus = 503
    await send(org, 4, 'doomed')
    await send(org, 2, 'kept')
    await eventually(org, { status: 'DELAYED', waiting_events: 6 })
    const page = await stand.open('/app/data?forwarding=true', { key: org.key })
    const archive = row(page, 'Archive')
    await archive.getByText(/^6 events wait, the oldest arrived /).waitFor()
    await archive.getByText('the target answered with status 503').waitFor()
    const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
    const doomed = datasets.find(({ dataset }) => dataset === 'doomed')?.id
    expect((await org.ask('DELETE', `/datasets/${doomed}`)).status).toBe(204)
    targetStatus = 200
    await eventually(org, { status: 'OK', delivered_events: 2, lost_events: 4 })
    await archive.getByText(/^4 events lost/).waitFor()
    await archive.getByText(/^2 events delivered/).waitFor()
    await page.getByRole('button', { name: 'Delete Archive' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Nothing is forwarded yet' }).waitFor()
    expect(await configsOf(org)).toEqual([])
  })

  test('a reader sees configurations and cannot change them', async () => {
    const org = await stand.app.newOrganization()
    await create(org, { name: 'Archive' })
    const page = await stand.open('/app/data?forwarding=true', { key: await readerKey(org) })
    await page.getByText('Archive').first().waitFor()
    expect(await page.getByRole('button', { name: /^Delete/ }).count()).toBe(0)
    expect(await page.getByRole('link', { name: /^Edit|^Forward events/ }).count()).toBe(0)
  })

  test('a failed list offers to try again', async () => {
    const page = await stand.open('/app/data')
    await page.route('**/forward-configs', (route) => route.fulfill({ status: 503, json: { details: 'a short outage' } }))
    await page.getByRole('link', { name: 'Forwarding' }).click()
    await page.getByRole('alert').getByText('a short outage').waitFor()
    await page.unroute('**/forward-configs')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Nothing is forwarded yet' }).waitFor()
  })

  test.each(['light', 'dark'] as const)('the list and the form have no faults, %s', async (theme) => {
    const org = await stand.app.newOrganization()
    await create(org, { name: 'Second copy in Frankfurt', description: 'For the day when the first one burns' })
    targetStatus = 503
    await send(org, 4)
    await eventually(org, { status: 'DELAYED', waiting_events: 4 })
    const bucket = { destination_type: 'S3', bucket: 'company-archive', prefix: 'logs', access_key_id: 'AKIA', secret_access_key: 'word' }
    const archive = await create(org, { name: 'Archive', format: 'PARQUET', filter: 'level = error', destination: bucket })
    await create(org, {
      name: 'Analytics',
      destination: { destination_type: 'KAFKA', brokers: ['kafka-1.example.org:9093'], topic: 'logs.{collection}', tls: true },
    })
    for (const width of [390, 1_440]) {
      for (const [name, path, text] of [
        ['forwarding', '/app/data?forwarding=true', /events wait/],
        ['bucket', `/app/data?forwarding=true&edit=${archive.id}`, 'To test, type the secret again'],
        ['new', '/app/data?forwarding=true&edit=new', 'Missing: a bucket.'],
        ['empty', '/app/data?forwarding=true', 'Nothing is forwarded yet'],
      ] as const) {
        const page = await stand.open(path, { theme, width, key: name === 'empty' ? stand.org.key : org.key })
        await page.getByText(text).waitFor()
        expect(await axeFaults(page, `${name} ${theme} ${width}`)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        const pictures = process.env.DENDRO_FORWARDING_PICTURES
        if (pictures) await page.screenshot({ path: `${pictures}/${name}-${theme}-${width}.png`, fullPage: true })
      }
    }
  })
})
