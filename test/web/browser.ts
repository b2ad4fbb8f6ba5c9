import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = [process.env.DENDRO_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** browserPath is the Chromium of this machine; undefined where there is none, and then what needs one is left out, loudly. */
export const browserPath = PLACES.find((place) => place !== undefined && existsSync(place))

if (browserPath === undefined) {
  process.stderr.write('SKIPPED, LOUDLY: no Chromium was found, the web app is not tried in a browser (set DENDRO_CHROMIUM to one)\n')
}

export const openBrowser = (): Promise<Browser> => chromium.launch({ executablePath: browserPath ?? '', args: ['--no-sandbox'] })
