import { parseArgs } from 'node:util'
import { openBrowser } from '../test/web/browser.ts'
import { BENCH_KEY, median, newDataDir, printTable, removeDataDir, type Service, startService } from './service.ts'

/** The web app in a real Chromium, through the real service: what it weighs, when it shows something, and how smoothly it moves. */
const USAGE = `node bench/web.ts [--events N] [--rows N] [--rounds N] [--dir DIR] [--chromium PATH]
  --events    how many events there are (2000000)
  --rows      how many rows are loaded before scrolling (200000)
  --rounds    how often the page is opened (5); medians are shown
  --dir       where the stores lie; filled by the first run and kept for the next
DENDRO_CHROMIUM names the browser where it is not at one of the usual places.`

const { values: asked } = parseArgs({
  options: {
    events: { type: 'string', default: '2000000' },
    rows: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '5' },
    dir: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

type Browser = Awaited<ReturnType<typeof openBrowser>>
type Page = Awaited<ReturnType<Browser['newPage']>>

const BATCH = 20_000
const SPAN_MS = 3_600_000
const ROW_PX = 21
/** PATIENCE_MS ends a measurement of what never comes. */
const PATIENCE_MS = 60_000
const EXPLORE = `/app/explore?r=${encodeURIComponent('Last 1 day')}`
const headers = { 'x-service-api-key': BENCH_KEY }
const goals = { kilobytes: 350, rowsMs: 1_000, keyMs: 50, frameMs: 50, heapMegabytes: 300, shift: 0 }

async function measure(): Promise<void> {
  const dir = asked.dir ?? (await newDataDir())
  const service = await startService(dir)
  const browser = await openBrowser()
  try {
    await fill(service)
    const opened = []
    for (let round = 0; round < Number(asked.rounds); round += 1) opened.push(await openOnce(browser, service))
    const keys = await pressKeys(browser, service)
    const scrolled = await scrollFar(browser, service)
    const met = (value: number, goal: number) => (value <= goal ? 'yes' : 'NO')
    const kilobytes = median(opened.map((one) => one.kilobytes))
    const rowsMs = median(opened.map((one) => one.rowsMs))
    const shift = Math.max(...opened.map((one) => one.shift))
    printTable(
      ['what', 'measured', 'goal', 'met'],
      [
        ['Explore over the wire, kB', kilobytes.toFixed(0), String(goals.kilobytes), met(kilobytes, goals.kilobytes)],
        ['first rows after opening, ms', rowsMs.toFixed(0), String(goals.rowsMs), met(rowsMs, goals.rowsMs)],
        ['layout shift', shift.toFixed(4), String(goals.shift), met(shift, goals.shift)],
        ['key press to paint, median ms', keys.toFixed(0), String(goals.keyMs), met(keys, goals.keyMs)],
        [
          `longest frame over ${scrolled.rows} rows, ms`,
          scrolled.frameMs.toFixed(0),
          String(goals.frameMs),
          met(scrolled.frameMs, goals.frameMs),
        ],
        [
          'heap with them, MB',
          scrolled.heapMegabytes.toFixed(0),
          String(goals.heapMegabytes),
          met(scrolled.heapMegabytes, goals.heapMegabytes),
        ],
      ],
    )
  } finally {
    await browser.close()
    await service.stop()
    if (asked.dir === undefined) await removeDataDir(dir)
  }
}

/** fill sends what is missing; events lie over the last hour. */
async function fill({ url }: Service): Promise<void> {
  const body = JSON.stringify({ from_expr: '*', time_range: 'Last 1 day', select: ['count(*)'], num_of_slices: 1 })
  const found = await fetch(`${url}/search`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
  const { totals } = (await found.json()) as { totals: { count: number } }
  const nowMs = Date.now()
  const wanted = Number(asked.events)
  for (let sent = totals.count; sent < wanted; sent += BATCH) {
    const lines = Array.from({ length: Math.min(BATCH, wanted - sent) }, (_, index) =>
      line(sent + index, nowMs - ((sent + index) / wanted) * SPAN_MS),
    )
    const answer = await fetch(`${url}/ingest`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson', 'x-service-collection': 'bench', 'x-service-dataset': 'web' },
      body: lines.join('\n'),
    })
    if (!answer.ok) throw new Error(`the lines were not taken: ${answer.status} ${await answer.text()}`)
  }
}

const line = (index: number, atMs: number): string =>
  JSON.stringify({
    timestamp: new Date(atMs).toISOString(),
    level: index % 50 === 0 ? 'error' : index % 11 === 0 ? 'warn' : 'info',
    message: `GET /product/${index % 977} answered in ${index % 331} ms`,
    status: index % 50 === 0 ? 502 : 200,
    user: `user-${index % 4_001}`,
    region: ['eu', 'us', 'ap'][index % 3],
  })

async function newPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addInitScript((key) => sessionStorage.setItem('dendro.credential', `key ${key}`), BENCH_KEY)
  const page = await context.newPage()
  page.setDefaultTimeout(300_000)
  return page
}

const firstRow = (page: Page) => page.locator('section[aria-label="Events"] [data-index="5"]')

async function openOnce(browser: Browser, { url }: Service): Promise<{ kilobytes: number; rowsMs: number; shift: number }> {
  const page = await newPage(browser)
  await page.addInitScript(`
    window.shift = 0
    new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shift += one.value }).observe({ type: 'layout-shift', buffered: true })`)
  let bytes = 0
  page.on('requestfinished', async (request) => {
    if (new URL(request.url()).pathname.startsWith('/app')) bytes += (await request.sizes()).responseBodySize
  })
  const startedMs = performance.now()
  await page.goto(url + EXPLORE)
  await firstRow(page).waitFor()
  const rowsMs = performance.now() - startedMs
  await page.getByText(/ events · .* read/).waitFor()
  await page.waitForTimeout(1_000)
  const shift = await page.evaluate<number>('window.shift')
  await page.context().close()
  return { kilobytes: bytes / 1_000, rowsMs, shift }
}

/** pressKeys types into the query, and gives the median time from a press to the frame that shows it. */
async function pressKeys(browser: Browser, { url }: Service): Promise<number> {
  const page = await newPage(browser)
  await page.goto(url + EXPLORE)
  await firstRow(page).waitFor()
  await page.evaluate(`
    window.presses = []
    addEventListener('keydown', (event) => {
      const at = event.timeStamp
      requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = () => window.presses.push(performance.now() - at); channel.port2.postMessage(0) })
    }, true)`)
  await page.getByRole('textbox', { name: 'Query' }).click()
  await page.keyboard.type('message = timeout AND region', { delay: 120 })
  const presses = await page.evaluate<number[]>('window.presses')
  await page.context().close()
  return median(presses)
}

async function scrollFar(browser: Browser, { url }: Service): Promise<{ rows: number; frameMs: number; heapMegabytes: number }> {
  const page = await newPage(browser)
  await page.goto(url + EXPLORE)
  await firstRow(page).waitFor()
  const wanted = Math.min(Number(asked.rows), Number(asked.events))
  const list = 'document.querySelector("section[aria-label=Events]")'
  let rows = 0
  let grownMs = performance.now()
  while (rows < wanted) {
    await page.evaluate(`${list}.scrollTo({ top: ${list}.scrollHeight })`)
    await page.waitForTimeout(50)
    const now = Math.floor((await page.evaluate<number>(`${list}.scrollHeight`)) / ROW_PX)
    if (now > rows) grownMs = performance.now()
    rows = now
    if (performance.now() - grownMs > PATIENCE_MS) throw new Error(`no more than ${rows} rows came`)
  }
  const heapMegabytes = await heapOf(page)
  const frames = await page.evaluate<number[]>(`new Promise((done) => {
    const place = ${list}
    const frames = []
    let last = performance.now()
    let at = 0
    place.scrollTo({ top: 0 })
    const step = (now) => {
      frames.push(now - last)
      last = now
      at += 1
      place.scrollTop = (at % 120 === 0 ? Math.random() * place.scrollHeight * 0.9 : place.scrollTop + 400)
      if (at < 600) requestAnimationFrame(step)
      else done(frames.slice(5))
    }
    requestAnimationFrame(step)
  })`)
  await page.context().close()
  return { rows, frameMs: Math.max(...frames), heapMegabytes }
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.enable')
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize / 1_000_000
}

if (asked.help) process.stdout.write(`${USAGE}\n`)
else await measure()
