import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { takePicture } from './pictures.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** Users, keys, notebooks and downtimes of which there are more than a page has. */

let stand: Stand

const RECORDS = 130
const PAGE = 100
const AT_ONCE = 10
const HOUR_MS = 3_600_000
const NOWHERE = '00000000-0000-4000-8000-000000000000'
const numbers = Array.from({ length: RECORDS }, (_, n) => n)
const nameOf = (n: number): string => `one ${String(n).padStart(3, '0')}`
const mailOf = (n: number): string => `${nameOf(n).replace(' ', '-')}@example.org`

async function createAll(path: string, bodyOf: (n: number) => object): Promise<readonly string[]> {
  const ids: string[] = []
  for (let first = 0; first < RECORDS; first += AT_ONCE) {
    const sent = numbers.slice(first, first + AT_ONCE).map((n) => stand.org.ask<{ id: string }>('POST', path, { body: bodyOf(n) }))
    const made = await Promise.all(sent)
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
    ids.push(...made.map(({ body }) => body.id))
  }
  return ids
}

const listPaths = ['/users', '/api-keys', '/notebooks', '/monitors/downtimes', '/integrations/webhooks', '/metrics/definitions/templates']

/** The requests of a page for whole lists. */
function wholeLists(page: Page): readonly string[] {
  const found: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (request.method() === 'GET' && listPaths.includes(pathname) && !searchParams.has('limit')) found.push(request.url())
  })
  return found
}

async function openWatched(path: string): Promise<{ page: Page; whole: readonly string[] }> {
  const page = await stand.open('/app/settings?part=you')
  const whole = wholeLists(page)
  await page.goto(`${stand.app.url}/app/${path}`)
  return { page, whole }
}

describe.skipIf(browserPath === undefined)('lists of access and watching that are longer than a page', () => {
  let group: string
  beforeAll(async () => {
    stand = await openStand()
    const users = await createAll('/users', (n) => ({ first_name: 'One', last_name: nameOf(n), email: mailOf(n), roles: ['ReadOnly'] }))
    await createAll('/api-keys', (n) => ({ name: nameOf(n), roles: ['IngestionApi'] }))
    group = (await stand.org.ask<{ id: string }>('POST', '/groups', { body: { name: 'Watch', description: '' } })).body.id
    const members = [{ member_id: users[125], member_type: 'USER' }]
    expect((await stand.org.ask('POST', `/groups/${group}/members`, { body: { members } })).status).toBeLessThan(300)
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('notebooks are read page by page and found by the service, also when a step is added', async () => {
    await createAll('/notebooks', (n) => ({ name: nameOf(n) }))
    const { page, whole } = await openWatched('notebooks')
    const cards = page.getByRole('list', { name: 'Notebooks' }).getByRole('listitem')
    await expect.poll(() => cards.count()).toBe(PAGE)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => cards.count()).toBe(RECORDS)
    await page.reload()
    await page.getByLabel('Find a notebook').fill('ONE 00')
    // 000 to 009, and 100.
    await expect.poll(() => cards.count()).toBe(11)
    await takePicture(page, 'notebooks-search')
    expect(await axeFaults(page, 'notebooks')).toEqual([])
    expect(whole).toEqual([])
  })

  test('downtimes are read page by page, those in progress first', async () => {
    const nowMs = Date.now()
    await createAll('/monitors/downtimes', (n) => ({
      name: nameOf(n),
      description: 'A test',
      from: [NOWHERE],
      static_time_range: n === 3 ? { from: nowMs - HOUR_MS, to: nowMs + HOUR_MS } : { from: nowMs - 2 * HOUR_MS, to: nowMs - HOUR_MS },
    }))
    const { page, whole } = await openWatched('downtimes')
    const rows = page.getByRole('list', { name: 'Downtimes' }).getByRole('listitem')
    await expect.poll(() => rows.count()).toBe(PAGE)
    await rows
      .first()
      .getByRole('link', { name: nameOf(3), exact: true })
      .waitFor()
    await takePicture(page, 'downtimes-pages')
    expect(await axeFaults(page, 'downtimes')).toEqual([])
    await page.getByLabel('Find a downtime').fill('one 129')
    await expect.poll(() => rows.count()).toBe(1)
    await rows.getByRole('link', { name: nameOf(129), exact: true }).click()
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe(nameOf(129))
    await page.reload()
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe(nameOf(129))
    expect(whole).toEqual([])
  })

  test('API keys are read page by page and found by the service', async () => {
    const { page, whole } = await openWatched('settings?part=keys')
    const rows = page.getByRole('table', { name: 'API keys' }).getByRole('row')
    await expect.poll(() => rows.count()).toBe(PAGE + 1)
    await page.getByLabel('Find a key').fill('one 00')
    // 000 to 009, 100, and the heading.
    await expect.poll(() => rows.count()).toBe(12)
    await takePicture(page, 'keys-search')
    expect(await axeFaults(page, 'keys')).toEqual([])
    await page.getByLabel('Find a key').fill('no such key')
    await page.getByText('No key matches.').waitFor()
    expect(whole).toEqual([])
  })

  test.each([
    ['keys', 'API keys', 'Find a key', '/api-keys'],
    ['users', 'Users', 'Find a user', '/users'],
  ])('the list of %s waits for a pause in typing before the service searches, newest first', async (part, table, label, path) => {
    const { page } = await openWatched(`settings?part=${part}`)
    const names = page
      .getByRole('table', { name: table })
      .getByRole('row')
      .getByText(/one 1\d\d/)
    await expect.poll(() => names.count()).toBe(30)
    const before = await names.allTextContents()
    const searched: (string | null)[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === path && searchParams.has('limit') && searchParams.has('search')) searched.push(searchParams.get('search'))
    })
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + HOUR_MS)
    await page.getByLabel(label).pressSequentially('one 1')
    expect(searched).toEqual([])
    await page.clock.resume()
    await expect.poll(() => searched).toEqual(['one 1'])
    // All that match are among the newest and stand in the order that they had.
    await expect.poll(() => names.allTextContents()).toEqual(before)
  })

  test('webhooks are read page by page and found by the service', async () => {
    await createAll('/integrations/webhooks', (n) => ({ name: nameOf(n), url: 'https://hooks.example.org/in' }))
    const { page, whole } = await openWatched('settings?part=integrations')
    const rows = page.getByRole('table', { name: 'Webhooks' }).getByRole('row')
    await expect.poll(() => rows.count()).toBe(PAGE + 1)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(RECORDS + 1)
    await page.getByLabel('Find a webhook').fill('one 00')
    // 000 to 009, 100, and the heading.
    await expect.poll(() => rows.count()).toBe(12)
    await takePicture(page, 'webhooks-search')
    expect(await axeFaults(page, 'webhooks')).toEqual([])
    await page.getByLabel('Find a webhook').fill('no such hook')
    await page.getByText('No webhook matches.').waitFor()
    expect(whole).toEqual([])
  })

  test('templates are read page by page and found by the service', async () => {
    const queries = [{ name: 'errors', select: ['count(*)'], from_expr: '*', where: '' }]
    await createAll('/metrics/definitions/templates', (n) => ({ name: nameOf(n), description: '', queries, parameters: {} }))
    const { page, whole } = await openWatched('monitors?view=templates')
    const rows = page.getByRole('list', { name: 'Metrics' }).getByRole('listitem')
    await expect.poll(() => rows.count()).toBe(PAGE)
    await page.getByLabel('Find a metric template').fill('one 003')
    await expect.poll(() => rows.count()).toBe(1)
    await takePicture(page, 'templates-search')
    expect(await axeFaults(page, 'templates')).toEqual([])
    expect(whole).toEqual([])
  })

  test('rules of access and groups find users by a search, and name those that are not on the first page', async () => {
    const { page, whole } = await openWatched('settings?part=rules')
    await page.getByRole('button', { name: 'Principal: Select…' }).click()
    const select = page.getByRole('dialog', { name: 'Select a principal' })
    await select.getByLabel('Find a principal').fill('one 117')
    await select.getByRole('button', { name: `key ${nameOf(117)}` }).waitFor()
    await takePicture(page, 'access-principal')
    await select.getByRole('button', { name: mailOf(117) }).click()
    await page.getByRole('button', { name: `Principal: ${mailOf(117)}` }).waitFor()
    await page.goto(`${stand.app.url}/app/settings?part=groups`)
    await page.getByRole('button', { name: 'Members', exact: true }).click()
    await page.getByRole('region', { name: 'Members of Watch' }).getByText(mailOf(125)).waitFor()
    expect(whole).toEqual([])
  })
})
