import type { Locator, Page } from 'playwright-core'

const MINUTE_MS = 60_000

/**
 * incidentEvents are the orders of 50 minutes that end at endMs, and 21 to 15 minutes before it the payments service finds no connection to its database.
 * An hour holds them all for some minutes, and the incident much longer.
 */
export function incidentEvents(endMs: number): object[] {
  const at = (ageMs: number, more: object) => ({ timestamp: new Date(endMs - ageMs).toISOString(), ...more })
  return [
    ...Array.from({ length: 300 }, (_, index) =>
      at(index * 10_000 + 1_000, {
        level: 'info',
        service: 'checkout',
        message: `order ${index} placed`,
        status: 200,
        region: index % 4 ? 'eu' : 'us',
      }),
    ),
    ...Array.from({ length: 180 }, (_, index) =>
      at(15 * MINUTE_MS + index * 2_000 + 500, {
        level: 'error',
        service: 'payments',
        message: `HikariPool-1 - Connection is not available, request timed out after ${30_000 + index} ms`,
        status: 503,
        region: index % 4 ? 'eu' : 'us',
      }),
    ),
  ]
}

/** Hands do what a person does on the page, and count it: a click, a key and a drag are one action each. */
export class Hands {
  actions = 0
  private readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  async click(what: Locator): Promise<void> {
    this.actions += 1
    await what.click()
  }

  async back(): Promise<void> {
    this.actions += 1
    await this.page.goBack()
  }

  async drag(from: Locator, to: Locator): Promise<void> {
    this.actions += 1
    const [start, end] = [await from.boundingBox(), await to.boundingBox()]
    if (!start || !end) throw new Error('there is nothing to drag over')
    await this.page.mouse.move(start.x + start.width / 2, start.y + start.height - 2)
    await this.page.mouse.down()
    await this.page.mouse.move((start.x + end.x) / 2, start.y + start.height - 2)
    await this.page.mouse.move(end.x + end.width / 2, start.y + start.height - 2)
    await this.page.mouse.up()
  }
}

/**
 * investigate begins where the app does and follows the incident to its end: brush the hump, read the cause, make a monitor that notifies the chat of
 * the team, and copy a summary for the team. It returns what the monitor is and what was copied.
 */
export async function investigate(page: Page, hands: Hands, chat: string): Promise<{ cause: string; monitorId: string; summary: string }> {
  await hands.click(page.getByRole('button', { name: 'Last 15 minutes' }))
  await hands.click(page.getByRole('button', { name: '1 hour', exact: true }))
  const hump = page.getByRole('img', { name: /events in steps of/ }).locator('rect.fill-bar-error')
  await hump.first().waitFor()
  await hands.drag(hump.first(), hump.last())
  await hands.click(page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'What changed?' }))
  const finding = page.getByRole('region', { name: 'What changed' }).getByRole('listitem').first()
  const cause = (await finding.textContent()) ?? ''
  await hands.click(finding.getByRole('link', { name: /^Create monitor/ }))
  await hands.click(page.getByRole('button', { name: chat }))
  await hands.click(page.getByRole('button', { name: 'Create monitor' }))
  await page.getByRole('heading', { level: 1, name: /^High rate of/ }).waitFor()
  const monitorId = new URL(page.url()).searchParams.get('id') ?? ''
  await hands.back()
  await hands.click(page.getByRole('button', { name: 'Copy summary' }))
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  return { cause, monitorId, summary: await page.evaluate<string>('navigator.clipboard.readText()') }
}
