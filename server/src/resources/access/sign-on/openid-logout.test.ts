import { randomUUID } from 'node:crypto'
import type { Idp, Login } from '@dendro/api'
import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { type ForgedProvider, openForgedProvider } from './forged-provider.fixture.ts'

let keys: Awaited<ReturnType<typeof generateKeyPair>>
let app: TestApp
let provider: ForgedProvider
let org: TestOrganization
let idp: Idp
beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true })
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1' })
  provider = await openForgedProvider(keys)
  org = await app.newOrganization()
  const body = {
    name: 'leaving',
    provider_type: 'OIDC',
    issuer_url: provider.issuer,
    client_id: 'dendro',
    client_secret: 'a secret',
    identifiers: ['leaving.example'],
    default_roles: ['ReadOnly'],
  }
  idp = (await org.ask<Idp>('POST', '/sso/idps', { body })).body
})
afterAll(async () => {
  await provider.close()
  await app.close()
})

let count = 0
const sender = () => ({ 'x-forwarded-for': `198.18.1.${++count}` })

async function signOn(sub: string, sid: string): Promise<string> {
  const started = await app.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: idp.id }, headers: sender() })
  const cookie = (started.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const claims = { sub, sid, email: `${sub}@leaving.example`, email_verified: true }
  const answer = provider.code({ claims }, started.body.url)
  const login = await app.ask<Login>('POST', '/auth/sso/finish', { body: { answer }, headers: { cookie } })
  expect(login.status).toBe(200)
  return login.body.token
}

const statusOf = async (token: string): Promise<number> => (await app.ask('GET', '/auth/me', { token })).status

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} }
type Over = { key?: typeof keys.privateKey }
function logoutToken(claims: Record<string, unknown>, { key = keys.privateKey }: Over = {}): Promise<string> {
  const iat = Math.floor(Date.now() / 1_000)
  return new SignJWT({ iss: provider.issuer, aud: 'dendro', iat, exp: iat + 120, jti: randomUUID(), events: EVENTS, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'logout+jwt' })
    .sign(key)
}
const send = async (logout_token: string, id = idp.id): Promise<number> => {
  const request = { method: 'POST', body: new URLSearchParams({ logout_token }), headers: sender() }
  return (await fetch(`${app.url}/auth/oidc/${id}/logout`, request)).status
}

test("a provider ends one session, or all sessions of a person, and nobody else's", async () => {
  const [ada, grace] = [`ada${randomUUID()}`, `grace${randomUUID()}`]
  const [first, second, third, others] = [
    await signOn(ada, 'a1'),
    await signOn(ada, 'a2'),
    await signOn(ada, 'a3'),
    await signOn(grace, 'g1'),
  ]
  expect(await send(await logoutToken({ sub: ada, sid: 'a1' }))).toBe(200)
  expect([await statusOf(first), await statusOf(second), await statusOf(others)]).toEqual([401, 200, 200])
  expect(await send(await logoutToken({ sid: 'a2' }))).toBe(200)
  expect([await statusOf(second), await statusOf(third)]).toEqual([401, 200])
  expect(await send(await logoutToken({ sub: grace, sid: 'a3' }))).toBe(200)
  expect(await statusOf(third)).toBe(200)
  const fourth = await signOn(ada, 'a4')
  expect(await send(await logoutToken({ sub: ada }))).toBe(200)
  expect([await statusOf(third), await statusOf(fourth), await statusOf(others)]).toEqual([401, 401, 200])
  const audit = JSON.stringify((await org.ask('GET', '/audit')).body)
  expect(audit).toContain('signOn.openIdLogout')
})

test('a session in another organization ends with the one from which the user switched', async () => {
  const ada = `ada${randomUUID()}`
  const token = await signOn(ada, 'switched')
  const { user } = (await app.ask<{ user: { id: string } }>('GET', '/auth/me', { token })).body
  const switched = await app.ask<{ token: string }>('POST', `/organizations/${org.orgId}/access/user/${user.id}/switch`, { token })
  expect([switched.status, await statusOf(switched.body.token)]).toEqual([200, 200])
  expect(await send(await logoutToken({ sid: 'switched' }))).toBe(200)
  expect([await statusOf(token), await statusOf(switched.body.token)]).toEqual([401, 401])
})

test('a token counts once', async () => {
  const ada = `ada${randomUUID()}`
  const once = await logoutToken({ sub: ada })
  expect(await send(once)).toBe(200)
  const token = await signOn(ada, 'later')
  expect(await send(once)).toBe(401)
  expect(await statusOf(token)).toBe(200)
})

const nowS = (): number => Math.floor(Date.now() / 1_000)

test.each<[string, Record<string, unknown>]>([
  ['of another issuer', { iss: 'https://evil.example' }],
  ['for another audience', { aud: 'somebody' }],
  ['of the past', { iat: nowS() - 7_200, exp: nowS() - 7_000 }],
  ['that was made long ago', { iat: nowS() - 7_200, exp: nowS() + 7_000 }],
  ['of the future', { iat: nowS() + 7_200, exp: nowS() + 7_400 }],
  ['without an id', { jti: undefined }],
  ['without a time', { iat: undefined }],
  ['without an event', { events: undefined }],
  ['with another event', { events: { 'https://x.example': {} } }],
  ['with a nonce, as an ID token has', { nonce: 'x' }],
  ['that names nobody', { sub: undefined }],
])('a token %s is refused', async (_what, claims) => {
  const ada = `ada${randomUUID()}`
  const token = await signOn(ada, randomUUID())
  expect(await send(await logoutToken({ sub: ada, ...claims }))).toBe(401)
  expect(await statusOf(token)).toBe(200)
})

test('keys of others count for nothing, and what is no token is refused', async () => {
  const ada = `ada${randomUUID()}`
  const token = await signOn(ada, randomUUID())
  const other = await generateKeyPair('RS256')
  expect(await send(await logoutToken({ sub: ada }, { key: other.privateKey }))).toBe(401)
  const [header, claims] = (await logoutToken({ sub: ada })).split('.')
  expect(await send(`${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`)).toBe(401)
  expect([await send(`${header}.${claims}.`), await send('x'), await send('')]).toEqual([401, 401, 400])
  expect(await send(await logoutToken({ sub: ada }), randomUUID())).toBe(404)
  expect(await statusOf(token)).toBe(200)
})

const visitFrame = async (query: Record<string, string> | string, id = idp.id) => {
  const address = `${app.url}/auth/oidc/${id}/front-channel-logout?${new URLSearchParams(query)}`
  return fetch(address, { headers: sender(), redirect: 'manual' })
}

test('a frame of the provider ends the session that it names, if it names the provider, and no other', async () => {
  const ada = `ada${randomUUID()}`
  const [one, other] = [`f1${ada}`, `f2${ada}`]
  const [first, second] = [await signOn(ada, one), await signOn(ada, other)]
  const reply = await visitFrame({ iss: provider.issuer, sid: one })
  expect([reply.status, reply.headers.get('cache-control'), reply.headers.get('x-frame-options')]).toEqual([200, 'no-store', null])
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200])
  const unknown = await visitFrame({ iss: provider.issuer, sid: randomUUID() })
  expect([unknown.status, await unknown.text()]).toEqual([200, await reply.text()])
  for (const [query, status] of [
    [{ iss: 'https://evil.example', sid: other }, 401],
    [{ sid: other }, 400],
    [{ iss: provider.issuer }, 400],
    [`iss=${encodeURIComponent(provider.issuer)}&sid=${other}&sid=${other}`, 400],
    [{ iss: provider.issuer, sid: 'x'.repeat(1_001) }, 400],
  ] as const)
    expect((await visitFrame(query)).status).toBe(status)
  expect((await visitFrame({ iss: provider.issuer, sid: other }, randomUUID())).status).toBe(404)
  expect(await statusOf(second)).toBe(200)
})

test('a frame of another provider cannot end a session, although it knows its name', async () => {
  const ada = `ada${randomUUID()}`
  const token = await signOn(ada, `mixed${ada}`)
  const there = await app.newOrganization()
  const body = {
    name: 'other',
    provider_type: 'OIDC',
    issuer_url: provider.issuer,
    client_id: 'dendro',
    client_secret: 'a secret',
    identifiers: ['other.example'],
  }
  const theirs = (await there.ask<Idp>('POST', '/sso/idps', { body })).body
  expect((await visitFrame({ iss: provider.issuer, sid: `mixed${ada}` }, theirs.id)).status).toBe(200)
  expect(await send(await logoutToken({ sub: ada }), theirs.id)).toBe(200)
  expect(await statusOf(token)).toBe(200)
})
