import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { shopLines } from '@dendro/api/demo'
import type { Browser, Locator, Page } from 'playwright-core'
import { killServices, startService, stop, untilUp } from '../support/service.ts'
import { browserPath, openBrowser } from './browser.fixture.ts'
import { makeWatched, placed } from './demo-records.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'

/**
 * `npm run pictures` makes the pictures of README.md from the app with the demo data: in both themes, and an animation of half a minute. It needs
 * `cwebp` and `img2webp` of the Debian package `webp`.
 */

const out = resolve(import.meta.dirname, '../../docs/pictures')
const KEY = `dk_${randomBytes(32).toString('hex')}`
const THEMES = ['light', 'dark'] as const
const QUALITY = '82'
const ANIMATION = { width: 1120, height: 700, quality: '60', bytesMax: 3_000_000 }
const SETTLED_MS = 1_500
/** Frames while the pointer moves, and how long each is shown. */
const MOVES = 5
const MOVE_MS = 70

const hour = { r: 'Last 1 hour' }
const MINUTE_MS = 60_000
/** The minutes of the hour in which the bank of the demo data declines cards, with a little around them. */
const INCIDENT = { from: 38.6, to: 45.4 }
let filledMs = 0

/** incidentShares are where the incident lies in the last hour, from 0 to 1: it moves away while the script runs. */
function incidentShares(): [number, number] {
  const passed = (Date.now() - filledMs) / MINUTE_MS
  return [(INCIDENT.from - passed) / 60, (INCIDENT.to - passed) / 60]
}

/** openChanges brushes the incident and opens what changed, with the pointer out of the way. */
async function openChanges(page: Page): Promise<void> {
  const box = await page.getByRole('img', { name: /events in steps of/ }).boundingBox()
  if (!box) throw new Error('there is no histogram')
  const [from, to] = incidentShares()
  await page.mouse.move(box.x + box.width * from, box.y + 40)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * to, box.y + 40, { steps: 3 })
  await page.mouse.up()
  await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'What changed?' }).click()
  await page.getByText('Counts are exact.').waitFor()
  await page.mouse.move(0, 0)
}

const pictures = [
  {
    name: 'explore',
    path: exploreUrl({ ...hour, q: "level = 'error' AND order" }),
    act: (page: Page) => page.locator('[data-index="2"]').getByRole('button').first().click(),
  },
  { name: 'changes', path: exploreUrl(hour), act: openChanges },
  { name: 'dashboard', path: '/app/dashboards?id={dashboard}' },
]

async function main(): Promise<void> {
  if (browserPath === undefined) throw new Error('no Chromium was found; set DENDRO_CHROMIUM to one')
  const work = mkdtempSync(join(tmpdir(), 'dendro-pictures-'))
  const service = await untilUp(startService(join(work, 'data'), { DENDRO_BOOTSTRAP_API_KEY: KEY, DENDRO_RATE_LIMIT: 'off' }))
  const browser = await openBrowser()
  try {
    mkdirSync(out, { recursive: true })
    await fill(service.url)
    await animate(browser, service.url, work)
    const made = await makeWatched(service.url, KEY)
    for (const theme of THEMES)
      for (const { name, path, act } of pictures) {
        const page = await open(browser, service.url + placed(path, made), { theme, width: 1440, height: 900, scale: 2 })
        await act?.(page)
        await page.waitForTimeout(SETTLED_MS)
        const png = join(work, `${name}.png`)
        await page.screenshot({ path: png })
        execFileSync('cwebp', ['-quiet', '-q', QUALITY, png, '-o', join(out, `${name}-${theme}.webp`)])
        await page.context().close()
      }
  } finally {
    await browser.close()
    await stop(service.child, 'SIGTERM')
    await killServices()
    rmSync(work, { recursive: true, force: true })
  }
  process.stdout.write(`the pictures are in ${out}\n`)
}

/** fill sends the hour of the demo shop and adds the chat of its team. */
async function fill(url: string): Promise<void> {
  const post = async (path: string, body: string, headers: Record<string, string>) => {
    const answer = await fetch(url + path, { method: 'POST', headers: { 'x-service-api-key': KEY, ...headers }, body })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json() as Promise<{ id: string }>
  }
  filledMs = Date.now()
  for (const { collection, dataset, lines } of shopLines(filledMs)) {
    const place = { 'x-service-collection': collection, 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
    await post('/ingest', lines.join('\n'), place)
  }
  const json = { 'content-type': 'application/json' }
  const workspace = { name: 'Shop', webhook_url: 'https://chat.example.org/hooks/7c1f' }
  const { id } = await post('/integrations/slack/workspaces', JSON.stringify(workspace), json)
  await post('/integrations/slack', JSON.stringify({ name: 'Shop on call', channels: ['#shop-oncall'], workspace_id: id }), json)
}

type Window = { theme: (typeof THEMES)[number]; width: number; height: number; scale: number }

async function open(browser: Browser, address: string, { theme, width, height, scale }: Window): Promise<Page> {
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height },
    deviceScaleFactor: scale,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await context.addInitScript((text) => sessionStorage.setItem('dendro.credential', `key ${text}`), KEY)
  const page = await context.newPage()
  await page.goto(address)
  await page.waitForLoadState('networkidle')
  await page.waitForTimeout(SETTLED_MS)
  return page
}

/** POINTER draws the pointer, which pictures do not have, and a line that says what is done. */
const POINTER = `(() => {
  const styled = (element, style) => Object.assign(document.body.appendChild(element).style, { position: 'fixed', zIndex: 1000, pointerEvents: 'none' }, style)
  const arrow = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  arrow.setAttribute('viewBox', '0 0 16 22')
  const path = arrow.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'path'))
  path.setAttribute('d', 'M1 1v17l4.5-4 3 7 2.6-1.2-3-6.8H14z')
  Object.assign(path.style, { fill: '#111', stroke: '#fff', strokeWidth: 1.2 })
  styled(arrow, { width: '16px', height: '22px', left: '-99px', top: '0' })
  const ring = document.createElement('div')
  styled(ring, { width: '26px', height: '26px', borderRadius: '50%', border: '3px solid #0f6a61', display: 'none' })
  const caption = document.createElement('div')
  caption.setAttribute('data-caption', '')
  styled(caption, { left: '50%', bottom: '18px', transform: 'translateX(-50%)', padding: '9px 18px', borderRadius: '999px', background: '#111c',
    color: '#fff', font: '600 17px Inter Variable, sans-serif', whiteSpace: 'nowrap', display: 'none' })
  addEventListener('mousemove', ({ clientX, clientY }) => {
    Object.assign(arrow.style, { left: clientX + 'px', top: clientY + 'px' })
    Object.assign(ring.style, { left: clientX - 13 + 'px', top: clientY - 13 + 'px' })
  }, true)
  addEventListener('pointerdown', () => { ring.style.display = 'block' }, true)
  addEventListener('pointerup', () => { ring.style.display = 'none' }, true)
  window.caption = (text) => { caption.textContent = text; caption.style.display = text ? 'block' : 'none' }
})()`

/** animate follows the incident of the demo data, from the hump in the histogram to the message to the team. */
async function animate(browser: Browser, url: string, work: string): Promise<void> {
  const { width, height } = ANIMATION
  const page = await open(browser, url + exploreUrl(hour), { theme: 'light', width, height, scale: 1 })
  const film = new Film(page, work)
  await page.evaluate(POINTER)
  const says = (text: string) => page.evaluate<void>(`window.caption(${JSON.stringify(text)})`)
  await says('An hour of a web shop, and something red')
  await film.hold(2_600)
  const bars = page.getByRole('img', { name: /events in steps of/ })
  await says('Brush it')
  await film.dragOver(bars, ...incidentShares())
  await film.hold(1_000)
  await film.click(page.getByRole('button', { name: 'What changed?' }).first())
  await page.getByText('Counts are exact.').waitFor()
  await says('What changed? Exact counts, the most telling first')
  await film.hold(4_800)
  const cause = page.getByRole('listitem').filter({ hasText: 'payment for order' }).first()
  await film.click(cause.getByRole('link', { name: /^Create monitor/ }))
  await page
    .getByRole('region', { name: /^Preview/ })
    .getByText(/status change/)
    .first()
    .waitFor()
  await page.waitForTimeout(SETTLED_MS)
  await says('A monitor for it, tested on the last 7 days')
  await film.hold(4_000)
  await film.click(page.getByRole('button', { name: 'Chat Shop on call' }))
  await film.hold(700)
  await film.click(page.getByRole('button', { name: 'Create monitor' }))
  await page.getByRole('heading', { level: 1, name: /rate of/ }).waitFor()
  await page.waitForTimeout(SETTLED_MS)
  await film.hold(1_800)
  await page.goBack()
  await page.getByText('Counts are exact.').waitFor()
  await says('Tell the team')
  await film.click(page.getByRole('button', { name: 'Copy summary' }))
  await film.hold(1_600)
  await film.click(cause.getByRole('button', { name: /^Filter by/ }).first())
  await film.click(page.getByRole('toolbar', { name: 'View' }).getByRole('button', { name: 'Events', exact: true }))
  await page.waitForTimeout(SETTLED_MS)
  await says('The events behind it, with every field')
  await film.hold(1_400)
  await film.click(page.locator('[data-index="1"]').getByRole('button').first())
  await page.waitForTimeout(SETTLED_MS)
  await film.hold(3_400)
  await film.click(page.getByRole('toolbar', { name: 'View' }).getByRole('button', { name: 'Patterns', exact: true }))
  await page.waitForTimeout(SETTLED_MS)
  await says('Message patterns, without a configuration')
  await film.hold(3_000)
  film.save(join(out, 'incident.webp'))
  await page.context().close()
}

/** Film collects frames with their durations. */
class Film {
  private readonly frames: { file: string; ms: number }[] = []
  private readonly page: Page
  private readonly work: string
  private place = { x: 560, y: 420 }

  constructor(page: Page, work: string) {
    this.page = page
    this.work = work
  }

  async hold(ms: number): Promise<void> {
    const file = join(this.work, `frame-${String(this.frames.length).padStart(4, '0')}.png`)
    await this.page.screenshot({ path: file })
    this.frames.push({ file, ms })
  }

  private async moveTo(x: number, y: number): Promise<void> {
    const from = this.place
    for (let at = 1; at <= MOVES; at += 1) {
      const part = 1 - (1 - at / MOVES) ** 2
      await this.page.mouse.move(from.x + (x - from.x) * part, from.y + (y - from.y) * part)
      await this.hold(MOVE_MS)
    }
    this.place = { x, y }
  }

  async click(what: Locator): Promise<void> {
    await what.scrollIntoViewIfNeeded()
    const box = await what.boundingBox()
    if (!box) throw new Error(`${String(what)} is not on the page`)
    await this.moveTo(box.x + box.width / 2, box.y + box.height / 2)
    await this.page.mouse.down()
    await this.hold(150)
    await this.page.mouse.up()
    await this.page.waitForTimeout(300)
  }

  /** dragOver drags over a part of a box, given by its shares. */
  async dragOver(what: Locator, from: number, to: number): Promise<void> {
    const box = await what.boundingBox()
    if (!box) throw new Error(`${String(what)} is not on the page`)
    const y = box.y + box.height * 0.6
    await this.moveTo(box.x + box.width * from, y)
    await this.page.mouse.down()
    await this.moveTo(box.x + box.width * to, y)
    await this.page.mouse.up()
    await this.page.getByRole('toolbar', { name: 'Selection' }).waitFor()
    await this.page.waitForTimeout(SETTLED_MS)
  }

  save(file: string): void {
    const options = ['-loop', '0', '-kmin', '20', '-kmax', '40', '-lossy', '-q', ANIMATION.quality, '-m', '4']
    // One argument a line: there are more than fit a command line comfortably.
    const list = join(this.work, 'frames')
    writeFileSync(list, [...options, ...this.frames.flatMap(({ file: frame, ms }) => ['-d', String(ms), frame]), '-o', file].join('\n'))
    execFileSync('img2webp', [list])
    const seconds = this.frames.reduce((sum, { ms }) => sum + ms, 0) / 1_000
    const { size } = statSync(file)
    process.stdout.write(`${file}: ${this.frames.length} frames, ${seconds.toFixed(1)} s, ${(size / 1e6).toFixed(2)} MB\n`)
    if (size > ANIMATION.bytesMax) throw new Error(`the animation is larger than ${ANIMATION.bytesMax} bytes`)
  }
}

await main()
