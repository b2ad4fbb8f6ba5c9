import { existsSync } from 'node:fs'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, chromium, type Page } from 'playwright-core'

const PLACES = [process.env.DENDRO_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** browserPath is the Chromium of this machine; undefined where there is none, and then what needs one is left out, loudly. */
export const browserPath = PLACES.find((place) => place !== undefined && existsSync(place))

if (browserPath === undefined) {
  process.stderr.write('SKIPPED, LOUDLY: no Chromium was found, the web app is not tried in a browser (set DENDRO_CHROMIUM to one)\n')
}

export const openBrowser = (): Promise<Browser> => chromium.launch({ executablePath: browserPath ?? '', args: ['--no-sandbox'] })

/** axeFaults are what makes a page hard to use for some, each with where it stands. */
export async function axeFaults(page: Page, name: string): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.map(({ id, nodes }) => `${name} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
