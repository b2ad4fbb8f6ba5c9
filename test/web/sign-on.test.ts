import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CLIENT, type IdentityProvider, openIdentityProvider } from '../support/identity-provider.ts'
import { openSamlProvider } from '../support/saml-provider.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand
let provider: IdentityProvider
const DOMAIN = 'staff.example'
const grace = {
  sub: 'grace',
  email: `grace@${DOMAIN}`,
  email_verified: true,
  given_name: 'Grace',
  family_name: 'Hopper',
  groups: ['operators'],
}

describe.skipIf(browserPath === undefined)('single sign-on in the web app', () => {
  beforeAll(async () => {
    stand = await openStand({ env: { DENDRO_WEBHOOK_ALLOW: '127.0.0.1' } })
    provider = await openIdentityProvider(`${stand.app.url}/app/sign-in`)
    const idp = {
      name: 'Staff',
      provider_type: 'OIDC',
      issuer_url: provider.issuer,
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      identifiers: [DOMAIN],
    }
    expect((await stand.org.ask('POST', '/sso/idps', { body: idp })).status).toBe(201)
    const mapping = { provider_key: 'groups', provider_value: 'operators', assign_attr: 'Standard' }
    expect((await stand.org.ask('POST', '/sso/mappings', { body: mapping })).status).toBe(201)
  })
  afterEach(() => stand.endTest())
  afterAll(async () => {
    await provider?.close()
    await stand?.close()
  })

  const openForm = async (email: string, width?: number) => {
    const page = await stand.open('/app/sign-in', { key: null, ...(width ? { width } : {}) })
    await page.getByRole('button', { name: 'Single sign-on' }).click()
    await page.getByLabel('E-mail').fill(email)
    return page
  }

  test('a person signs in with the provider of the domain, and is who the provider says', async () => {
    const page = await openForm(grace.email)
    provider.expect(grace)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL(/\/app\/explore/)
    const { users } = (await stand.org.ask<{ users: { email: string; first_name: string; roles: string[] }[] }>('GET', '/users')).body
    expect(users).toContainEqual(expect.objectContaining({ email: grace.email, first_name: 'Grace', roles: ['Standard'] }))
    // The answer of the provider stays in no address.
    expect(page.url()).not.toContain('code=')
  })

  test('a user who signs out may end the session at the provider too, and comes back to the form', async () => {
    const page = await openForm(grace.email)
    provider.expect(grace)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL(/\/app\/explore/)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    expect(await axeFaults(page, 'sign out')).toEqual([])
    const left = page.waitForRequest((request) => request.url().startsWith(`${provider.issuer}/session/end`))
    await page.getByRole('button', { name: 'Sign out of Staff too' }).click()
    expect(new URL((await left).url()).searchParams.get('post_logout_redirect_uri')).toBe(`${stand.app.url}/app/sign-in`)
    await page.getByText('Do you want to sign-out from').waitFor()
    await page.getByRole('button', { name: 'Yes, sign me out' }).click()
    await page.getByRole('button', { name: 'Single sign-on' }).waitFor()
  })

  test('a person who gets no role sees why, and comes back to the form', async () => {
    const page = await openForm(`mallory@${DOMAIN}`, 390)
    provider.expect({ ...grace, sub: 'mallory', email: `mallory@${DOMAIN}`, groups: [] })
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Back to sign-in' }).click()
    await page.getByRole('button', { name: 'Single sign-on' }).waitFor()
  })

  test('a domain without a provider is named', async () => {
    const page = await openForm('somebody@elsewhere.example', 390)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('No identity provider is set up for this e-mail address.').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('its settings list providers and mappings, and make others: %s, %d pixels', async (theme, width) => {
    const page = await stand.open('/app/settings?part=sign-on', { theme, width })
    const providers = page.getByRole('region', { name: 'Identity providers', exact: true }).first()
    await providers.getByText(provider.issuer).waitFor()
    const name = `Partners ${theme}`
    await page.getByRole('button', { name: 'New identity provider' }).click()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Issuer').fill('https://partners.example')
    await page.getByLabel('Client id').fill('dendro')
    await page.getByLabel('Client secret').fill('a secret')
    await page.getByLabel('E-mail domains').fill(`${theme}.example, partners.example`)
    expect(await axeFaults(page, `settings ${theme}`)).toEqual([])
    await page.getByRole('button', { name: 'Create identity provider' }).click()
    await providers.getByText(`${theme}.example, partners.example`).waitFor()
    await page.getByRole('button', { name: 'New mapping' }).click()
    await page.getByLabel('Value').fill(`${theme} team`)
    await page.getByLabel('Gives').selectOption({ value: 'Standard' })
    await page.getByRole('button', { name: 'Create mapping' }).click()
    await page.getByRole('region', { name: 'Mappings', exact: true }).first().getByText(`${theme} team`).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const { idps } = (await stand.org.ask<{ idps: { name: string; identifiers: string[] }[] }>('GET', '/sso/idps')).body
    expect(idps).toContainEqual(expect.objectContaining({ name, identifiers: [`${theme}.example`, 'partners.example'] }))
  })

  test('a SAML provider is made from its metadata, and the list has the address of those of the service', async () => {
    const saml = await openSamlProvider('https://saml.example/idp', () => '')
    const page = await stand.open('/app/settings?part=sign-on', { width: 390 })
    await page.getByRole('button', { name: 'New identity provider' }).click()
    await page.getByLabel('Name', { exact: true }).fill('By SAML')
    await page.getByLabel('Protocol').selectOption('SAML 2.0')
    await page.getByLabel('Metadata of the provider').fill(saml.metadata)
    await page.getByLabel('E-mail domains').fill('saml.example')
    expect(await axeFaults(page, 'settings SAML')).toEqual([])
    await page.getByRole('button', { name: 'Create identity provider' }).click()
    const providers = page.getByRole('region', { name: 'Identity providers', exact: true }).first()
    await providers.getByText(/\/auth\/saml\/[\da-f-]{36}\/metadata/).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const { idps } = (await stand.org.ask<{ idps: { name: string; meta_cert?: string }[] }>('GET', '/sso/idps')).body
    expect(idps).toContainEqual(expect.objectContaining({ name: 'By SAML', provider_type: 'SAML', identifiers: ['saml.example'] }))
  })

  test.each([
    ['light', 1440],
    ['dark', 390],
  ] as const)('a provider is edited with all that the API knows of it: %s, %d pixels', async (theme, width) => {
    const saml = await openSamlProvider(`https://${theme}.example/idp`, () => '')
    const name = `Edited ${theme}`
    const local = await stand.org.newUser(['Administrator'])
    const body = { name, provider_type: 'SAML', meta_cert: saml.metadata, identifiers: [`edited-${theme}.example`] }
    expect((await stand.org.ask('POST', '/sso/idps', { body })).status).toBe(201)
    const page = await stand.open('/app/settings?part=sign-on', { theme, width })
    await page.getByRole('button', { name: `Edit the identity provider ${name}` }).click()
    const form = page.getByRole('form', { name: `Edit ${name}` })
    await form.getByText(/\/auth\/saml\/[\da-f-]{36}\/acs/).waitFor()
    await form.getByLabel('Entity id of Dendro').fill('https://dendro.example/saml')
    await form.getByLabel('E-mail address').fill('mail')
    await form.getByLabel('Users with these domains must use single sign-on').check()
    await form.getByLabel('Local administrator').selectOption(local.email)
    await form.getByLabel('Longest session in minutes').fill('45')
    await form.getByLabel('Accept sign-ons from the page of the provider').check()
    expect(await axeFaults(page, `edit ${theme}`)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    const idp = await stand.org.ask('GET', `/sso/idps/${encodeURIComponent(name)}`)
    expect(idp.body).toMatchObject({
      app_client_id: 'https://dendro.example/saml',
      attribute_mappings: [{ provider_attr: 'mail', user_attr: 'email' }],
      is_required: true,
      local_administrator: local.id,
      session_minutes: 45,
      accept_idp_initiated: true,
    })
    await page.getByRole('button', { name: `Edit the identity provider ${name}` }).click()
    await form.getByLabel('Longest session in minutes').fill('')
    await form.getByLabel('Accept sign-ons from the page of the provider').uncheck()
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    const { body: after } = await stand.org.ask<object>('GET', `/sso/idps/${encodeURIComponent(name)}`)
    expect(after).toMatchObject({ accept_idp_initiated: false, is_required: true })
    expect(after).not.toHaveProperty('session_minutes')
    expect((await stand.org.ask('DELETE', `/sso/idps/${encodeURIComponent(name)}`)).status).toBe(204)
  })

  test('a preview shows what claims or an ID token would get, and a mapping may give a group', async () => {
    const group = await stand.org.ask<{ id: string }>('POST', '/groups', { body: { name: 'Night watch' } })
    expect(group.status).toBe(201)
    const page = await stand.open('/app/settings?part=sign-on', { width: 390 })
    await page.getByRole('button', { name: 'New mapping' }).click()
    await page.getByLabel('Claim', { exact: true }).fill('resource_access.dendro.roles')
    await page.getByLabel('Value').fill('night')
    await page.getByLabel('Gives').selectOption({ label: 'group Night watch' })
    await page.getByRole('form', { name: 'New mapping' }).getByLabel('Provider').selectOption('Staff')
    await page.getByRole('button', { name: 'Create mapping' }).click()
    await page.getByRole('region', { name: 'Mappings', exact: true }).first().getByText('group Night watch').waitFor()
    const preview = page.getByRole('form', { name: 'What would this sign-on get?' })
    await preview.getByLabel('By the provider').selectOption('Staff')
    await preview.getByRole('button', { name: 'Show' }).click()
    await preview.getByText('Roles: Standard. Groups: none.').waitFor()
    const claims = { sub: 'ada', resource_access: { dendro: { roles: ['night'] } } }
    await preview.getByLabel('Claims').fill(`e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.e30`)
    await preview.getByRole('button', { name: 'Show' }).click()
    await preview.getByText('Roles: none. Groups: Night watch.').waitFor()
    await preview.getByLabel('Claims').fill('no claims')
    await preview.getByText('Neither a JSON object nor an ID token.').waitFor()
    expect(await axeFaults(page, 'preview')).toEqual([])
  })

  test('the token of a directory is made, used, replaced and revoked', async () => {
    const page = await stand.open('/app/settings?part=sign-on', { width: 390 })
    const directory = page.getByRole('region', { name: 'Users and groups from a directory' })
    await directory.getByText(`${stand.app.url}/scim/v2`).waitFor()
    await directory.getByLabel('Name of the token').fill('Directory')
    await directory.getByRole('button', { name: 'Create token' }).click()
    const first = (await directory.getByText(/^dk_\S+$/).textContent()) ?? ''
    const ask = async (token: string) =>
      (await stand.app.ask('GET', '/scim/v2/Users', { headers: { authorization: `Bearer ${token}` } })).status
    expect(await ask(first)).toBe(200)
    await directory.getByText('none yet').waitFor()
    await directory.getByRole('button', { name: 'Replace the token Directory' }).click()
    await expect.poll(() => directory.getByText(/^dk_\S+$/).textContent()).not.toBe(first)
    const second = (await directory.getByText(/^dk_\S+$/).textContent()) ?? ''
    expect([await ask(first), await ask(second)]).toEqual([200, 200])
    expect(await axeFaults(page, 'directory')).toEqual([])
    await directory.getByRole('button', { name: 'Revoke the token Directory' }).last().click()
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await expect.poll(async () => [await ask(first), await ask(second)].toSorted()).toEqual([200, 401])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })
})
