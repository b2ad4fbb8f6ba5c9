import { parseArgs } from 'node:util'
import { openBrowser } from '../test/web/browser.fixture.ts'
import { BENCH_KEY, median, newDataDir, printTable, removeDataDir, type Service, startService } from './stand/service.ts'
import { measureIncident } from './web/web-incident.ts'

/** The web app in a real Chromium with the real service: its size, the time until it shows something, and its smoothness. */
const USAGE = `node bench/web.ts [--events N] [--rows N] [--rounds N] [--dir DIR] [--chromium PATH]
  --events    how many events there are (2000000)
  --rows      how many rows are loaded before scrolling (200000)
  --rounds    how often the page is opened (5); medians are shown
  --only      measure this alone: explore, charts or incident
  --dir       where the stores lie; filled by the first run and kept for the next
DENDRO_CHROMIUM names the browser where it is not at one of the usual places.`

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '2000000' },
    rows: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    dir: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

type Browser = Awaited<ReturnType<typeof openBrowser>>
type Page = Awaited<ReturnType<Browser['newPage']>>

const BATCH = 20_000
const SPAN_MS = 3_600_000
const ROW_PX = 21
/** The timeout of a measurement. */
const PATIENCE_MS = 60_000
const EXPLORE = `/app/explore?r=${encodeURIComponent('Last 1 day')}`
const headers = { 'x-service-api-key': BENCH_KEY }
const goals = {
  kilobytes: 350,
  scriptKilobytes: 250,
  rowsMs: 1_000,
  keyMs: 50,
  frameMs: 50,
  heapMegabytes: 300,
  shift: 0,
  redrawMs: 50,
  incidentS: 60,
  incidentActions: 12,
}

async function measure(): Promise<void> {
  const dir = options.dir ?? (await newDataDir())
  const service = await startService(dir)
  const browser = await openBrowser()
  try {
    await fill(service)
    const measures = { explore: measureExplore, charts: measureCharts, incident: measureInvestigation }
    const rows: string[][] = []
    for (const [name, measureRows] of Object.entries(measures))
      if (options.only === undefined || options.only === name) rows.push(...(await measureRows(browser, service)))
    printTable(['what', 'measured', 'goal', 'met'], rows)
  } finally {
    await browser.close()
    await service.stop()
    if (options.dir === undefined) await removeDataDir(dir)
  }
}

const met = (value: number, goal: number): string => (value <= goal ? 'yes' : 'NO')

async function measureExplore(browser: Browser, service: Service): Promise<string[][]> {
  const opened = []
  for (let round = 0; round < Number(options.rounds); round += 1) opened.push(await openOnce(browser, service))
  const keys = await pressKeys(browser, service)
  const { rows, frameMs, heapMegabytes } = await scrollFar(browser, service)
  const kilobytes = median(opened.map((one) => one.kilobytes))
  const scripts = median(opened.map((one) => one.scriptKilobytes))
  const rowsMs = median(opened.map((one) => one.rowsMs))
  const shift = Math.max(...opened.map((one) => one.shift))
  const filterShift = Math.max(...opened.map((one) => one.filterShift))
  return [
    ['Explore over the wire, kB', kilobytes.toFixed(0), String(goals.kilobytes), met(kilobytes, goals.kilobytes)],
    ['JavaScript before the first row, kB', scripts.toFixed(0), String(goals.scriptKilobytes), met(scripts, goals.scriptKilobytes)],
    ['first rows after opening, ms', rowsMs.toFixed(0), String(goals.rowsMs), met(rowsMs, goals.rowsMs)],
    ['layout shift', shift.toFixed(4), String(goals.shift), met(shift, goals.shift)],
    ['layout shift when a condition comes', filterShift.toFixed(4), String(goals.shift), met(filterShift, goals.shift)],
    ['key press to paint, median ms', keys.toFixed(0), String(goals.keyMs), met(keys, goals.keyMs)],
    [`longest frame over ${rows} rows, ms`, frameMs.toFixed(0), String(goals.frameMs), met(frameMs, goals.frameMs)],
    ['heap with them, MB', heapMegabytes.toFixed(0), String(goals.heapMegabytes), met(heapMegabytes, goals.heapMegabytes)],
  ]
}

/** The incident is investigated as often as the page is opened; the machine takes this time, without the time to read. */
async function measureInvestigation(browser: Browser, service: Service): Promise<string[][]> {
  const runs = []
  for (let round = 0; round < Number(options.rounds); round += 1) runs.push(await measureIncident(browser, service))
  const seconds = median(runs.map((one) => one.seconds))
  const actions = Math.max(...runs.map((one) => one.actions))
  return [
    ['incident, from the first page to the summary, s', seconds.toFixed(1), String(goals.incidentS), met(seconds, goals.incidentS)],
    ['incident, actions', String(actions), String(goals.incidentActions), met(actions, goals.incidentActions)],
  ]
}

/** Sends missing events, spread over the last hour. */
async function fill({ url }: Service): Promise<void> {
  const body = JSON.stringify({ from_expr: '*', time_range: 'Last 1 day', select: ['count(*)'], num_of_slices: 1 })
  const found = await fetch(`${url}/search`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
  const { totals } = (await found.json()) as { totals: { count: number } }
  const nowMs = Date.now()
  const wanted = Number(options.events)
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

/** Notes the moment in which the first row enters the page. */
const noteFirstRow = `new MutationObserver((_, observer) => {
  if (!document.querySelector('section[aria-label="Events"] [data-index="0"]')) return
  window.firstRowMs = performance.now()
  observer.disconnect()
}).observe(document, { childList: true, subtree: true })`

/** The compressed bytes of the scripts that were requested before the first row was there: they delay it even when they end after it. */
const scriptBytes = `performance.getEntriesByType('resource')
  .filter(({ name, startTime }) => new URL(name).pathname.endsWith('.js') && startTime < window.firstRowMs)
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`

type Opened = { kilobytes: number; scriptKilobytes: number; rowsMs: number; shift: number; filterShift: number }

async function openOnce(browser: Browser, { url }: Service): Promise<Opened> {
  const page = await newPage(browser)
  await page.addInitScript(noteFirstRow)
  await page.addInitScript(`
    window.shift = 0
    new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shift += one.value }).observe({ type: 'layout-shift', buffered: true })`)
  let bytes = 0
  page.on('requestfinished', async (request) => {
    if (!new URL(request.url()).pathname.startsWith('/app')) return
    // Read before it is added: other requests end while this one waits.
    const { responseBodySize } = await request.sizes()
    bytes += responseBodySize
  })
  const startedMs = performance.now()
  await page.goto(url + EXPLORE)
  await firstRow(page).waitFor()
  const rowsMs = performance.now() - startedMs
  await page.getByText(/ events · .* read/).waitFor()
  await page.waitForTimeout(1_000)
  const shift = await page.evaluate<number>('window.shift')
  const kilobytes = bytes / 1_000
  const scriptKilobytes = (await page.evaluate<number>(scriptBytes)) / 1_000
  await page.locator('section[aria-label="Events"] [data-name="region"]').first().hover()
  await page.getByRole('button', { name: 'Include this value' }).click()
  await page.getByRole('list', { name: 'Conditions' }).waitFor()
  await page.waitForTimeout(2_000)
  const filterShift = (await page.evaluate<number>('window.shift')) - shift
  await page.context().close()
  return { kilobytes, scriptKilobytes, rowsMs, shift, filterShift }
}

/** Types into the query and returns the median time from a key press to the frame that shows it. */
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
  const wanted = Math.min(Number(options.rows), Number(options.events))
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

const CHART_SERIES = 50
const CHART_MINUTES = 720
const REDRAWS = 20

/**
 * Draws 50 groups over 720 minutes on a dashboard, as lines, areas and bars: after a change of width, which computes every path again, and after a
 * change of theme.
 */
async function measureCharts(browser: Browser, { url }: Service): Promise<string[][]> {
  await fillCharts(url)
  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { id: string }
  }
  const query = { name: 'a', select: ['count(*)'], from_expr: '*', where: 'service IS NOT NULL', groups: ['service'] }
  const metric = await post('/metrics/definitions', { name: 'By service', queries: [query] })
  const rows: string[][] = []
  for (const type of ['line', 'area', 'bar']) {
    const widget = await post('/widgets', { name: type, type, metric_ids: [metric.id], aux: { fine: true } })
    const layout = { widget_layouts: [{ id: widget.id, x: 0, y: 0, w: 12, h: 6 }] }
    const dashboard = await post('/dashboards', { name: type, widget_ids: [widget.id], layout })
    const page = await newPage(browser)
    await page.goto(`${url}/app/dashboards?id=${encodeURIComponent(JSON.stringify(dashboard.id))}&r=${encodeURIComponent('Last 12 hours')}`)
    const chart = page.getByRole('group', { name: /: \d+ series of \d+ steps/ })
    await chart.waitFor()
    const [, series, steps] = /: (\d+) series of (\d+) steps/.exec((await chart.getAttribute('aria-label')) ?? '') ?? []
    const label = `${type}s of ${series} series and ${steps} steps`
    for (const [what, change] of [
      [
        'redrawn in another width',
        (at: number) => `document.querySelector('section[aria-label="${type}"]').style.marginRight = '${at % 2 === 0 ? 7 : 0}px'`,
      ],
      ['redrawn in another theme', (at: number) => `document.documentElement.dataset.theme = '${at % 2 === 0 ? 'dark' : 'light'}'`],
    ] as const) {
      const redraws: number[] = []
      for (let at = 0; at < REDRAWS; at += 1) redraws.push(await page.evaluate<number>(redrawOf(change(at))))
      const redrawMs = median(redraws)
      rows.push([`${label}, ${what}, ms`, redrawMs.toFixed(0), String(goals.redrawMs), met(redrawMs, goals.redrawMs)])
    }
    await page.context().close()
  }
  return rows
}

/** Changes something at the beginning of a frame and returns the time until the chart is painted; reading a pixel prevents deferred painting. */
const redrawOf = (change: string): string => `new Promise((done) => {
  const context = document.querySelector('canvas').getContext('2d')
  const clear = context.clearRect
  requestAnimationFrame(() => {
    const startedMs = performance.now()
    context.clearRect = function (...box) {
      context.clearRect = clear
      clear.apply(context, box)
      setTimeout(() => {
        context.getImageData(0, 0, 1, 1)
        done(performance.now() - startedMs)
      })
    }
    ${change}
  })
})`

/** Sends an event of every service in every minute, for some services more. */
async function fillCharts(url: string): Promise<void> {
  const nowMs = Date.now()
  const lines = Array.from({ length: CHART_MINUTES * CHART_SERIES }, (_, index) => {
    const [minute, service] = [Math.floor(index / CHART_SERIES), index % CHART_SERIES]
    const event = { timestamp: new Date(nowMs - minute * 60_000).toISOString(), message: 'asked', service: `service-${service}` }
    return `${JSON.stringify(event)}\n`.repeat(1 + ((index * 7) % 5))
  })
  for (let from = 0; from < lines.length; from += BATCH) {
    const answer = await fetch(`${url}/ingest`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson', 'x-service-collection': 'bench', 'x-service-dataset': 'chart' },
      body: lines.slice(from, from + BATCH).join(''),
    })
    if (!answer.ok) throw new Error(`the lines were not taken: ${answer.status} ${await answer.text()}`)
  }
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.enable')
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize / 1_000_000
}

if (options.help) process.stdout.write(`${USAGE}\n`)
else await measure()
