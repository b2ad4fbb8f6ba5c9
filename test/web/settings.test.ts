import type { Policy } from '@dendro/api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { auditTrail } from '../../server/src/ingest/audit-trail.ts'
import { sql } from '../../server/src/meta/sql.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

const settingsNames = [
  'Users',
  'You',
  'Groups',
  'API keys',
  'Roles',
  'Access rules',
  'Integrations',
  'Limits',
  'Encryption keys',
  'Organization',
  'Audit trail',
]

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

  test('the first key leads to an administrator, to demo data, and to the first events', async () => {
    const org = await stand.app.newOrganization()
    const page = await stand.open('/', { key: null })
    await page.getByLabel('API key').fill(org.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Welcome to Dendro' }).waitFor()
    await page.getByText('Waiting for the first event').waitFor()
    await page.getByLabel('First name').fill('Mary')
    await page.getByLabel('Last name').fill('Shaw')
    await page.getByLabel('E-mail').fill(`mary-${org.orgId}@example.org`)
    await page.getByLabel('Password').fill('eleven herons by the weir')
    await page.getByRole('button', { name: 'Create administrator' }).click()
    // This service can send mail, so the invitation goes there; its link is what a person would click.
    await page.getByText('An invitation was sent').waitFor()
    const link = /\S+\?token=[\w-]+/.exec(stand.app.mails.findLast(({ to }) => to.startsWith(`mary-${org.orgId}`))?.text ?? '')?.[0] ?? ''
    const other = await stand.open('/app/sign-in', { key: null })
    await other.getByRole('button', { name: 'Invitation' }).click()
    await other.getByLabel('Invitation').fill(link)
    await other.getByLabel('New password').fill('eleven herons by the weir')
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.getByRole('heading', { name: 'Explore' }).waitFor({ state: 'attached' })
    await other.goto(`${stand.app.url}/app/welcome`)
    await other.getByText('can sign in with e-mail and password').waitFor()
    await other.getByRole('button', { name: 'Create a key for shippers' }).click()
    await other
      .getByText(/X-SERVICE-API-KEY: dk_/)
      .first()
      .waitFor()
    await other.getByRole('button', { name: 'Send demo data' }).click()
    await other.getByText('shop / checkout').waitFor()
    await other.getByText(/[\d,]+ events received in the last day/).waitFor()
    await other.getByRole('link', { name: 'Explore events' }).click()
    await other.getByRole('region', { name: 'Events', exact: true }).locator('[data-index]').nth(5).waitFor()
  })

  test('copying a configuration creates a key once, and the datasets of the service itself are not counted as received', async () => {
    const org = await stand.app.newOrganization()
    await org.ask('POST', '/groups', { body: { name: 'first' } })
    await auditTrail(stand.app.app.world).run()
    const page = await stand.open('/app/welcome', { key: org.key })
    const copyCurl = page.getByRole('button', { name: /^Cop.*: the configuration for curl/ })
    await page.getByText('Copying creates an API key').waitFor()
    await page.getByText('Waiting for the first event').waitFor()
    expect(await page.getByText('.audit-trail / audit-trail').count()).toBe(0)
    await copyCurl.click()
    await page.getByText('Copied', { exact: true }).waitFor()
    const first = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(first).toMatch(/dk_[\w-]+/)
    expect(first).not.toContain('YOUR_KEY')
    await copyCurl.click()
    const { api_keys } = (await org.ask<{ api_keys: { name: string; roles: string[] }[] }>('GET', '/api-keys')).body
    expect(api_keys.filter(({ name }) => name === 'Shippers').map(({ roles }) => roles)).toEqual([['IngestionApi']])
    await page.goto(`${stand.app.url}/app/data`)
    await page.getByText('Waiting for the first event').waitFor()
    await page.getByLabel('Show system datasets').check()
    const about = page.getByText('Written by Dendro: changes, sign-ins and refused requests')
    await about.waitFor()
    // Sorted by time there are no headings of collections: the row explains itself.
    await page.getByRole('button', { name: 'Last event' }).click()
    await page.getByRole('row').filter({ hasText: '.audit-trail / audit-trail' }).filter({ has: about }).waitFor()
    await page.getByRole('link', { name: '.audit-trail / audit-trail' }).click()
    await page.getByRole('heading', { name: '.audit-trail / audit-trail' }).waitFor()
    await about.waitFor()
    await page.goto(`${stand.app.url}/app/explore`)
    await page.getByTitle('Datasets to search').click()
    await page.getByRole('dialog', { name: 'Datasets' }).filter({ has: about }).waitFor()
    const low = await stand.open('/app/welcome', { key: await org.newKey(['SearchApi']) })
    await low.getByText('Replace YOUR_KEY by an API key').waitFor()
    await low.getByRole('button', { name: 'Copy: the configuration for curl' }).click()
    await low.getByRole('button', { name: 'Copied: the configuration for curl' }).waitFor()
    expect(await low.evaluate<string>('navigator.clipboard.readText()')).toContain('YOUR_KEY')
  })

  test('without mail the first recipient of a monitor is a webhook, and e-mail says that it is not delivered', async () => {
    const own = await openStand({ env: { DENDRO_MAIL_FROM: 'Dendro <dendro@example.org>' } })
    try {
      own.app.app.world.mailer.configured = false
      const page = await own.open('/app/monitors?edit=%22new%22')
      await page.getByText('This service has no mail server').waitFor()
      await page.getByRole('link', { name: 'Create a webhook or a chat integration' }).waitFor()
      expect(await page.getByRole('textbox', { name: 'Address' }).count()).toBe(0)
      // A caller who may not read the integrations gets the form too.
      const permissions = ['monitors_read', 'monitors_write', 'search_read', 'logs_read']
      const role = await own.org.ask<{ role_id: string }>('POST', '/roles', {
        body: { role_type: 'API', display_name: 'Monitors only', permissions },
      })
      expect(role.status).toBe(201)
      const limited = await own.open('/app/monitors?edit=new', { key: await own.org.newKey([role.body.role_id]) })
      await limited.getByText('This service has no mail server').waitFor()
      const nameField = limited.getByRole('region', { name: 'Name', exact: true }).getByRole('textbox').first()
      await nameField.fill('Errors')
      await limited.getByRole('button', { name: 'Add recipient' }).click()
      await limited.getByRole('textbox', { name: 'Address' }).fill('oncall@example.org')
      expect(await nameField.inputValue()).toBe('Errors')
      const body = { name: 'On call', url: 'https://hooks.example.org/a' }
      expect((await own.org.ask('POST', '/integrations/webhooks', { body })).status).toBe(201)
      await page.reload()
      const channel = page.getByLabel('Channel')
      await expect.poll(() => channel.locator('option:checked').textContent()).toBe('Webhook On call')
      await channel.selectOption('E-mail (not delivered)')
      const queries = [{ name: 'a', select: ['count(*)'], from_expr: '*', where: '' }]
      const metric = await own.org.ask<{ id: string }>('POST', '/metrics/definitions/templates', {
        body: { name: 'Events', description: '', queries, parameters: {} },
      })
      const rule = {
        name: 'Any event',
        comparison_operator: 'ABOVE',
        threshold: '1',
        window: 'Last 5 minutes',
        parameters: {},
        this_template_tags: {},
      }
      const template = await own.org.ask<{ id: string }>('POST', '/monitors/templates', {
        body: { ...rule, metric: { id: metric.body.id, arguments: {} } },
      })
      expect([metric.status, template.status], JSON.stringify(template.body)).toEqual([201, 201])
      await page.goto(`${own.app.url}/app/monitors?template=${template.body.id}`)
      await page.getByText('This service has no mail server').waitFor()
      await expect.poll(() => channel.locator('option:checked').textContent()).toBe('Webhook On call')
      await page.getByRole('button', { name: 'Create monitor' }).click()
      await page.getByRole('heading', { name: 'Any event', level: 1 }).waitFor()
      const requests = Array.from({ length: 40 }, (_, at) => ({
        timestamp: new Date(own.app.clock.nowMs() - at * 1_000).toISOString(),
        method: 'GET',
        path: `/page/${at % 3}`,
        status: at % 10 ? 200 : 502,
      }))
      await own.send('nginx', requests)
      await page.goto(`${own.app.url}/app/dashboards`)
      await page.getByRole('link', { name: 'Preview Access logs: nginx' }).click()
      await page.getByRole('region', { name: 'Monitors' }).getByRole('checkbox').first().check()
      await page.getByText('This service has no mail server').waitFor()
      expect(await channel.locator('option:checked').textContent()).toBe('Webhook On call')
    } finally {
      await own.close()
    }
  })

  test('without mail the first key leads straight to an account, whose password and name can be changed', async () => {
    const own = await openStand({ env: { DENDRO_SMTP_URL: 'smtp://127.0.0.1:1' } })
    try {
      const page = await own.open('/app/welcome')
      await page.getByLabel('First name').fill('Ada')
      await page.getByLabel('Last name').fill('Byron')
      await page.getByLabel('E-mail').fill('ada@example.org')
      await page.getByLabel('Password').fill('password1234')
      await page.getByRole('button', { name: 'Create administrator' }).click()
      await page.getByRole('alert').waitFor()
      await page.getByLabel('Password').fill('eleven herons by the weir')
      await page.getByRole('button', { name: 'Create administrator' }).click()
      await page.getByText('ada@example.org can sign in with e-mail and password').waitFor()
      await page.getByRole('link', { name: 'ada@example.org' }).click()
      await page.getByLabel('First name').fill('Augusta')
      await page.getByRole('form', { name: 'Your name' }).getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Saved.').waitFor()
      await page.getByLabel('Current password').fill('not the one')
      await page.getByLabel('New password').fill('twelve otters in the brook')
      await page.getByRole('button', { name: 'Change password' }).click()
      await page.getByRole('form', { name: 'Password' }).getByRole('alert').waitFor()
      await page.getByLabel('Current password').fill('eleven herons by the weir')
      await page.getByRole('button', { name: 'Change password' }).click()
      await page.getByText('Password changed. Your other sessions have ended.').waitFor()
      expect(await axeFaults(page, 'you')).toEqual([])
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('heading', { name: 'Sign in to Dendro' }).waitFor()
      await page.goto(`${own.app.url}/app/sign-in`)
      await page.getByLabel('E-mail').fill('ada@example.org')
      await page.getByLabel('Password').fill('eleven herons by the weir')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('The e-mail or the password is wrong.').waitFor()
      await page.getByLabel('Password').fill('twelve otters in the brook')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Explore' }).waitFor({ state: 'attached' })
    } finally {
      await own.close()
    }
  })

  test('an invitation is a page of the app, keeps its token out of the address, and signs in', async () => {
    const gone = await stand.open('/accept-invite?token=long-gone', { key: null })
    await gone.getByRole('heading', { name: 'Welcome to Dendro' }).waitFor()
    expect(gone.url()).toBe(`${stand.app.url}/app/invitation`)
    expect(await gone.content()).not.toMatch(/POST|\/auth\//)
    expect(await axeFaults(gone, 'invitation')).toEqual([])
    const accept = async (page: Page) => {
      await page.getByLabel('Password', { exact: false }).first().fill('eleven herons by the weir')
      await page.getByLabel('Repeat password').fill('eleven herons by the weir')
      await page.getByRole('button', { name: 'Set password and sign in' }).click()
    }
    await accept(gone)
    await gone.getByText('This invitation has been used, replaced or has expired; ask for a new one.').waitFor()
    const email = `joan-${stand.org.orgId}@example.org`
    const body = { first_name: 'Joan', last_name: 'Clarke', email, roles: ['Standard'] }
    expect((await stand.org.ask('POST', '/users', { body })).status).toBe(201)
    await expect.poll(() => stand.app.mails.some(({ to }) => to === email)).toBe(true)
    const link = /\S+\?token=[\w-]+/.exec(stand.app.mails.findLast(({ to }) => to === email)?.text ?? '')?.[0] ?? ''
    const page = await stand.open(new URL(link).pathname + new URL(link).search, { key: null })
    await accept(page)
    await page.getByRole('heading', { name: 'Explore' }).waitFor({ state: 'attached' })
  })

  test('buttons that the caller has no permission for are not shown', async () => {
    const key = await stand.org.newKey(['SearchApi'])
    const page = await stand.open('/app/monitors', { key })
    const main = page.getByRole('main')
    for (const [path, title, hidden] of [
      ['/app/monitors', 'Monitors', /^New monitor$|^Mute/],
      ['/app/downtimes', 'Downtimes', /^New downtime$|^Copy|^Delete/],
      ['/app/dashboards', 'Dashboards', /^New dashboard$|^From template/],
      ['/app/dashboards?view=metrics', 'Metrics', /^New metric$|^Delete/],
      ['/app/data', 'Data', /^New dataset$|^Edit the collection/],
      ['/app/data?keep=true', 'Retention', /^Create rule$|^Edit|^Delete/],
      ['/app/settings?part=limits', 'Limits', /^Create limit$|^Edit|^Delete/],
    ] as const) {
      await page.goto(`${stand.app.url}${path}`)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor({ state: 'attached' })
      const actions = main.getByRole('button', { name: hidden }).or(main.getByRole('link', { name: hidden }))
      // They vanish once the permissions are known.
      await expect.poll(() => actions.allTextContents(), { message: path }).toEqual([])
    }
    await page.goto(`${stand.app.url}/app/explore`)
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('dialog', { name: 'Actions' }).getByText('Share', { exact: true }).waitFor()
    expect(await page.getByText('Create monitor', { exact: true }).count()).toBe(0)
    await page.goto(`${stand.app.url}/app/settings`)
    const parts = page.getByRole('navigation', { name: 'Settings' }).getByRole('link')
    await expect.poll(() => parts.allTextContents()).toEqual(['You', 'Limits'])
    await page.getByRole('heading', { name: 'You', level: 1 }).waitFor()
  })

  test('a wrong key, an unknown link and an unreachable service show different errors', async () => {
    const page = await stand.open('/app/sign-in', { key: null })
    await page.getByLabel('API key').fill('dk_not_a_key')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText(/^This key is unknown or expired/).waitFor()
    await page.getByRole('button', { name: 'Invitation' }).click()
    await page.getByLabel('Invitation').fill(`${stand.app.url}/accept-invite?token=long-gone`)
    await page.getByLabel('New password').fill('eleven herons by the weir')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This invitation has been used, replaced or has expired; ask for a new one.').waitFor()
    await page.route('**/auth/me', (route) => route.abort())
    await page.getByRole('button', { name: 'Key', exact: true }).click()
    await page.getByLabel('API key').fill(stand.org.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The service did not answer').waitFor()
  })

  test('keys are created, shown once, edited and deleted', async () => {
    const page = await stand.open('/app/settings?part=keys')
    await page.getByLabel('Name', { exact: true }).fill('Lorries')
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.getByRole('status').locator('code').textContent()
    expect((await stand.app.ask('GET', '/auth/me', { key: key ?? '' })).status).toBe(200)
    const row = rowOf(page, 'API keys', 'Lorries')
    await row.getByText('never', { exact: true }).first().waitFor()
    await row.getByText('none in 7 days').waitFor()
    await row.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Name of the key').fill('Barges')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const renamed = rowOf(page, 'API keys', 'Barges')
    await renamed.getByRole('button', { name: 'Delete the key Barges' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await renamed.waitFor({ state: 'detached' })
    expect((await stand.app.ask('GET', '/auth/me', { key: key ?? '' })).status).toBe(401)
  })

  test('of many users a page is shown, and a search finds the others', async () => {
    const org = await stand.app.newOrganization()
    const { email } = await org.newUser(['Standard'])
    await stand.app.app.world.meta.run(sql`
      insert into users select (jsonb_populate_record(null::users, to_jsonb(u) || jsonb_build_object(
        'id', gen_random_uuid(), 'last_name', 'Number ' || n, 'email', n || u.email, 'email_key', n || u.email_key))).*
      from users u, generate_series(1000, 1120) n where u.email = ${email}`)
    const page = await stand.open('/app/settings?part=users', { key: org.key })
    const rows = page.getByRole('region', { name: 'Users table', exact: true }).getByRole('button', { name: /^Edit/ })
    await expect.poll(() => rows.count()).toBe(100)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBeGreaterThan(120)
    await page.getByLabel('Find a user').fill(`number 1077${email}`)
    await expect.poll(() => rows.count()).toBe(1)
    await rowOf(page, 'Users', `1077${email}`).waitFor()
    await page.getByLabel('Find a user').fill('nobody')
    await page.getByText('No user matches.').waitFor()
  })

  test('users are edited, deactivated, added to groups, and given custom roles', async () => {
    const org = await stand.app.newOrganization()
    const user = await org.newUser(['Standard'])
    const page = await stand.open('/app/settings?part=roles', { key: org.key })
    await page.getByRole('button', { name: 'New role' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Watcher')
    await page.getByRole('group', { name: 'Search' }).getByRole('checkbox').first().check()
    await page.getByRole('button', { name: 'Create role' }).click()
    await rowOf(page, 'Roles', 'Watcher').waitFor()

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Users' }).click()
    const row = rowOf(page, 'Users', user.email)
    await row.getByRole('button', { name: 'Edit' }).click()
    const change = page.getByRole('form', { name: `Edit ${user.email}` })
    await change.getByRole('button', { name: /Standard/ }).click()
    await page.getByRole('checkbox', { name: 'Watcher' }).check()
    await page.keyboard.press('Escape')
    await change.getByRole('button', { name: 'Save', exact: true }).click()
    await row.getByText('Standard, Watcher').waitFor()
    await row.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await row.getByText('deactivated', { exact: true }).waitFor()
    expect((await stand.app.ask('GET', '/auth/me', { token: user.token })).status).toBe(401)

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Groups' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Night shift')
    await page.getByRole('button', { name: 'Create group' }).click()
    await rowOf(page, 'Groups', 'Night shift').getByRole('button', { name: 'Members' }).click()
    await page.getByLabel('Add a member').selectOption({ label: user.email })
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await rowOf(page, 'Members', user.email).waitFor()
    const group = rowOf(page, 'Groups', 'Night shift').first()
    await group.getByRole('button', { name: 'Roles' }).click()
    const roles = page.getByRole('form', { name: 'Roles of Night shift' })
    await roles.getByRole('button', { name: /none/ }).click()
    await page.getByRole('checkbox', { name: 'Watcher' }).check()
    await page.keyboard.press('Escape')
    await roles.getByRole('button', { name: 'Save', exact: true }).click()
    await group.getByText('Watcher').waitFor()
    await page.getByLabel('Name', { exact: true }).first().fill('night SHIFT')
    await page.getByRole('button', { name: 'Create group' }).click()
    await page
      .locator('p', { hasText: /exist|taken|already/ })
      .first()
      .waitFor()
  })

  test('a rule about events is counted before it is created', async () => {
    const org = await stand.app.newOrganization()
    const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
    const raw = ['shop', 'lab'].map((team) => JSON.stringify({ message: 'paid', team })).join('\n')
    expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
    const page = await stand.open('/app/settings?part=rules', { key: org.key })
    await page.getByLabel(/^Principal/).selectOption({ label: 'role Read only' })
    await page.getByRole('combobox', { name: /^Access/ }).selectOption({ label: 'can see only some events of' })
    await page.getByLabel(/^Resource/).selectOption({ label: 'shop / web' })
    await page.getByLabel(/^Events/).fill("team = 'shop' AND")
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('alert').getByText('expected a condition').waitFor()
    expect(await axeFaults(page, 'rule')).toEqual([])
    await page.getByLabel(/^Events/).fill("team = 'shop'")
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('1 of 2 events of the last day would be visible.').waitFor()
    await page.getByRole('button', { name: 'Create rule' }).click()
    await rowOf(page, 'Access rules', "team = 'shop'").waitFor()
    const { policies } = (await org.ask<{ policies: Policy[] }>('GET', '/policies')).body
    expect(policies[0]).toMatchObject({ policy_type: 'ROLE_BASED', when: { where: "team = 'shop'" } })
  })

  test('a chat integration is created and edited; a rule hides a dataset; both are in the audit trail', async () => {
    const org = await stand.app.newOrganization()
    await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset: 'salaries' } })
    const user = await org.newUser(['Standard'])
    const page = await stand.open('/app/settings?part=integrations', { key: org.key })
    await page.getByLabel('New workspace').last().fill('Our chat')
    await page.getByLabel('URL of the webhook').fill('https://chat.example.org/hooks/7c1f')
    await page.getByRole('button', { name: 'Add workspace' }).click()
    await rowOf(page, 'Chat workspaces', 'Our chat').waitFor()
    await page.getByRole('button', { name: 'New chat integration' }).click()
    await page.getByRole('form', { name: 'New chat integration' }).getByLabel('Name').fill('On call')
    await page.getByRole('textbox', { name: 'Channels', exact: true }).fill('#oncall, #alerts')
    await page.getByRole('button', { name: 'Create chat integration' }).click()
    const channels = rowOf(page, 'Chat channels', 'On call').first()
    await channels.getByText('#oncall, #alerts').waitFor()
    await channels.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('form', { name: 'Edit On call' })
    await form.getByRole('textbox', { name: 'Channels' }).fill('#oncall')
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(() => channels.textContent()).not.toContain('#alerts')

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Access rules' }).click()
    await page.getByLabel(/^Principal/).selectOption({ label: user.email })
    await page.getByLabel(/^Resource/).selectOption({ label: 'shop / salaries' })
    await page.getByRole('button', { name: 'Create rule' }).click()
    await rowOf(page, 'Access rules', 'shop / salaries').waitFor()
    const seen = await stand.app.ask<{ datasets: { dataset: string }[] }>('GET', '/datasets', { token: user.token })
    expect(seen.body.datasets.map(({ dataset }) => dataset)).not.toContain('salaries')

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Audit trail' }).click()
    const record = rowOf(page, 'Audit', 'policies.create')
    await record.getByRole('button', { name: 'Details' }).click()
    await page.getByRole('region', { name: 'After' }).getByText('LOG_FORBID').waitFor()
    await page.getByLabel('Action').fill('datasets.create')
    await page.getByRole('button', { name: 'Find' }).click()
    await record.waitFor({ state: 'detached' })
    await rowOf(page, 'Audit', 'datasets.create').waitFor()
  })

  test('a webhook is created and tested, an e-mail template and a limit are created, and the organization is renamed', async () => {
    const org = await stand.app.newOrganization()
    const page = await stand.open('/app/settings?part=integrations', { key: org.key })
    await page.getByRole('button', { name: 'New webhook' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Bell')
    await page.getByLabel('URL', { exact: true }).fill('https://10.1.2.3/ring')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    const bell = rowOf(page, 'Webhooks', 'Bell')
    if (await bell.isVisible().catch(() => false)) await bell.getByRole('button', { name: 'Test' }).click()
    await page
      .getByText(/not allowed|no public|public address|refused|not delivered/i)
      .first()
      .waitFor()

    await page.getByRole('button', { name: 'New e-mail template' }).click()
    const template = page.getByRole('form', { name: 'New e-mail template' })
    await template.getByLabel('Name', { exact: true }).fill('Plain')
    await template.getByLabel(/^Body/).fill('Dear all, $title')
    await template.getByRole('button', { name: 'Create template' }).click()
    await rowOf(page, 'E-mail templates', 'Plain').waitFor()

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Limits' }).click()
    await page.getByLabel('Gigabytes per month').fill('2')
    await page.getByRole('button', { name: 'Create limit' }).click()
    await rowOf(page, 'Monthly limits', 'the organization').getByText('2.0 GB').waitFor()

    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Organization' }).click()
    await page.getByLabel('Name', { exact: true }).fill(`Mill ${org.orgId}`)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.').waitFor()
    await page.reload()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(`Mill ${org.orgId}`)
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
    for (const name of settingsNames) {
      if (name === 'Users') await page.goto(`${stand.app.url}/app/settings`)
      else await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()
      await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
      expect(await axeFaults(page, name)).toEqual([])
    }
  })
})
