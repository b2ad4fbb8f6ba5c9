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
    await page.getByLabel('Gives').fill('Standard')
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
})
