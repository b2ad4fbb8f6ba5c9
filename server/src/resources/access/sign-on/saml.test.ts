import { createPublicKey, randomUUID, sign, verify, X509Certificate } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Idp, Login, SsoMapping } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SignedXml } from 'xml-crypto'
import { LOGOUT_URL, openSamlProvider, pem, type SamlPerson, type SamlProvider } from '../../../../../test/support/saml-provider.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app.close())

let count = 0
/** Logins from one address that do not come to an end are slowed down. */
const sender = () => ({ 'x-forwarded-for': `198.18.0.${++count}` })
const word = (): string => `s${++count}`

type Setup = {
  app: TestApp
  org: TestOrganization
  idp: Idp
  domain: string
  provider: SamlProvider
  metadata: string
  certificate: string
  acs: string
}
async function setup(over: object = {}, on = app): Promise<Setup> {
  const org = await on.newOrganization()
  const [domain, name] = [`${word()}.example`, word()]
  let certificate = ''
  const provider = await openSamlProvider(`https://${domain}/idp`, () => certificate)
  const body = {
    name,
    provider_type: 'SAML',
    meta_cert: provider.metadata,
    accept_idp_initiated: false,
    attribute_mappings: [],
    identifiers: [domain],
    ...over,
  }
  const made = await org.ask<Idp & { details: string }>('POST', '/sso/idps', { body })
  expect([made.status, made.body.details]).toEqual([201, undefined])
  const metadata = await (await fetch(`${on.url}/auth/saml/${made.body.id}/metadata`)).text()
  certificate = pem('CERTIFICATE', /X509Certificate>([^<]+)</.exec(metadata)?.[1]?.replace(/\s/g, '') ?? '')
  return { app: on, org, idp: made.body, domain, provider, metadata, certificate, acs: `${on.url}/auth/saml/${made.body.id}/acs` }
}

type Started = { url: string; cookie: string }
async function start({ app: on, idp }: Setup): Promise<Started> {
  const { body, headers } = await on.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: idp.id }, headers: sender() })
  return { url: body.url, cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}

/** What a browser does with the form of a provider: it posts it, and is sent to the page. */
async function post(acs: string, SAMLResponse: string) {
  const reply = await fetch(acs, {
    method: 'POST',
    body: new URLSearchParams({ SAMLResponse, RelayState: 'https://evil.example' }),
    headers: sender(),
    redirect: 'manual',
  })
  const location = new URL(reply.headers.get('location') ?? 'none:')
  return { status: reply.status, location, cookie: (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}
const finish = (answer: string, cookie: string) =>
  app.ask<Login & { details: string }>('POST', '/auth/sso/finish', { body: { answer }, headers: { cookie } })

async function signOn(made: Setup, person: SamlPerson, over: object = {}) {
  const { url, cookie } = await start(made)
  const { location } = await post(made.acs, await made.provider.answer(url, person, over))
  return finish(location.search, cookie)
}

const person = (domain: string, attributes: Record<string, string | string[]> = {}): SamlPerson => {
  const name = word()
  return { name, attributes: { email: `${name}@${domain}`, givenName: 'Grace', sn: 'Hopper', ...attributes } }
}

test('a person signs on for the first time, becomes a user with mapped roles, and is the same user again', async () => {
  const made = await setup()
  const mapping = { provider_key: 'groups', provider_value: 'operators', assign_attr: 'Standard' }
  expect((await made.org.ask<SsoMapping>('POST', '/sso/mappings', { body: mapping })).status).toBe(201)
  const grace = person(made.domain, { groups: ['operators', 'others'] })
  const first = await signOn(made, grace)
  expect([first.status, first.body.details]).toEqual([200, undefined])
  expect(first.body.user).toMatchObject({ email: grace.attributes?.email, first_name: 'Grace', last_name: 'Hopper', roles: ['Standard'] })
  expect(first.body.user.login_methods).toEqual([{ name: made.idp.name, enabled: true }])
  expect((await app.ask('GET', '/auth/me', { token: first.body.token })).status).toBe(200)
  const again = await signOn(made, { ...grace, attributes: { groups: 'others' } })
  expect([again.status, again.body.details]).toEqual([403, 'no role is assigned to this user; ask an administrator'])
  const renamed = await signOn(made, { ...grace, attributes: { groups: 'operators', email: `renamed@${made.domain}` } })
  expect(renamed.body.user.id).toBe(first.body.user.id)
})

test.each<[string, object]>([
  ['the response is signed', { signResponse: true, signAssertion: false }],
  ['the response and the assertion are signed', { signResponse: true, signAssertion: true }],
])('it counts if %s', async (_what, over) => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  expect((await signOn(made, person(made.domain), over)).status).toBe(200)
})

test.each([false, true])('an assertion may be encrypted for the key of the service; a signed response: %s', async (signResponse) => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const encryptionPublicKey = String(createPublicKey(made.certificate).export({ type: 'spki', format: 'pem' }))
  const encrypted = {
    encryptionPublicKey,
    encryptionCert: made.certificate,
    encryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
  }
  const first = await signOn(made, person(made.domain), { ...encrypted, signResponse })
  expect([first.status, first.body.details]).toEqual([200, undefined])
  const weak = {
    ...encrypted,
    disallowEncryptionWithInsecureAlgorithm: false,
    encryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#tripledes-cbc',
    signResponse,
  }
  expect((await signOn(made, person(made.domain), weak)).status).toBe(401)
})

test('the answer counts once, only in the browser that began, and leads to no other page', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const [mine, other] = [await start(made), await start(made)]
  const answer = await made.provider.answer(mine.url, person(made.domain))
  const first = await post(made.acs, answer)
  expect([first.status, first.location.origin + first.location.pathname]).toEqual([303, `${app.url}/app/sign-in`])
  const again = await post(made.acs, answer)
  expect(again.location.searchParams.get('error')).toBe('refused')
  expect((await finish(again.location.search, mine.cookie)).body.details).toContain('its answer is not valid')
  const withOtherCode = first.location.search.replace(/code=[^&]+/, 'code=guessed')
  expect((await finish(first.location.search, other.cookie)).status).toBe(401)
  expect((await finish(first.location.search, '')).status).toBe(401)
  expect((await finish(first.location.search, mine.cookie)).status).toBe(200)
  expect((await finish(first.location.search, mine.cookie)).status).toBe(401)
  const second = await start(made)
  await post(made.acs, await made.provider.answer(second.url, person(made.domain)))
  const { location } = await post(made.acs, await made.provider.answer((await start(made)).url, person(made.domain)))
  expect((await finish(withOtherCode, second.cookie)).status).toBe(401)
  expect((await finish(location.search, second.cookie)).status).toBe(401)
})

test('a login does not wait longer than ten minutes, and not for what the provider has not sent', async () => {
  const own = await openTestApp()
  try {
    const made = await setup({ default_roles: ['ReadOnly'] }, own)
    const { url, cookie } = await start(made)
    const late = await made.provider.answer(url, person(made.domain), { lifetimeInSeconds: 3_600 })
    const state = /ID="_([\w-]{43})"/.exec(
      inflateRawSync(Buffer.from(new URL(url).searchParams.get('SAMLRequest') ?? '', 'base64')).toString(),
    )?.[1]
    const other = await start(made)
    expect((await own.ask('POST', '/auth/sso/finish', { body: { answer: `?state=${state}&code=x` }, headers: { cookie } })).status).toBe(
      401,
    )
    const last = await made.provider.answer(other.url, person(made.domain), { lifetimeInSeconds: 3_600 })
    expect((await post(made.acs, late)).location.searchParams.get('error')).toBe('refused')
    own.clock.advance(10 * 60_000 + 1_000)
    expect((await post(made.acs, last)).location.searchParams.get('error')).toBe('refused')
  } finally {
    await own.close()
  }
})

test('an answer that nobody asked for counts only where that is allowed, and then once', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const to = { recipient: made.acs, audience: made.idp.app_client_id ?? '' }
  expect((await post(made.acs, await made.provider.unasked(to, person(made.domain)))).location.searchParams.get('error')).toBe('refused')
  const body = { accept_idp_initiated: true }
  expect((await made.org.ask<Idp>('PATCH', `/sso/idps/${made.idp.name}`, { body })).body.accept_idp_initiated).toBe(true)
  const answer = await made.provider.unasked(to, person(made.domain))
  const { location, cookie } = await post(made.acs, answer)
  expect((await finish(location.search, '')).status).toBe(401)
  expect((await finish(location.search, cookie)).status).toBe(200)
  expect((await post(made.acs, answer)).location.searchParams.get('error')).toBe('refused')
})

test('the name may be an address, or another one each time', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const email = `${word()}@${made.domain}`
  const named = await signOn(made, { name: email, format: 'emailAddress' })
  expect([named.status, named.body.user.email]).toEqual([200, email])
  const first = await signOn(made, { name: word(), format: 'transient', attributes: { email } })
  const second = await signOn(made, { name: word(), format: 'transient', attributes: { mail: email } })
  expect([first.body.user.id, second.body.user.id]).toEqual([named.body.user.id, named.body.user.id])
  expect((await signOn(made, { name: word(), format: 'transient' })).status).toBe(401)
})

test('attributes are mapped to names and the address', async () => {
  const attribute_mappings = [
    { provider_attr: 'urn:x:mail', user_attr: 'email' },
    { provider_attr: 'urn:x:given', user_attr: 'first_name' },
  ]
  const made = await setup({ default_roles: ['ReadOnly'], attribute_mappings })
  const email = `${word()}@${made.domain}`
  const { body } = await signOn(made, {
    name: word(),
    attributes: { 'urn:x:mail': email, 'urn:x:given': 'Ada', email: 'ada@evil.example' },
  })
  expect([body.user.email, body.user.first_name]).toEqual([email, 'Ada'])
})

test('another issuer knows nobody, not even under the same name', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const grace = person(made.domain)
  const first = await signOn(made, grace)
  expect(first.status).toBe(200)
  const moved = await openSamlProvider('https://moved.example/idp', () => made.certificate)
  const change = await made.org.ask<Idp>('PATCH', `/sso/idps/${made.idp.name}`, { body: { meta_cert: moved.metadata } })
  expect([change.status, change.body.meta_cert]).toEqual([200, moved.metadata])
  expect((await signOn(made, grace)).status).toBe(401)
  const stranger = { ...grace, attributes: { email: `stranger@${made.domain}` } }
  const second = await signOn({ ...made, provider: moved }, stranger)
  expect([second.status, second.body.user.id === first.body.user.id]).toEqual([200, false])
})

test('a person of another domain does not come in', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  expect((await signOn(made, person('elsewhere.example'))).status).toBe(403)
})

test('the metadata of the service name its addresses and its key, and the key is shown nowhere', async () => {
  const { org, idp, metadata, certificate, acs } = await setup()
  expect(metadata).toContain(`entityID="urn:uuid:${idp.id}"`)
  expect(metadata).toContain(`Location="${acs}"`)
  expect(metadata).toContain('AuthnRequestsSigned="true"')
  expect(new X509Certificate(certificate).subject).toBe('CN=Dendro')
  const shown = JSON.stringify([(await org.ask('GET', '/sso/idps')).body, (await org.ask('GET', '/audit')).body])
  expect(shown).toContain(idp.name)
  expect(shown).not.toMatch(/PRIVATE|client_secret|certificate"/)
  const other = crypto.randomUUID()
  for (const id of [other, '-'.repeat(36)]) expect((await fetch(`${app.url}/auth/saml/${id}/metadata`)).status).toBe(404)
  expect((await fetch(acs)).status).toBe(405)
  expect((await fetch(acs, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })).status).toBe(415)
  expect((await fetch(acs, { method: 'POST', body: new URLSearchParams({ SAMLResponse: 'x'.repeat(2_000_000) }) })).status).toBe(413)
})

test.each<[string, string, (metadata: string) => object]>([
  ['nothing', 'meta_cert', () => ({ meta_cert: undefined })],
  ['no XML', 'meta_cert', () => ({ meta_cert: 'x' })],
  ['a document type', 'meta_cert', (text) => ({ meta_cert: text.replace('?>', '?><!DOCTYPE x [<!ENTITY a "b">]>') })],
  ['no provider', 'meta_cert', (text) => ({ meta_cert: text.replaceAll('IDPSSODescriptor', 'SPSSODescriptor') })],
  ['no page', 'meta_cert', (text) => ({ meta_cert: text.replaceAll('SingleSignOnService', 'Other') })],
  [
    'a page without TLS',
    'meta_cert',
    (text) => ({ meta_cert: text.replace('https://provider.example/saml', 'http://provider.example/saml') }),
  ],
  ['a page that is a script', 'meta_cert', (text) => ({ meta_cert: text.replace('https://provider.example/saml', 'javascript:alert(1)') })],
  ['no key', 'meta_cert', (text) => ({ meta_cert: text.replace('use="signing"', 'use="encryption"') })],
  ['a broken key', 'meta_cert', (text) => ({ meta_cert: text.replace('Certificate>MII', 'Certificate>MIX') })],
  ['an issuer', 'issuer_url', () => ({ issuer_url: 'https://provider.example' })],
  ['a secret', 'client_secret', () => ({ client_secret: 'x' })],
])('a provider with %s is refused', async (_what, field, change) => {
  const org = await app.newOrganization()
  const { metadata } = await openSamlProvider('https://x.example', () => '')
  const body = { name: word(), provider_type: 'SAML', meta_cert: metadata, ...change(metadata) }
  const refused = await org.ask<{ errors: { field: string }[] }>('POST', '/sso/idps', { body })
  expect([refused.status, refused.body.errors?.[0]?.field]).toEqual([400, field])
})

test('OpenID Connect takes nothing of SAML', async () => {
  const org = await app.newOrganization()
  const body = { name: word(), provider_type: 'OIDC', issuer_url: 'https://x.example', client_id: 'x', client_secret: 'x' }
  for (const over of [
    { meta_cert: 'x' },
    { app_client_id: 'x' },
    { accept_idp_initiated: true },
    { attribute_mappings: [{ provider_attr: 'x', user_attr: 'email' }] },
  ])
    expect((await org.ask('POST', '/sso/idps', { body: { ...body, ...over } })).status).toBe(400)
})

const LOGOUT_NAME = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
const logoutRequest = (
  { provider, acs }: Setup,
  name: string,
  session: string,
  over: { id?: string; atMs?: number; to?: string } = {},
): string =>
  `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${over.id ?? `_l${randomUUID()}`}" Version="2.0" IssueInstant="${new Date(over.atMs ?? Date.now()).toISOString()}" Destination="${over.to ?? acs.replace(/acs$/, 'logout')}"><saml:Issuer>${provider.entityId}</saml:Issuer><saml:NameID Format="${LOGOUT_NAME}">${name}</saml:NameID>${session && `<samlp:SessionIndex>${session}</samlp:SessionIndex>`}</samlp:LogoutRequest>`

/** The address to which a provider sends a browser that is to be signed out. */
function logoutAddress({ acs, provider }: Setup, xml: string, key = provider.key, algorithm = 'rsa-sha256'): string {
  const deflated = deflateRawSync(xml).toString('base64')
  const query = `SAMLRequest=${encodeURIComponent(deflated)}&RelayState=r1&SigAlg=${encodeURIComponent(`http://www.w3.org/2001/04/xmldsig-more#${algorithm}`)}`
  const signature = sign(algorithm.replace('rsa-', ''), Buffer.from(query), key).toString('base64')
  return `${acs.replace(/acs$/, 'logout')}?${query}&Signature=${encodeURIComponent(signature)}`
}
const visit = (url: string) => fetch(url, { redirect: 'manual', headers: sender() })
const statusOf = async (token: string): Promise<number> => (await app.ask('GET', '/auth/me', { token })).status

test('a provider ends one session of a person, or all, and gets a signed answer', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const [ada, grace] = [person(made.domain), person(made.domain)]
  const tokenOf = async (who: SamlPerson, sessionIndex: string) => (await signOn(made, who, { sessionIndex })).body.token
  const [first, second, other] = [await tokenOf(ada, '_one'), await tokenOf(ada, '_two'), await tokenOf(grace, '_one')]
  const reply = await visit(logoutAddress(made, logoutRequest(made, ada.name, '_one')))
  const answer = new URL(reply.headers.get('location') ?? 'none:')
  expect([reply.status, answer.origin + answer.pathname, answer.searchParams.get('RelayState')]).toEqual([303, LOGOUT_URL, 'r1'])
  const signed = answer.search.slice(1).replace(/&Signature=.*/, '')
  const signature = Buffer.from(answer.searchParams.get('Signature') ?? '', 'base64')
  expect(verify('sha256', Buffer.from(signed), made.certificate, signature)).toBe(true)
  expect([await statusOf(first), await statusOf(second), await statusOf(other)]).toEqual([401, 200, 200])
  const form = new SignedXml({
    privateKey: made.provider.key,
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  })
  form.addReference({
    xpath: '/*',
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
  })
  form.computeSignature(logoutRequest(made, ada.name, ''))
  const body = new URLSearchParams({ SAMLRequest: Buffer.from(form.getSignedXml()).toString('base64') })
  const posted = await fetch(made.acs.replace(/acs$/, 'logout'), { method: 'POST', body, redirect: 'manual', headers: sender() })
  expect([posted.status, await statusOf(second), await statusOf(other)]).toEqual([303, 401, 200])
})

test('a request to end sessions counts once, and only if the provider has signed it for us and now', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const ada = person(made.domain)
  const id = `_l${randomUUID()}`
  const once = logoutAddress(made, logoutRequest(made, ada.name, '', { id }))
  expect((await visit(once)).status).toBe(303)
  const { token } = (await signOn(made, ada)).body
  const { key } = await openSamlProvider('https://other.example', () => '')
  const address = (over: Parameters<typeof logoutRequest>[3] = {}) => logoutAddress(made, logoutRequest(made, ada.name, '', over))
  const refused = [
    once,
    logoutAddress(made, logoutRequest(made, ada.name, ''), key),
    logoutAddress(made, logoutRequest(made, ada.name, ''), made.provider.key, 'rsa-sha224'),
    logoutAddress(made, logoutRequest(made, ada.name, '').replace(made.provider.entityId, 'https://other.example')),
    address().replace(/&Signature=.*/, ''),
    address().replace(/&SigAlg.*/, ''),
    address().replace('RelayState=r1', 'RelayState=r2'),
    address().replace('SAMLRequest=', 'SAMLRequest=x&SAMLRequest='),
    address({ atMs: Date.now() - 3_600_000 }),
    address({ atMs: Date.now() + 3_600_000 }),
    address({ to: 'https://other.example/logout' }),
    logoutAddress(made, `${logoutRequest(made, ada.name, '')}${' '.repeat(1_000_000)}`),
  ]
  for (const url of refused) expect([400, 401]).toContain((await visit(url)).status)
  expect(await statusOf(token)).toBe(200)
})
