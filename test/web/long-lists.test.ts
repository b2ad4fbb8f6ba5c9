import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createEvaluationRound } from '../../server/src/resources/watching/evaluations/evaluations.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { takePicture } from './pictures.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/** Lists with more records than a page has, which the web app never reads whole. */

let stand: Stand

const RECORDS = 230
const PAGE = 100
const AT_ONCE = 10
const numbers = Array.from({ length: RECORDS }, (_, n) => n)
const nameOf = (n: number): string => `watch ${String(n).padStart(3, '0')}`
const rule = { comparison_operator: 'ABOVE', threshold: 5, window: 'Last 15 minutes', actions: [{ email: 'oncall@example.org' }] }

async function createAll(path: string, bodyOf: (n: number) => object): Promise<void> {
  for (let first = 0; first < RECORDS; first += AT_ONCE) {
    const made = numbers.slice(first, first + AT_ONCE).map((n) => stand.org.ask('POST', path, { body: bodyOf(n) }))
    expect((await Promise.all(made)).map(({ status }) => status)).toEqual(made.map(() => 201))
  }
}

/** The requests of a page for whole lists. */
function wholeLists(page: Page): readonly string[] {
  const found: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (['/datasets', '/monitors', '/dashboards', '/users', '/collections'].includes(pathname) && !searchParams.has('limit'))
      found.push(request.url())
  })
  return found
}

async function showMore(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: /^Show \d+ more of/ })
  await button.focus()
  await page.keyboard.press('Enter')
}

describe.skipIf(browserPath === undefined)('lists that are longer than a page', () => {
  beforeAll(async () => {
    stand = await openStand()
    await createAll('/datasets', (n) => ({ collection: n < 200 ? 'ships' : 'trains', dataset: nameOf(n), tags: { team: `team ${n % 3}` } }))
    const queries = [{ name: 'a', select: ['count(*)'], from_expr: 'collection = "ships"', where: "level = 'error'" }]
    await createAll('/monitors', (n) => ({
      ...rule,
      name: nameOf(n),
      queries,
      tags: { team: `team ${n % 3}` },
      ...(n === 5 ? { mute_until: -1 } : {}),
    }))
    const timestamp = new Date(stand.app.clock.nowMs()).toISOString()
    const headers = { 'x-service-collection': 'trains', 'x-service-dataset': nameOf(229), 'content-type': 'application/x-ndjson' }
    const raw = JSON.stringify({ timestamp, level: 'info', message: 'left the station' })
    expect((await stand.org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
    await createEvaluationRound(stand.app.app.world)(new AbortController().signal)
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('monitors are read page by page, and are searched, filtered, grouped and counted by the service', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/monitors`)
    const rows = page.getByRole('list', { name: 'Monitors' }).getByRole('listitem')
    await expect.poll(() => rows.count()).toBe(PAGE)
    await page.getByRole('button', { name: 'Muted 1' }).waitFor()
    await takePicture(page, 'monitors-pages')
    await page.getByLabel('Select all').check()
    await page.getByText(`${RECORDS} selected`).waitFor()
    await rows.first().getByRole('checkbox').uncheck()
    await page.getByText(`${RECORDS - 1} selected`).waitFor()
    await page.getByRole('button', { name: `Muted ${RECORDS - 1} monitors` }).waitFor()
    await showMore(page)
    await expect.poll(() => rows.count()).toBe(2 * PAGE)
    await page.getByRole('button', { name: 'Show 30 more of 30' }).waitFor()
    await showMore(page)
    await expect.poll(() => rows.count()).toBe(RECORDS)
    await page.getByRole('button', { name: /^Show \d+ more of/ }).waitFor({ state: 'detached' })
    await rows
      .last()
      .getByRole('link', { name: nameOf(5) })
      .waitFor()
    await page.getByLabel('Find a monitor').fill('WATCH 22')
    // 22, 122 and 220 to 229.
    await expect.poll(() => rows.count()).toBe(12)
    await page.getByText('Select all', { exact: true }).waitFor()
    await page.getByLabel('Find a monitor').fill('')
    await page.getByLabel('Group by').selectOption('tags')
    const group = page.getByRole('region', { name: 'team: team 0' })
    await group.getByRole('heading', { name: 'team: team 0 77' }).waitFor()
    await takePicture(page, 'monitors-groups')
    await page.reload()
    await page.getByRole('heading', { name: 'team: team 1 77' }).waitFor()
    expect(await page.getByRole('heading', { name: /^team: team 2/ }).count()).toBe(0)
    await showMore(page)
    await page.getByRole('heading', { name: 'team: team 2 76' }).waitFor()
    await page.getByRole('button', { name: 'Muted 1' }).click()
    await page.getByRole('link', { name: nameOf(5) }).waitFor()
    await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'watch' }).count()).toBe(1)
    await page.getByLabel('Find a monitor').fill('no such monitor')
    await page.getByRole('button', { name: `Show all ${RECORDS}` }).click()
    await expect.poll(() => rows.count()).toBe(PAGE)
    expect(await axeFaults(page, 'monitors')).toEqual([])
    expect(whole).toEqual([])
  })

  test('datasets are read page by page, and are searched, filtered, sorted and counted by the service', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/data`)
    const rows = page.getByRole('region', { name: 'Datasets table' }).getByRole('link', { name: /^(ships \/ |trains \/ )?watch/ })
    await expect.poll(() => rows.count()).toBe(PAGE - 1)
    // The dataset `default` is the first one.
    await page.getByText(`${RECORDS + 1} datasets`).waitFor()
    await page.getByRole('button', { name: `Waiting ${RECORDS}` }).waitFor()
    await takePicture(page, 'data-pages')
    await showMore(page)
    await expect.poll(() => rows.count()).toBe(2 * PAGE - 1)
    await page.getByRole('rowheader', { name: 'ships' }).waitFor()
    expect(await page.getByRole('rowheader', { name: 'trains' }).count()).toBe(0)
    await showMore(page)
    await expect.poll(() => rows.count()).toBe(RECORDS)
    await page.getByRole('rowheader', { name: 'trains' }).waitFor()
    await page.getByRole('button', { name: 'Edit the collection ships' }).click()
    await page.getByText('Its 200 datasets are renamed too.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: '7 days' }).click()
    await expect.poll(() => rows.first().textContent()).toBe(`trains / ${nameOf(229)}`)
    await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(PAGE - 1)
    await page.getByRole('button', { name: 'Receiving 1' }).click()
    await expect.poll(() => rows.allTextContents()).toEqual([`trains / ${nameOf(229)}`])
    await page.reload()
    await expect.poll(() => rows.allTextContents()).toEqual([`trains / ${nameOf(229)}`])
    await page.getByRole('button', { name: 'Receiving 1' }).click()
    await page.getByLabel('Find a dataset').fill('trains watch')
    await page.getByText('30 datasets').waitFor()
    await expect.poll(() => rows.count()).toBe(30)
    expect(await axeFaults(page, 'data')).toEqual([])
    expect(whole.filter((url) => !url.includes('collection=ships'))).toEqual([])
  })

  test('Explore names the datasets of its rows, and finds datasets by a search, without reading all', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/explore`)
    const row = page.getByRole('region', { name: 'Events' }).getByTitle(nameOf(229))
    await row.waitFor()
    await page.getByTitle('Datasets to search').click()
    const picker = page.getByRole('dialog', { name: 'Datasets' })
    const choices = picker.getByRole('listitem').getByRole('checkbox')
    await expect.poll(() => choices.count()).toBe(PAGE)
    await picker.getByRole('button', { name: /^Show 100 more of 1\d\d$/ }).waitFor()
    await takePicture(page, 'explore-picker')
    await picker.getByLabel('Find a dataset').fill('TRAINS 22')
    // 220 to 229.
    await expect.poll(() => choices.count()).toBe(10)
    await choices.and(picker.getByLabel(`trains / ${nameOf(229)}`)).focus()
    await page.keyboard.press('Space')
    const button = page.getByTitle('Datasets to search')
    await expect.poll(() => button.textContent()).toBe(`trains / ${nameOf(229)} `)
    await picker.getByLabel('Find a dataset').fill('ships watch 00')
    // 000 to 009, 100, and the selected one.
    await expect.poll(() => choices.count()).toBe(12)
    await expect.poll(() => choices.first().isChecked()).toBe(true)
    await takePicture(page, 'explore-picker-search')
    expect(await axeFaults(page, 'the picker of Explore')).toEqual([])
    await choices.nth(1).check()
    await expect.poll(() => button.textContent()).toBe('2 datasets ')
    await picker.getByLabel('Find a dataset').fill('no such dataset')
    await picker.getByText('No dataset matches.').waitFor()
    await expect.poll(() => picker.getByRole('checkbox', { checked: true }).count()).toBe(2)
    await picker.getByLabel(`ships / ${nameOf(0)}`).uncheck()
    await page.reload()
    await expect.poll(() => button.textContent()).toBe(`trains / ${nameOf(229)} `)
    await page.getByText('left the station').first().waitFor()
    expect(whole).toEqual([])
  })

  test('the palette of commands finds datasets that are not on the first page', async () => {
    const page = await stand.open('/app/explore')
    await page.getByRole('region', { name: 'Events' }).getByTitle(nameOf(229)).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Type a command').fill('trains 217')
    await page.getByRole('option', { name: `trains / ${nameOf(217)}` }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByTitle('Datasets to search').textContent()).toBe(`trains / ${nameOf(217)} `)
  })

  test('dashboards are read page by page, and are searched by the service', async () => {
    await createAll('/dashboards', (n) => ({ name: nameOf(n) }))
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/dashboards`)
    const cards = page.getByRole('list', { name: 'Dashboards', exact: true }).getByRole('listitem')
    await expect.poll(() => cards.count()).toBe(PAGE)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => cards.count()).toBe(2 * PAGE)
    await page.getByLabel('Find a dashboard').fill('WATCH 22')
    // 22, 122 and 220 to 229.
    await expect.poll(() => cards.count()).toBe(12)
    await takePicture(page, 'dashboards-search')
    expect(await axeFaults(page, 'dashboards')).toEqual([])
    await page.goto(`${stand.app.url}/app/explore?tab=table&by=["level"]`)
    await page.getByRole('button', { name: 'Add to dashboard' }).click()
    await page.getByLabel('Find a dashboard').fill('watch 213')
    const choices = page.getByRole('list', { name: 'Dashboards', exact: true }).getByRole('button')
    await expect.poll(() => choices.allTextContents()).toEqual([nameOf(213)])
    await takePicture(page, 'add-to-dashboard-search')
    await choices.click()
    await page.getByRole('link', { name: `Open ${nameOf(213)}` }).waitFor()
    expect(whole).toEqual([])
  })

  test('a monitor and a source choose datasets by a search', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/monitors?edit=new`)
    await page.getByTitle('Datasets to search').click()
    const picker = page.getByRole('dialog', { name: 'Datasets' })
    await picker.getByLabel('Find a dataset').fill('watch 215')
    await picker.getByLabel(`trains / ${nameOf(215)}`).check()
    await picker.getByRole('button', { name: 'By a selector' }).click()
    await page.keyboard.type("dataset = 'watch 21")
    await page.getByRole('option', { name: new RegExp(nameOf(217)) }).waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${stand.app.url}/app/data?sources=true&edit=new`)
    await page.getByRole('button', { name: 'Dataset: Select a dataset' }).click()
    const select = page.getByRole('dialog', { name: 'Select a dataset' })
    await select.getByLabel('Find a dataset').fill('watch 223')
    await select.getByRole('button', { name: `trains / ${nameOf(223)}` }).waitFor()
    await takePicture(page, 'source-dataset')
    expect(await axeFaults(page, 'the dataset of a source')).toEqual([])
    await select.getByRole('button', { name: `trains / ${nameOf(223)}` }).click()
    await page.getByRole('button', { name: `Dataset: trains / ${nameOf(223)}` }).waitFor()
    expect(whole).toEqual([])
  })

  test('a downtime finds its monitors and datasets by a search, and names them without reading all', async () => {
    const page = await stand.open('/app/settings?part=you')
    const whole = wholeLists(page)
    await page.goto(`${stand.app.url}/app/downtimes?edit=new`)
    const monitors = page.getByRole('group', { name: 'Monitors', exact: true }).getByRole('checkbox')
    await expect.poll(() => monitors.count()).toBe(PAGE)
    await page.getByLabel('Name').fill('Release')
    await page.getByLabel('Reason').fill('The ships are painted')
    await page.getByLabel('Find a monitor or dataset').fill('watch 150')
    await monitors.and(page.getByLabel(nameOf(150), { exact: true })).check()
    await page.getByRole('checkbox', { name: `ships / ${nameOf(150)}` }).check()
    await page.getByLabel('Find a monitor or dataset').fill('watch 223')
    await monitors.and(page.getByLabel(nameOf(223), { exact: true })).waitFor()
    const selected = page.getByRole('group', { name: 'Selected' }).getByRole('checkbox', { checked: true })
    await expect.poll(() => selected.count()).toBe(2)
    await takePicture(page, 'downtime-search')
    expect(await axeFaults(page, 'downtime')).toEqual([])
    await page.getByRole('button', { name: 'Create downtime' }).click()
    await page
      .getByRole('list', { name: 'Downtimes' })
      .getByText(`${nameOf(150)}, ships / ${nameOf(150)}`)
      .waitFor()
    expect(whole).toEqual([])
  })
})
