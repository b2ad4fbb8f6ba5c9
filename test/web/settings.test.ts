import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.ts'
import { openStand, type Stand } from './stand.ts'

let stand: Stand

const rowOf = (page: Page, table: string, name: string) =>
  page
    .getByRole('region', { name: `${table} table`, exact: true })
    .getByRole('row')
    .filter({ hasText: name })

describe.skipIf(browserPath === undefined)('the first start and the settings', () => {
  beforeAll(async () => {
    stand = await openStand()
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('the first key leads to an Administrator, to demo data, and to the first events', async () => {
    const org = await stand.app.newOrganization()
    const page = await stand.open('/', { key: null })
    await page.getByLabel('API key').fill(org.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Welcome to Dendro' }).waitFor()
    await page.getByText('Nothing has been received yet').waitFor()
    await page.getByLabel('First name').fill('Mary')
    await page.getByLabel('Last name').fill('Shaw')
    await page.getByLabel('E-mail').fill(`mary-${org.orgId}@example.org`)
    await page.getByLabel('Password').fill('eleven herons by the weir')
    await page.getByRole('button', { name: 'Make the Administrator' }).click()
    // This service can send mail, so the invitation goes there; its link is what a person would click.
    await page.getByText('An invitation is on its way').waitFor()
    const link = /\S+\?token=[\w-]+/.exec(stand.app.mails.findLast(({ to }) => to.startsWith(`mary-${org.orgId}`))?.text ?? '')?.[0] ?? ''
    const other = await stand.open('/app/sign-in', { key: null })
    await other.getByRole('button', { name: 'Invitation' }).click()
    await other.getByLabel('Invitation').fill(link)
    await other.getByLabel('New password').fill('eleven herons by the weir')
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.getByRole('heading', { name: 'Explore' }).waitFor({ state: 'attached' })
    await other.goto(`${stand.app.url}/app/welcome`)
    await other.getByText('can sign in with e-mail and password').waitFor()
    await other.getByRole('button', { name: 'Make a key for shippers' }).click()
    await other
      .getByText(/X-SERVICE-API-KEY: dk_/)
      .first()
      .waitFor()
    await other.getByRole('button', { name: 'Send demo data' }).click()
    await other.getByText('shop / checkout').waitFor()
    await other.getByText(/[\d,]+ events of the last day have been received/).waitFor()
    await other.getByRole('link', { name: 'Explore them' }).click()
    await other.getByRole('region', { name: 'Events', exact: true }).locator('[data-index]').nth(5).waitFor()
  })

  test('keys are made, shown once, changed and deleted', async () => {
    const page = await stand.open('/app/settings?part=keys')
    await page.getByLabel('Name', { exact: true }).fill('Lorries')
    await page.getByRole('button', { name: 'Make the key' }).click()
    const key = await page.getByRole('status').locator('code').textContent()
    expect((await stand.app.ask('GET', '/auth/me', { key: key ?? '' })).status).toBe(200)
    const row = rowOf(page, 'API keys', 'Lorries')
    await row.getByRole('button', { name: 'Change' }).click()
    await page.getByLabel('Name of the key').fill('Barges')
    await page.getByRole('button', { name: 'Save' }).click()
    const renamed = rowOf(page, 'API keys', 'Barges')
    await renamed.getByRole('button', { name: 'Delete the key Barges' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await renamed.waitFor({ state: 'detached' })
    expect((await stand.app.ask('GET', '/auth/me', { key: key ?? '' })).status).toBe(401)
  })

  test('people are invited and kept out, put into groups, and given roles of the organisation', async () => {
    const org = await stand.app.newOrganization()
    const user = await org.newUser(['Standard'])
    const page = await stand.open('/app/settings?part=roles', { key: org.key })
    await page.getByRole('button', { name: 'New role' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Watcher')
    await page.getByRole('group', { name: 'Search' }).getByRole('checkbox').first().check()
    await page.getByRole('button', { name: 'Make the role' }).click()
    await rowOf(page, 'Roles', 'Watcher').waitFor()

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Users' }).click()
    const row = rowOf(page, 'Users', user.email)
    await row.getByRole('button', { name: 'Change' }).click()
    const change = page.getByRole('form', { name: `Change ${user.email}` })
    await change.getByRole('button', { name: /Standard/ }).click()
    await page.getByRole('checkbox', { name: 'Watcher' }).check()
    await page.keyboard.press('Escape')
    await change.getByRole('button', { name: 'Save' }).click()
    await row.getByText('Standard, Watcher').waitFor()
    await row.getByRole('button', { name: 'Keep out' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Keep out' }).click()
    await row.getByText('kept out').waitFor()
    expect((await stand.app.ask('GET', '/auth/me', { token: user.token })).status).toBe(401)

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Groups' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Night shift')
    await page.getByRole('button', { name: 'Make the group' }).click()
    await rowOf(page, 'Groups', 'Night shift').getByRole('button', { name: 'Members' }).click()
    await page.getByLabel('Add a member').selectOption({ label: user.email })
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await rowOf(page, 'Members', user.email).waitFor()
  })

  test('a webhook is made and tried, an e-mail template and a limit are kept, and the organisation gets a name', async () => {
    const org = await stand.app.newOrganization()
    const page = await stand.open('/app/settings?part=integrations', { key: org.key })
    await page.getByRole('button', { name: 'New webhook' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Bell')
    await page.getByLabel('Address', { exact: true }).fill('https://10.1.2.3/ring')
    await page.getByRole('button', { name: 'Make the webhook' }).click()
    const bell = rowOf(page, 'Webhooks', 'Bell')
    if (await bell.isVisible().catch(() => false)) await bell.getByRole('button', { name: 'Test' }).click()
    await page
      .getByText(/not allowed|no public|public address|refused|not delivered/i)
      .first()
      .waitFor()

    await page.getByRole('button', { name: 'New template' }).click()
    await page.getByLabel('Name', { exact: true }).last().fill('Letter')
    await page.getByLabel(/^Text/).fill('Dear all, $title')
    await page.getByRole('button', { name: 'Make the template' }).click()
    await rowOf(page, 'E-mail templates', 'Letter').waitFor()

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Limits' }).click()
    await page.getByLabel('Gigabytes in a month').fill('2')
    await page.getByRole('button', { name: 'Set the limit' }).click()
    await rowOf(page, 'Limits', 'the organisation').getByText('2.0 GB').waitFor()

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Organisation' }).click()
    await page.getByLabel('Name', { exact: true }).fill(`Mill ${org.orgId}`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.reload()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(`Mill ${org.orgId}`)
  })

  test('every operation of the API is found, explained and tried', async () => {
    const page = await stand.open('/app/api')
    await page.getByLabel('Find an operation').fill('create group')
    await page.getByRole('link', { name: /POST.*\/groups$/ }).click()
    await page.getByRole('heading', { name: /^Create a group/ }).waitFor()
    await page.getByText('Needs the permission groups_write').waitFor()
    await page.getByRole('textbox', { name: /^Body/ }).fill('{"name": "Made by hand"}')
    await page.getByRole('button', { name: 'Send POST' }).click()
    await page.getByRole('status').getByText('"Made by hand"').waitFor()
    await page.getByText(/^201 · /).waitFor()
    await page.getByRole('button', { name: 'Send POST' }).click()
    await page.getByText(/^409 · /).waitFor()
    expect(await axeFaults(page, 'api')).toEqual([])
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('has no fault that axe finds: %s, %d pixels', async (theme, width) => {
    const org = await stand.app.newOrganization()
    await org.newUser(['Standard'])
    const page = await stand.open('/app/welcome', { theme, width, key: org.key })
    await page.getByText('Waiting for the first event').waitFor()
    expect(await axeFaults(page, 'welcome')).toEqual([])
    for (const name of ['Users', 'Groups', 'API keys', 'Roles', 'Integrations', 'Limits', 'Organisation']) {
      if (name === 'Users') await page.goto(`${stand.app.url}/app/settings`)
      else await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()
      await expect.poll(() => page.getByText('Reading …').count(), { timeout: 60_000 }).toBe(0)
      expect(await axeFaults(page, name)).toEqual([])
    }
  })
})
