import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { killServices, startService, stop, untilUp } from '../service.ts'
import { browserPath, openBrowser } from './browser.ts'
import { type Made, makeWatched, placed, watchedShots } from './watched.ts'

/** `npm run screens [-- word…]` takes pictures of every page for people to look at, or of those whose names hold every word: `explore full dark 390`. */

const out = resolve(import.meta.dirname, '../../.screens')
const KEY = `dk_${randomBytes(32).toString('hex')}`
const WIDTHS = [390, 1280, 1920]
const THEMES = ['light', 'dark'] as const
const STATES = ['empty', 'full', 'loading', 'error'] as const
const SETTLED_MS = 1_200

const asked = (state: Record<string, unknown>): string =>
  `/app/explore?${Object.entries(state)
    .map(([name, value]) => `${name}=${encodeURIComponent(JSON.stringify(value))}`)
    .join('&')}`
const hour = { r: 'Last 1 hour' }

type Shot = { name: string; path: string; isPublic?: true; act?(page: Page): Promise<unknown> }

const settingsParts = ['you', 'users', 'groups', 'keys', 'roles', 'rules', 'integrations', 'limits', 'encryption', 'organisation', 'audit']

/** lookAt goes from the list to a side of the dataset web. */
async function lookAt(page: Page, part: string): Promise<void> {
  await page.getByRole('link', { name: 'web', exact: true }).click()
  await page.getByRole('navigation', { name: 'Sides of the dataset' }).waitFor()
  const id = new URL(page.url()).searchParams.get('id') ?? ''
  await page.goto(`${new URL(page.url()).origin}/app/data?id=${id}&part=${part}`)
  await page.waitForLoadState('networkidle')
}

const shots: readonly Shot[] = [
  { name: 'sign-in', path: '/app/sign-in', isPublic: true },
  { name: 'welcome', path: '/app/welcome' },
  { name: 'explore', path: asked(hour) },
  {
    name: 'explore-open',
    path: asked({ ...hour, q: "level = 'error' AND order" }),
    act: (page) => page.locator('[data-index="2"]').getByRole('button').first().click(),
  },
  { name: 'explore-columns', path: asked({ ...hour, cols: ['user', 'path', 'status', 'duration_ms'] }) },
  { name: 'explore-patterns', path: asked({ ...hour, tab: 'patterns' }) },
  { name: 'explore-table', path: asked({ ...hour, tab: 'table', by: ['path', 'status'] }) },
  { name: 'explore-chart', path: asked({ ...hour, tab: 'chart', by: ['path'], fn: 'p95(duration_ms)' }) },
  { name: 'explore-fields', path: asked({ ...hour, tab: 'fields' }) },
  { name: 'explore-palette', path: asked(hour), act: (page) => page.keyboard.press('Control+k') },
  { name: 'data', path: '/app/data' },
  { name: 'data-new', path: '/app/data', act: (page) => page.getByRole('button', { name: 'New dataset' }).click() },
  { name: 'data-collection', path: '/app/data', act: (page) => page.getByRole('button', { name: 'Change the collection shop' }).click() },
  { name: 'data-keep', path: '/app/data?keep=true' },
  ...['overview', 'keys', 'parser', 'care', 'sending'].map((part) => ({
    name: `dataset-${part}`,
    path: '/app/data',
    act: (page: Page) => lookAt(page, part),
  })),
  ...settingsParts.map((part) => ({ name: `settings-${part}`, path: `/app/settings?part=${part}` })),
  {
    name: 'settings-role-new',
    path: '/app/settings?part=roles',
    act: (page) => page.getByRole('button', { name: 'New role' }).click(),
  },
  { name: 'api-operation', path: '/app/api?op=datasets.update' },
  ...watchedShots,
  ...['api', 'monitors', 'dashboards', 'exports', 'usage'].map((name) => ({ name, path: `/app/${name}` })),
]

async function main(words: readonly string[]): Promise<void> {
  if (browserPath === undefined) throw new Error('no Chromium was found; set DENDRO_CHROMIUM to one')
  const pictures = STATES.flatMap((state) =>
    THEMES.flatMap((theme) => WIDTHS.flatMap((width) => shots.map((shot) => ({ shot, state, theme, width })))),
  ).filter((picture) => words.every((word) => nameOf(picture).split('-').includes(word) || picture.shot.name === word))
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const dir = mkdtempSync(join(tmpdir(), 'dendro-screens-'))
  const service = await untilUp(startService(dir, { DENDRO_BOOTSTRAP_API_KEY: KEY, DENDRO_RATE_LIMIT: 'off' }))
  const browser = await openBrowser()
  try {
    let made: Made = {}
    for (const state of STATES) {
      if (state === 'full') {
        await fill(browser, service.url)
        made = await makeWatched(service.url, KEY)
      }
      for (const picture of pictures.filter((one) => one.state === state)) await take(browser, service.url, { ...picture, made })
    }
  } finally {
    await browser.close()
    await stop(service.child, 'SIGTERM')
    await killServices()
    rmSync(dir, { recursive: true, force: true })
  }
  process.stdout.write(`${pictures.length} pictures are in ${out}\n`)
}

type Picture = { shot: Shot; state: (typeof STATES)[number]; theme: (typeof THEMES)[number]; width: number }

const nameOf = ({ shot, state, theme, width }: Picture): string => `${shot.name}-${state}-${theme}-${width}`

/** fill lets the app send its own demo data. */
async function fill(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage()
  await page.addInitScript((text) => sessionStorage.setItem('dendro.credential', `key ${text}`), KEY)
  await page.goto(`${url}/app/welcome`)
  await page.getByRole('button', { name: 'Send demo data' }).click()
  await page.getByRole('button', { name: 'Demo data is there' }).waitFor()
  await page.getByRole('link', { name: 'Explore them' }).waitFor()
  await page.close()
}

async function take(browser: Browser, url: string, picture: Picture & { made: Made }): Promise<void> {
  const { shot, state, theme, width, made } = picture
  const context = await browser.newContext({ colorScheme: theme, viewport: { width, height: width < 500 ? 844 : 900 } })
  if (!shot.isPublic) await context.addInitScript((text) => sessionStorage.setItem('dendro.credential', `key ${text}`), KEY)
  const page = await context.newPage()
  // Only what the page asks of the service is held back or fails; the page itself comes as always.
  const isAsked = (place: URL) => place.origin === url && !place.pathname.startsWith('/app') && !place.pathname.startsWith('/docs')
  if (state === 'loading') await page.route(isAsked, () => undefined)
  if (state === 'error') await page.route(isAsked, (route) => route.fulfill({ status: 500, json: FAILED }))
  await page.goto(url + placed(shot.path, made))
  if (state !== 'loading') await page.waitForLoadState('networkidle').catch(() => undefined)
  await page.waitForTimeout(SETTLED_MS)
  if (state === 'full') await shot.act?.(page).catch((thrown: unknown) => process.stderr.write(`${shot.name}: ${String(thrown)}\n`))
  await page.waitForTimeout(SETTLED_MS / 2)
  await page.screenshot({ path: join(out, `${nameOf(picture)}.png`) })
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.close()
}

const FAILED = { details: 'the event store did not answer within 10 s', correlation_id: '7d0c1b1e-0000-4000-8000-000000000001' }

await main(process.argv.slice(2))
