import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import { killServices, startService, stop, untilUp } from '../support/service.ts'
import { browserPath, openBrowser } from './browser.fixture.ts'
import { type Made, makeWatched, placed } from './demo-records.fixture.ts'
import { type Shot, shots, spoil } from './screenshots.fixture.ts'

/** `npm run screens [-- word…]` takes pictures of every page for people to look at, or of those whose names hold every word: `explore full dark 390`. */

/** They may be put elsewhere, into a folder in which nothing is deleted. */
const out = process.env.DENDRO_PICTURES ?? resolve(import.meta.dirname, '../../.screens')
const KEY = `dk_${randomBytes(32).toString('hex')}`
const WIDTHS = [390, 1440, 2560]
const THEMES = ['light', 'dark'] as const
const STATES = ['empty', 'full', 'loading', 'error'] as const
const SETTLED_MS = 1_200
/** A busy machine takes its time; a picture is of what has come, not of how fast. */
const BUSY_MS = 300_000
/** A picture waits more than it works, so that some are taken beside each other. */
const AT_ONCE = 4

async function main(words: readonly string[]): Promise<void> {
  if (browserPath === undefined) throw new Error('no Chromium was found; set DENDRO_CHROMIUM to one')
  const pictures = STATES.flatMap((state) =>
    THEMES.flatMap((theme) => WIDTHS.flatMap((width) => shots.map((shot) => ({ shot, state, theme, width })))),
  ).filter((picture) => words.every((word) => nameOf(picture).split('-').includes(word) || picture.shot.name === word))
  if (process.env.DENDRO_PICTURES === undefined) rmSync(out, { recursive: true, force: true })
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
      const left = pictures.filter((one) => one.state === state)
      const takeOneByOne = async (): Promise<void> => {
        for (let picture = left.shift(); picture; picture = left.shift()) await take(browser, service.url, { ...picture, made })
      }
      await Promise.all(Array.from({ length: AT_ONCE }, takeOneByOne))
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
  page.setDefaultTimeout(BUSY_MS)
  await page.addInitScript((text) => sessionStorage.setItem('dendro.credential', `key ${text}`), KEY)
  await page.goto(`${url}/app/welcome`)
  await page.getByRole('button', { name: 'Send demo data' }).click()
  await page.getByRole('button', { name: 'Demo data sent' }).waitFor()
  await page.getByRole('link', { name: 'Explore events' }).waitFor()
  await page.close()
}

async function take(browser: Browser, url: string, picture: Picture & { made: Made }): Promise<void> {
  const { shot, state, theme, width, made } = picture
  const context = await browser.newContext({ colorScheme: theme, viewport: { width, height: width < 500 ? 844 : 900 } })
  if (!shot.isPublic) await context.addInitScript((text) => sessionStorage.setItem('dendro.credential', `key ${text}`), KEY)
  const page = await context.newPage()
  page.setDefaultTimeout(BUSY_MS)
  if (state === 'loading' || state === 'error') await spoil(page, state)
  await page.goto(url + placed(shot.path, made))
  if (state !== 'loading') await page.waitForLoadState('networkidle').catch(() => undefined)
  await page.waitForTimeout(SETTLED_MS)
  if (state === 'full') await shot.act?.(page).catch((thrown: unknown) => process.stderr.write(`${shot.name}: ${String(thrown)}\n`))
  await page.waitForTimeout(SETTLED_MS / 2)
  await page.screenshot({ path: join(out, `${nameOf(picture)}.png`) })
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.close()
}

await main(process.argv.slice(2))
