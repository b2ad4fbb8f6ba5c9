import type { Page } from 'playwright-core'
import { watchedShots } from './demo-records.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'

const hour = { r: 'Last 1 hour' }

/** A Shot is a page as pictures are taken of it: its address, and what is done before. */
export type Shot = { name: string; path: string; isPublic?: true; act?(page: Page): Promise<unknown> }

const settingsParts = ['you', 'users', 'groups', 'keys', 'roles', 'rules', 'integrations', 'limits', 'encryption', 'organisation', 'audit']

/** openDataset goes from the list to a side of the dataset web. */
async function openDataset(page: Page, part: string): Promise<void> {
  await page.getByRole('link', { name: 'web', exact: true }).click()
  await page.getByRole('navigation', { name: 'Dataset' }).waitFor()
  const id = new URL(page.url()).searchParams.get('id') ?? ''
  await page.goto(`${new URL(page.url()).origin}/app/data?id=${id}&part=${part}`)
  await page.waitForLoadState('networkidle')
}

/** The part of the last hour in which the bank of the demo data declines cards. */
const INCIDENT = { from: 39 / 60, to: 46 / 60 }

/** brushIncident drags over the hump in the histogram. */
async function brushIncident(page: Page): Promise<void> {
  const box = await page.getByRole('img', { name: /events in steps of/ }).boundingBox()
  if (!box) throw new Error('there is no histogram')
  await page.mouse.move(box.x + box.width * INCIDENT.from, box.y + 40)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * INCIDENT.to, box.y + 40, { steps: 3 })
  await page.mouse.up()
  await page.getByRole('toolbar', { name: 'Selection' }).waitFor()
}

async function openChanges(page: Page): Promise<void> {
  await brushIncident(page)
  await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'What changed?' }).click()
  await page.getByText('Counts are exact.').waitFor()
}

/** shots are the pages of the app, each with what can be opened on it. */
export const shots: readonly Shot[] = [
  { name: 'sign-in', path: '/app/sign-in', isPublic: true },
  { name: 'welcome', path: '/app/welcome' },
  { name: 'explore', path: exploreUrl(hour) },
  {
    name: 'explore-open',
    path: exploreUrl({ ...hour, q: "level = 'error' AND order" }),
    act: (page) => page.locator('[data-index="2"]').getByRole('button').first().click(),
  },
  { name: 'explore-columns', path: exploreUrl({ ...hour, cols: ['user', 'path', 'status', 'duration_ms'] }) },
  { name: 'explore-patterns', path: exploreUrl({ ...hour, tab: 'patterns' }) },
  { name: 'explore-table', path: exploreUrl({ ...hour, tab: 'table', by: ['path', 'status'] }) },
  { name: 'explore-chart', path: exploreUrl({ ...hour, tab: 'chart', by: ['path'], fn: 'p95(duration_ms)' }) },
  { name: 'explore-fields', path: exploreUrl({ ...hour, tab: 'fields' }) },
  { name: 'explore-sides', path: exploreUrl({ ...hour, tab: 'sides' }) },
  { name: 'explore-brushed', path: exploreUrl(hour), act: brushIncident },
  { name: 'explore-changes', path: exploreUrl(hour), act: openChanges },
  { name: 'explore-palette', path: exploreUrl(hour), act: (page) => page.keyboard.press('Control+k') },
  { name: 'data', path: '/app/data' },
  { name: 'data-new', path: '/app/data', act: (page) => page.getByRole('button', { name: 'New dataset' }).click() },
  { name: 'data-collection', path: '/app/data', act: (page) => page.getByRole('button', { name: 'Edit the collection shop' }).click() },
  { name: 'data-keep', path: '/app/data?keep=true' },
  { name: 'ingest-rules', path: '/app/data?rules=true' },
  { name: 'ingest-rule', path: '/app/data?rules=true&rule=new' },
  ...['overview', 'keys', 'parser', 'care', 'sending'].map((part) => ({
    name: `dataset-${part}`,
    path: '/app/data',
    act: (page: Page) => openDataset(page, part),
  })),
  ...settingsParts.map((part) => ({ name: `settings-${part}`, path: `/app/settings?part=${part}` })),
  {
    name: 'settings-role-new',
    path: '/app/settings?part=roles',
    act: (page) => page.getByRole('button', { name: 'New role' }).click(),
  },
  { name: 'api-operation', path: '/docs#datasets.update' },
  { name: 'api', path: '/docs' },
  ...watchedShots,
  {
    name: 'monitor-by-selector',
    path: '/app/monitors?edit=new',
    act: async (page) => {
      await page.getByRole('button', { name: 'All datasets' }).click()
      await page.getByRole('button', { name: 'By a selector' }).click()
      await page.keyboard.type("collection == 'shop' AND dataset = ")
    },
  },
  { name: 'traces', path: '/app/traces' },
  { name: 'traces-conditions', path: "/app/traces?q=level%20=%20'error'&status=error&min=250ms&any=true&order=slowest" },
  { name: 'operations', path: '/app/traces?ops=true' },
  { name: 'services-map', path: '/app/traces?map=true' },
  { name: 'one-trace', path: '/app/traces?id={trace}' },
  ...['monitors', 'dashboards', 'exports', 'usage', 'spend'].map((name) => ({ name, path: `/app/${name}` })),
]

const FAILED = { details: 'the event store did not answer within 10 s', correlation_id: '7d0c1b1e-0000-4000-8000-000000000001' }

/**
 * spoil holds back what the page asks of the service, or lets it fail, from the next page on; the page itself comes as always. It does so within
 * the page: with a route the browser would keep no files and compile the whole app for every page.
 */
export async function spoil(page: Page, how: 'loading' | 'error'): Promise<void> {
  await page.addInitScript(spoilFetch, how === 'error' ? FAILED : null)
}

const spoilFetch = (failure: typeof FAILED | null): void => {
  const fetchFile = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input, 'http://service')
    if (pathname.startsWith('/app') || pathname.startsWith('/docs')) return fetchFile(input, init)
    if (failure) return Response.json(failure, { status: 500 })
    return new Promise((_, fail) => init?.signal?.addEventListener('abort', () => fail(init.signal?.reason)))
  }
}
