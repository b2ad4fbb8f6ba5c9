import type { openBrowser } from '../../test/web/browser.fixture.ts'
import { median, type Service } from '../stand/service.ts'

type Browser = Awaited<ReturnType<typeof openBrowser>>
type Screen = { ms: number; requests: number; kilobytes: number; wireKilobytes: number }

const ROUNDS = 5
/** The timeout of a measurement. */
const PATIENCE_MS = 120_000
/** The pages, and what their first record is. */
const pages = [
  ['Monitors', '/app/monitors', 'ul[aria-label="Monitors"] li'],
  ['Data', '/app/data', 'table[aria-label="Datasets"] tbody td a'],
  ['Explore', '/app/explore', '[aria-label="Events"] time'],
] as const

/** Opens the pages of long lists in a new browser context each time: the time until the first record, and what was read until nothing more came. */
export async function measureFirstScreens(browser: Browser, service: Service): Promise<string[][]> {
  const rows: string[][] = []
  for (const [name, path, record] of pages) {
    const opened: Screen[] = []
    for (let round = 0; round < ROUNDS; round += 1) opened.push(await open(browser, service, { path, record }))
    const of = (member: keyof Screen): string => median(opened.map((one) => one[member])).toFixed(0)
    rows.push([name, of('ms'), of('requests'), of('kilobytes'), of('wireKilobytes')])
  }
  return rows
}

async function open(browser: Browser, { url, key }: Service, { path, record }: { path: string; record: string }): Promise<Screen> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addInitScript((given) => sessionStorage.setItem('dendro.credential', `key ${given}`), key)
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const reads: Promise<{ bytes: number; wireBytes: number }>[] = []
  page.on('requestfinished', (request) => {
    if (new URL(request.url()).pathname.startsWith('/app')) return
    reads.push(
      Promise.all([request.sizes(), request.response().then((response) => response?.body())]).then(([{ responseBodySize }, body]) => ({
        bytes: body?.byteLength ?? 0,
        wireBytes: responseBodySize,
      })),
    )
  })
  const startedMs = performance.now()
  await page.goto(url + path)
  await page.locator(record).first().waitFor()
  const ms = performance.now() - startedMs
  await page.waitForLoadState('networkidle')
  const found = await Promise.all(reads)
  await context.close()
  const sum = (member: 'bytes' | 'wireBytes'): number => found.reduce((total, one) => total + one[member], 0) / 1_000
  return { ms, requests: found.length, kilobytes: sum('bytes'), wireKilobytes: sum('wireBytes') }
}
