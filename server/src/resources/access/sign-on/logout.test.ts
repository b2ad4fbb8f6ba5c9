import { verify } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import type { Idp, Login } from '@dendro/api'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CLIENT, type IdentityProvider, openIdentityProvider } from '../../../../../test/support/identity-provider.ts'
import { LOGOUT_URL, openSamlProvider, pem } from '../../../../../test/support/saml-provider.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let provider: IdentityProvider
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1' })
  provider = await openIdentityProvider(`${app.url}/app/sign-in`)
  org = await app.newOrganization()
})
afterAll(async () => {
  await provider.close()
  await app.close()
})

let count = 0
const sender = () => ({ 'x-forwarded-for': `198.18.4.${++count}` })
const statusOf = async (token: string): Promise<number> => (await app.ask('GET', '/auth/me', { token })).status
const logOut = (token: string) => app.ask<{ url?: string; message?: string }>('POST', '/auth/sso/logout', { token })

async function openIdp(body: object): Promise<Idp> {
  const made = await org.ask<Idp>('POST', '/sso/idps', { body: { name: `p${++count}`, default_roles: ['ReadOnly'], ...body } })
  expect(made.status).toBe(201)
  return made.body
}

async function start(id: string) {
  const begun = await app.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: id }, headers: sender() })
  return { url: begun.body.url, cookie: (begun.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}

async function finish(answer: string, cookie: string): Promise<string> {
  const login = await app.ask<Login>('POST', '/auth/sso/finish', { body: { answer }, headers: { cookie } })
  expect(login.status).toBe(200)
  return login.body.token
}

async function openIdSession() {
  const domain = `d${++count}.example`
  const fields = { provider_type: 'OIDC', issuer_url: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret }
  const idp = await openIdp({ ...fields, identifiers: [domain] })
  const sub = `s${++count}`
  const { url, cookie } = await start(idp.id)
  const token = await finish(await provider.authorize(url, { sub, email: `${sub}@${domain}`, email_verified: true }), cookie)
  return { idp, sub, token }
}

test('a logout of OpenID Connect ends the sessions of the sign-on, and leads to the provider with its ID token', async () => {
  const { idp, sub, token } = await openIdSession()
  const me = (await app.ask<{ provider?: string; user: { id: string } }>('GET', '/auth/me', { token })).body
  expect(me.provider).toBe(idp.name)
  const switched = await app.ask<{ token: string }>('POST', `/organizations/${org.orgId}/access/user/${me.user.id}/switch`, { token })
  const reply = await logOut(token)
  expect(reply.status).toBe(200)
  const url = new URL(reply.body.url ?? '')
  expect(url.origin).toBe(provider.issuer)
  expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${app.url}/app/sign-in`)
  expect(url.searchParams.get('client_id')).toBe(CLIENT.id)
  expect(decodeJwt(url.searchParams.get('id_token_hint') ?? '')).toMatchObject({ sub, iss: provider.issuer })
  expect((await fetch(url)).status).toBe(200)
  expect([await statusOf(token), await statusOf(switched.body.token)]).toEqual([401, 401])
})

test('a logout here goes on although the provider does not answer', async () => {
  const { token } = await openIdSession()
  provider.fail(503)
  const reply = await logOut(token)
  provider.fail(undefined)
  expect([reply.status, reply.body]).toEqual([200, {}])
  expect(await statusOf(token)).toBe(401)
})

test('a session by password ends alone, and an API key has no session', async () => {
  const user = await org.newUser(['ReadOnly'])
  expect((await app.ask<{ provider?: string }>('GET', '/auth/me', { token: user.token })).body.provider).toBeUndefined()
  const reply = await logOut(user.token)
  expect([reply.status, reply.body, await statusOf(user.token)]).toEqual([200, {}, 401])
  expect((await org.ask('POST', '/auth/sso/logout')).status).toBe(403)
})

test('a logout of SAML leads to the provider with a signed request that names person and session, and its answer to the sign-in page', async () => {
  const domain = `d${++count}.example`
  let certificate = ''
  const saml = await openSamlProvider(`https://${domain}/idp`, () => certificate)
  const idp = await openIdp({ provider_type: 'SAML', meta_cert: saml.metadata, identifiers: [domain] })
  const address = `${app.url}/auth/saml/${idp.id}`
  certificate = pem(
    'CERTIFICATE',
    (/<ds:X509Certificate>([\s\S]*?)</.exec(await (await fetch(`${address}/metadata`)).text())?.[1] ?? '').replace(/\s/g, ''),
  )
  const { url, cookie } = await start(idp.id)
  const person = { name: `n${++count}`, attributes: { email: `ada@${domain}` } }
  const body = new URLSearchParams({ SAMLResponse: await saml.answer(url, person, { sessionIndex: '_at-the-provider' }) })
  const sent = await fetch(`${address}/acs`, { method: 'POST', body, redirect: 'manual', headers: sender() })
  const token = await finish(new URL(sent.headers.get('location') ?? 'none:').search, cookie)
  const location = new URL((await logOut(token)).body.url ?? 'none:')
  expect([location.origin + location.pathname, await statusOf(token)]).toEqual([LOGOUT_URL, 401])
  const xml = inflateRawSync(Buffer.from(location.searchParams.get('SAMLRequest') ?? '', 'base64')).toString()
  for (const part of ['LogoutRequest', `>${person.name}<`, '>_at-the-provider<', 'nameid-format:persistent', `>${idp.app_client_id}<`])
    expect(xml).toContain(part)
  const signed = location.search.slice(1).replace(/&Signature=.*/, '')
  const signature = Buffer.from(location.searchParams.get('Signature') ?? '', 'base64')
  expect(verify('sha256', Buffer.from(signed), certificate, signature)).toBe(true)
  for (const request of [
    fetch(`${address}/logout?SAMLResponse=x&RelayState=https://evil.example`, { redirect: 'manual', headers: sender() }),
    fetch(`${address}/logout`, { method: 'POST', body: new URLSearchParams({ SAMLResponse: 'x' }), redirect: 'manual', headers: sender() }),
  ]) {
    const back = await request
    expect([back.status, back.headers.get('location')]).toEqual([303, `${app.url}/app/sign-in`])
  }
})
