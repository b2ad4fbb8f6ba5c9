import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isNightly } from '../support/nightly.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

describe.skipIf(browserPath === undefined)('the API reference in a browser', () => {
  let stand: Stand
  beforeAll(async () => {
    stand = await openStand()
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('finds an operation by words and sends it with the session of the app', async () => {
    const page = await stand.open('/docs')
    await page.getByLabel('Search endpoints and fields').fill('create group')
    const article = page.locator('article#groups\\.create')
    await article.getByText('groups_write').waitFor()
    expect(await page.locator('article#groups\\.remove').isHidden()).toBe(true)
    await article.getByRole('button', { name: 'Try it' }).click()
    await article.getByLabel('Body').fill('{"name": "Made by hand"}')
    await article.getByRole('button', { name: 'Send POST' }).click()
    await article.getByText('"Made by hand"').waitFor()
    await article.getByText('201 Created').waitFor()
    await article.getByRole('button', { name: 'Send POST' }).click()
    await article.getByText('409 Conflict').waitFor()
  })

  test('prefers the credential that is entered, and copies a request without it', async () => {
    const page = await stand.open('/docs')
    const article = page.locator('article#datasets\\.get')
    await article.getByRole('button', { name: 'Try it' }).click()
    await article.getByLabel('datasetId').fill('a/b')
    await page.getByLabel('Credential').fill('dk_unknown')
    await article.getByRole('button', { name: 'Send GET' }).click()
    await article.getByText('401 Unauthorized').waitFor()
    await article.getByRole('button', { name: 'Copy as curl' }).click()
    await article.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
      `curl -X GET '${stand.app.url}/datasets/a%2Fb' \\\n  -H "X-SERVICE-API-KEY: $DENDRO_API_KEY"`,
    )
  })

  test('is where the app leads, with or without a session', async () => {
    const page = await stand.open('/app/api?op=groups.create')
    await page.locator('article#groups\\.create').waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/docs#groups.create')
    const signedOut = await stand.open('/app/api', { key: null })
    await signedOut.getByRole('heading', { name: 'API reference', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Dendro' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'API', exact: true }).click()
    await page.getByRole('heading', { name: 'API reference', level: 1 }).waitFor()
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('has no fault that axe finds: %s, %d pixels', async (theme, width) => {
    const page = await stand.open('/docs', { theme, width })
    const article = page.locator('article#groups\\.create')
    await article.getByRole('button', { name: 'Try it' }).click()
    await article.getByRole('button', { name: 'Send POST' }).waitFor()
    // The whole page takes axe half a minute, and every article is built alike: only a nightly run tries them all.
    const others = page.locator('article:not(#groups\\.create)')
    const step = isNightly ? 1 : 20
    await others.evaluateAll((articles, kept) => {
      for (const [at, article] of articles.entries()) if (at % kept > 0) article.remove()
    }, step)
    expect(await axeFaults(page, 'docs')).toEqual([])
  })
})
