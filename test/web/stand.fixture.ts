import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { readWebFiles } from '../../server/src/http/pages/web-app/files.ts'
import type { JobKind } from '../../server/src/jobs/job.ts'
import type { World } from '../../server/src/world.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../support/world.ts'
import { openBrowser } from './browser.fixture.ts'

/** PageOptions set how a page is opened; a `null` key opens it signed out. Without `hasMotion` nothing waits for transitions. */
type PageOptions = { theme?: 'light' | 'dark'; width?: number; key?: string | null; zone?: string; hasMotion?: boolean }

/** A Stand is the service with its web app, an organization, and a browser before it. */
export type Stand = {
  app: TestApp
  org: TestOrganization
  open(path: string, options?: PageOptions): Promise<Page>
  /** send takes events to a dataset of the collection `shop`. */
  send(dataset: string, events: readonly object[], owner?: TestOrganization): Promise<void>
  /** endTest closes what a test opened; what went wrong in a page without being seen fails it. */
  endTest(): Promise<void>
  close(): Promise<void>
}

type StandOptions = { kinds?: (world: World) => readonly JobKind[]; env?: Record<string, string>; readsSources?: boolean }

/** openStand has a metadata store of its own, so that its monitors and jobs can be run without those of others. */
export async function openStand({ kinds = () => [], env = {}, readsSources = false }: StandOptions = {}): Promise<Stand> {
  const web = readWebFiles()
  if (!web) throw new Error('the web app is not built: `npm test` and `npm run build` build it')
  const app = await openTestApp(env, kinds, web, { readsSources })
  const org = await app.newOrganization()
  const browser: Browser = await openBrowser()
  const pages: Page[] = []
  const faults: string[] = []
  return {
    app,
    org,
    open: async (path, { theme = 'light', width = 1280, key = org.key, zone = 'UTC', hasMotion = false } = {}) => {
      const context = await browser.newContext({
        colorScheme: theme,
        reducedMotion: hasMotion ? 'no-preference' : 'reduce',
        viewport: { width, height: 800 },
        timezoneId: zone,
      })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      if (key !== null) await context.addInitScript(signInOnce, key)
      const page = await context.newPage()
      // A busy machine paints late; a test waits for states, not for speed.
      page.setDefaultTimeout(240_000)
      page.on('pageerror', (thrown) => faults.push(String(thrown)))
      page.on('console', (message) => {
        if (/Content Security Policy|Trusted/.test(message.text())) faults.push(message.text())
      })
      pages.push(page)
      await page.goto(app.url + path)
      return page
    },
    send: async (dataset, events, owner = org) => {
      const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
      const raw = events.map((event) => JSON.stringify(event)).join('\n')
      expect((await owner.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
    },
    endTest: async () => {
      for (const page of pages.splice(0)) await page.context().close()
      expect(faults.splice(0)).toEqual([])
    },
    close: async () => {
      await browser.close()
      await app.close()
    },
  }
}

/** signInOnce gives a tab its key before its first page only: who signs in as somebody else later stays that. */
const signInOnce = (key: string): void => {
  if (sessionStorage.getItem('opened')) return
  sessionStorage.setItem('opened', 'yes')
  sessionStorage.setItem('dendro.credential', `key ${key}`)
}
