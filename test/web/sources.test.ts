import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Rehydration, Source } from '@dendro/api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { TestOrganization } from '../support/world.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand
let root = ''

/** An organization with a directory of its own and a dataset. */
type Files = { org: TestOrganization; dir: string; logId: string }

async function openFiles(files: Record<string, string | Uint8Array> = {}): Promise<Files> {
  const org = await stand.app.newOrganization()
  const dir = join(root, org.orgId)
  await mkdir(dir)
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content)
  const made = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })
  expect(made.status).toBe(201)
  return { org, dir, logId: made.body.id }
}

const sourcesOf = async (org: TestOrganization): Promise<Source[]> => (await org.ask<{ sources: Source[] }>('GET', '/sources')).body.sources

async function create({ org, dir, logId }: Files, body: Record<string, unknown>): Promise<Source> {
  const whole = { name: 'Files', log_id: logId, origin: { kind: 'DIRECTORY', directory: dir, files: '*.log*' }, ...body }
  const created = await org.ask<Source>('POST', '/sources', { body: whole })
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  return created.body
}

async function rehydrate({ org, dir, logId }: Files, body: Record<string, unknown> = {}): Promise<Rehydration> {
  const whole = { log_id: logId, origin: { kind: 'DIRECTORY', directory: dir }, ...body }
  const begun = await org.ask<Rehydration>('POST', '/rehydrations', { body: whole })
  expect(begun.status, JSON.stringify(begun.body)).toBe(202)
  await expect.poll(async () => (await org.ask<Rehydration>('GET', `/rehydrations/${begun.body.id}`)).body.ended_at).toBeDefined()
  return begun.body
}

/** A key that sees sources and changes nothing. */
async function readerKey(org: TestOrganization): Promise<string> {
  const role = { role_type: 'API', display_name: 'Source readers', permissions: ['sources_read', 'logs_read'] }
  const made = await org.ask<{ role_id: string }>('POST', '/roles', { body: role })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return org.newKey([made.body.role_id])
}

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `{"level":"info","n":${n}}\n`).join('')
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

async function hasNoFaults(page: Page, name: string, width: number, theme: string): Promise<void> {
  expect(await axeFaults(page, `${name} ${theme} ${width}`)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  const pictures = process.env.DENDRO_SOURCE_PICTURES
  if (pictures) await page.screenshot({ path: `${pictures}/${name}-${theme}-${width}.png` })
}

describe.skipIf(browserPath === undefined)('sources and rehydrations', () => {
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'dendro-source-pages-'))
    const env = { DENDRO_SOURCE_DIRECTORIES: `${root}/{organization}`, DENDRO_WEBHOOK_ALLOW: '127.0.0.1' }
    stand = await openStand({ env, readsSources: true })
  })
  afterEach(() => stand.endTest())
  afterAll(async () => {
    await stand?.close()
    await rm(root, { recursive: true, force: true })
  })

  test('the page explains sources, and one is created after its origin was tested; then its files are read', async () => {
    const { org, dir, logId } = await openFiles({ 'app.log': lines(7) })
    const page = await stand.open('/app/data', { key: org.key })
    await page.getByRole('link', { name: 'Sources' }).click()
    await page.getByRole('heading', { name: 'No sources yet' }).waitFor()
    await page.getByRole('link', { name: 'New source' }).click()
    await page.getByText('Missing: a directory.').waitFor()
    await page.getByRole('textbox', { name: /^Directory/ }).fill(join(dir, 'nowhere'))
    const run = page.getByRole('button', { name: 'Test origin' })
    await run.click()
    await page.getByRole('status').locator('.text-error').waitFor()
    await page.getByRole('textbox', { name: /^Directory/ }).fill(dir)
    expect(await page.getByRole('status').locator('.text-error').count()).toBe(0)
    await run.click()
    await page.getByText('It can be read.').waitFor()
    await page.getByRole('textbox', { name: /^Files/ }).fill('*.log*')
    await page.getByRole('combobox', { name: /^Dataset/ }).selectOption('shop / web')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Files of the shop')
    await page.getByRole('button', { name: 'Create source' }).click()
    const files = row(page, 'Files of the shop')
    await files.getByText(/^7 events read/).waitFor()
    await files.getByText('up to date').waitFor()
    await appendFile(join(dir, 'app.log'), lines(3))
    await files.getByText(/^10 events read/).waitFor()
    expect(await sourcesOf(org)).toMatchObject([{ log_id: logId, origin: { kind: 'DIRECTORY', directory: dir, files: '*.log*' } }])
  })

  test('a source is paused, edited without its password, and deleted', async () => {
    const files = await openFiles()
    const origin = {
      kind: 'KAFKA',
      brokers: ['127.0.0.1:9'],
      topic: 'orders',
      username: 'dendro',
      password: 'hidden-word',
      mechanism: 'SCRAM-SHA-256',
    }
    await create(files, { name: 'Orders', origin })
    const page = await stand.open('/app/data?sources=true', { key: files.org.key })
    const orders = row(page, 'Orders')
    await orders.getByText('orders at 127.0.0.1:9').waitFor()
    await orders.locator('.text-error').waitFor()
    await page.getByRole('button', { name: 'Pause Orders' }).click()
    await orders.getByText('Paused').waitFor()
    await page.getByRole('link', { name: 'Edit Orders' }).click()
    await page.getByText('To test, type the secret again').waitFor()
    await page.getByRole('textbox', { name: /^Consumer group/ }).fill('readers')
    await page.getByRole('combobox', { name: 'Messages' }).selectOption('Each object in a message is an event')
    await page.getByRole('textbox', { name: /^Brokers/ }).fill('127.0.0.1:9, 127.0.0.1:10')
    await page.getByRole('button', { name: 'Save' }).click()
    // The password was for other brokers.
    await page
      .getByRole('alert')
      .getByText(/origin\.password/)
      .waitFor()
    await page.getByRole('textbox', { name: /^Brokers/ }).fill('127.0.0.1:9')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Resume Orders' }).waitFor()
    expect(await sourcesOf(files.org)).toMatchObject([
      { paused: true, origin: { ...origin, password: '***', group: 'readers', format: 'JSON' } },
    ])
    await page.getByRole('button', { name: 'Delete Orders' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No sources yet' }).waitFor()
  })

  test('events are rehydrated from a form, with the receipts of the files', async () => {
    const { org, dir } = await openFiles({ 'a.log': lines(5), 'b.log': lines(2) })
    const page = await stand.open('/app/data', { key: org.key })
    await page.getByRole('link', { name: 'Rehydration' }).click()
    await page.getByRole('heading', { name: 'Nothing was rehydrated yet' }).waitFor()
    await page.getByRole('link', { name: 'Rehydrate events' }).click()
    await page.getByText('Missing: a directory.').waitFor()
    await page.getByRole('textbox', { name: /^Directory/ }).fill('/nowhere')
    await page.getByRole('combobox', { name: /^Dataset/ }).selectOption('shop / web')
    await page.getByRole('button', { name: 'Start' }).click()
    await page
      .getByRole('alert')
      .getByText(/origin\.directory/)
      .waitFor()
    await page.getByRole('textbox', { name: /^Directory/ }).fill(dir)
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('7 stored').waitFor()
    await page.getByText('2 of 2 files').waitFor()
    await page.getByRole('button', { name: `Files of ${dir}/**` }).click()
    const receipts = page.getByRole('region', { name: 'Files table' })
    await receipts.getByRole('row').filter({ hasText: 'a.log' }).getByRole('cell', { name: '5', exact: true }).first().waitFor()
    await page.getByRole('link', { name: 'Rehydrate events' }).click()
    await page.getByRole('textbox', { name: /^Directory/ }).fill(dir)
    await page.getByRole('combobox', { name: /^Dataset/ }).selectOption('shop / web')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('7 stored earlier').waitFor()
  })

  test('a bucket is read back from the same form', async () => {
    const { org } = await openFiles({ 'a.log': lines(1) })
    const page = await stand.open('/app/data?rehydrations=true&edit=new', { key: org.key })
    await page.getByRole('combobox', { name: /^Kind/ }).selectOption('Objects in a bucket (S3)')
    await page.getByText('Missing: a bucket.').waitFor()
    await page.getByRole('textbox', { name: 'Bucket' }).fill('archive')
    await page.getByRole('textbox', { name: 'Access key id' }).fill('id')
    await page.getByLabel('Secret access key').fill('secret')
    await page.getByRole('textbox', { name: /^Endpoint/ }).fill('ftp://archive.example')
    await page.getByRole('combobox', { name: /^Dataset/ }).selectOption('shop / web')
    await page.getByRole('button', { name: 'Start' }).click()
    await page
      .getByRole('alert')
      .getByText(/origin\.endpoint/)
      .waitFor()
    await page.getByRole('textbox', { name: /^Endpoint/ }).fill('')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('archive', { exact: true }).waitFor()
    expect((await org.ask<{ rehydrations: Rehydration[] }>('GET', '/rehydrations')).body.rehydrations[0]?.origin).toMatchObject({
      kind: 'S3',
      bucket: 'archive',
      secret_access_key: '***',
    })
  })

  test('a rehydration that runs is stopped, and a selection has its range and filter', async () => {
    const { org, dir, logId } = await openFiles()
    const counts = { read_events: 40, stored_events: 40, earlier_events: 0, unselected_events: 0, refused_events: 1 }
    const one = {
      id: '0192d2f0-0000-7000-8000-000000000001',
      log_id: logId,
      origin: { kind: 'DIRECTORY', directory: dir, files: '**' },
      from_ts: Date.UTC(2026, 10, 20, 8),
      to_ts: Date.UTC(2026, 10, 21),
      filter: 'level = error',
      ...{ status: 'IN_PROGRESS', files: 4, ended_files: 1, refused_files: 1, bytes: 4_000_000, ended_bytes: 1_000_000 },
      ...counts,
      metadata: { created_at: stand.app.clock.nowMs() },
    }
    const page = await stand.open('/app/data', { key: org.key })
    await page.route('**/rehydrations', (route) => route.fulfill({ json: { rehydrations: [one] } }))
    const stops: string[] = []
    await page.route('**/rehydrations/*/cancel', (route) => {
      stops.push(route.request().method())
      one.status = 'CANCELLING'
      return route.fulfill({ json: one })
    })
    await page.getByRole('link', { name: 'Rehydration' }).click()
    await page.getByText('in progress 25 %').waitFor()
    await page.getByText('2026-11-20 08:00 to 2026-11-21 00:00').waitFor()
    await page.getByText('level = error').waitFor()
    await page.getByText('1 file refused').waitFor()
    await page.getByRole('button', { name: /^Stop reading/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await page.getByText('being cancelled').waitFor()
    expect(stops).toEqual(['POST'])
    expect(await page.getByRole('button', { name: /^Stop reading/ }).count()).toBe(0)
  })

  test('a reader sees sources and rehydrations, and cannot change them', async () => {
    const files = await openFiles({ 'a.log': lines(1) })
    await create(files, { name: 'Files' })
    await rehydrate(files)
    const key = await readerKey(files.org)
    const page = await stand.open('/app/data?sources=true', { key })
    await row(page, 'Files').first().waitFor()
    expect(await page.getByRole('button', { name: /^(Pause|Delete)/ }).count()).toBe(0)
    expect(await page.getByRole('link', { name: /^(Edit|New source)/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'All datasets' }).click()
    await page.getByRole('link', { name: 'Rehydration' }).click()
    await page.getByRole('button', { name: /^Files of/ }).waitFor()
    expect(await page.getByRole('link', { name: 'Rehydrate events' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Forwarding' }).count()).toBe(0)
  })

  test.each(['light', 'dark'] as const)('the lists and the forms have no faults, %s', async (theme) => {
    const files = await openFiles({ 'app.log': lines(40), 'broken.gz': Buffer.from('1f8b0800ffff', 'hex') })
    const source = await create(files, { name: 'Files of the shop', description: 'With their rotation' })
    const kafka = { kind: 'KAFKA', brokers: ['127.0.0.1:9'], topic: 'orders', tls: true, username: 'dendro', password: 'word' }
    await create(files, { name: 'Orders', origin: kafka })
    await create(files, {
      name: 'Audit',
      paused: true,
      origin: { kind: 'S3', bucket: 'audit', prefix: 'trail/', access_key_id: 'a', secret_access_key: 'b' },
    })
    await rehydrate(files, { filter: 'n < 20' })
    await rehydrate(files)
    for (const width of [390, 1_440]) {
      const at = { theme, width, key: files.org.key }
      const list = await stand.open('/app/data?sources=true', at)
      await list.getByText(/^40 events read/).waitFor()
      await row(list, 'Orders').locator('.text-error').waitFor()
      await hasNoFaults(list, 'sources', width, theme)
      const edit = await stand.open(`/app/data?sources=true&edit=${source.id}`, at)
      await edit.getByRole('heading', { name: 'Edit Files of the shop' }).waitFor()
      await hasNoFaults(edit, 'source', width, theme)
      await edit.getByRole('combobox', { name: 'Kind' }).selectOption('A topic of Kafka')
      await hasNoFaults(edit, 'topic', width, theme)
      const past = await stand.open('/app/data?rehydrations=true', at)
      await past
        .getByRole('button', { name: /^Files of/ })
        .first()
        .click()
      await past.getByRole('row').filter({ hasText: 'broken.gz' }).locator('.text-error').first().waitFor()
      await hasNoFaults(past, 'rehydrations', width, theme)
      const begin = await stand.open('/app/data?rehydrations=true&edit=new', at)
      await begin.getByRole('checkbox', { name: 'Only a time range' }).check()
      await hasNoFaults(begin, 'rehydration', width, theme)
      const data = await stand.open('/app/data', at)
      await data.getByRole('link', { name: 'web' }).first().waitFor()
      await hasNoFaults(data, 'data', width, theme)
    }
  })
})
