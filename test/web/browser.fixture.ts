import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'

/** The headless shell of Chromium comes first: it takes half the CPU time of the whole browser. */
const PLACES = [
  process.env.DENDRO_CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** browserPath is the Chromium of this machine; undefined where there is none, and then what needs one is left out, loudly. */
export const browserPath = PLACES.find((place) => place !== undefined && existsSync(place))

if (browserPath === undefined) {
  process.stderr.write('SKIPPED, LOUDLY: no Chromium was found, the web app is not tried in a browser (set DENDRO_CHROMIUM to one)\n')
}

export const openBrowser = (): Promise<Browser> => chromium.launch({ executablePath: browserPath ?? '', args: ['--no-sandbox'] })

/** The minified file: its 0.65 MB go to every page that is checked, the program of the package has 1.5. */
const axeScript = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * axeFaults are what makes a page, or the part within a selector, hard to use for some, each with where it stands. It waits until nothing is dimmed
 * because a newer answer is on its way; the page of all components shows that state on purpose. No page of ours has frames, whose rules would need more.
 */
export async function axeFaults(page: Page, name: string, within = 'html'): Promise<string[]> {
  await page.locator('[aria-busy="true"]:not([data-kit] *)').first().waitFor({ state: 'detached' })
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeScript)
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run('${within}', { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )
  return violations.map(({ id, nodes }) => `${name} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
