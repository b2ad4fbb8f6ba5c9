import type { Login, User } from '@dendro/api'
import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { CLIENT, type IdentityProvider, openIdentityProvider } from '../../../../../test/support/identity-provider.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { makeServiceDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import { sql } from '../../../meta/sql.ts'
import { openForgedProvider } from './forged-provider.fixture.ts'
import { signOnRecheck } from './recheck.ts'

const MINUTE_MS = 60_000
const PATIENCE = { timeout: 240_000, interval: 200 }

let database: TestDatabase
/** Three processes: two that may check sign-ons, and one that only serves requests. */
let apps: TestApp[]
let app: TestApp
let provider: IdentityProvider
beforeAll(async () => {
  database = await makeServiceDatabase(inject('stores'))
  const env = { DENDRO_POSTGRES_URL: database.url, DENDRO_WEBHOOK_ALLOW: '127.0.0.1' }
  app = await openTestApp(env, (world) => [signOnRecheck(world)])
  apps = [app, await openTestApp(env, (world) => [signOnRecheck(world)]), await openTestApp(env)]
})
afterAll(async () => {
  for (const one of apps) await one.close()
  await database.drop()
})
beforeEach(async () => {
  provider = await openIdentityProvider(`${app.url}/app/sign-in`)
  provider.refreshes(true)
})
afterEach(() => provider.close())

/** Moves the clocks of all processes. */
const advance = (ms: number): void => {
  for (const one of apps) one.clock.advance(ms)
}

let count = 0
type Setup = { org: TestOrganization; id: string; domain: string; name: string }
async function setup(over: object = {}): Promise<Setup> {
  const org = await app.newOrganization()
  const [domain, name] = [`d${++count}.example`, `p${count}`]
  const body = {
    name,
    provider_type: 'OIDC',
    issuer_url: provider.issuer,
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    identifiers: [domain],
    default_roles: ['ReadOnly'],
    ...over,
  }
  const made = await org.ask<{ id: string; details: string }>('POST', '/sso/idps', { body })
  expect([made.status, made.body.details]).toEqual([201, undefined])
  return { org, id: made.body.id, domain, name }
}

async function signOn({ id, domain }: Setup, sub = `s${++count}`) {
  const headers = { 'x-forwarded-for': `198.18.3.${++count}` }
  const started = await app.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: id }, headers })
  const cookie = (started.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const answer = await provider.authorize(started.body.url, { sub, email: `${sub}@${domain}`, email_verified: true })
  const login = await app.ask<Login>('POST', '/auth/sso/finish', { body: { answer }, headers: { cookie } })
  return { status: login.status, sub, token: login.body.token, expiresAt: login.body.expires_at, userId: login.body.user?.id ?? '' }
}

/** What each process says to a token. */
const statusOf = (token: string): Promise<number[]> =>
  Promise.all(apps.map(async (one) => (await one.ask('GET', '/auth/me', { token })).status))
const [HERE, GONE] = [
  [200, 200, 200],
  [401, 401, 401],
]

const rowOf = (userId: string) =>
  app.app.world.meta.one<{ checked_at: number; failures: number; token: Buffer }>(
    sql`select checked_at, failures, token from sso_sign_ons where user_id = ${userId}`,
  )
/** Lets the next check of a user happen. */
async function checked(userId: string): Promise<void> {
  const before = await rowOf(userId)
  advance(4 * MINUTE_MS)
  await vi.waitUntil(async () => (await rowOf(userId))?.checked_at !== before?.checked_at, PATIENCE)
}

test('a user whom the provider has removed loses all sessions within five minutes, in every process; others keep theirs', async () => {
  const made = await setup()
  const [grace, ada] = [await signOn(made), await signOn(made)]
  const again = await signOn(made, grace.sub)
  const { body: switched } = await app.ask<{ token: string }>(
    'POST',
    `/organizations/${made.org.orgId}/access/user/${grace.userId}/switch`,
    { token: grace.token },
  )
  for (const token of [grace.token, again.token, switched.token, ada.token]) expect(await statusOf(token)).toEqual(HERE)
  provider.remove(grace.sub)
  advance(5 * MINUTE_MS)
  for (const token of [grace.token, again.token, switched.token]) await expect.poll(() => statusOf(token), PATIENCE).toEqual(GONE)
  await expect.poll(async () => (await rowOf(ada.userId))?.failures, PATIENCE).toBe(0)
  expect(await statusOf(ada.token)).toEqual(HERE)
  const audit = JSON.stringify((await made.org.ask('GET', '/audit')).body)
  expect(audit).toContain('sign_on_recheck')
  expect((await made.org.ask<User>('GET', `/users/${grace.userId}`)).body.status).toBe('ACTIVE')
})

test('the personal keys of a removed user rest, also hours after the last session, and work again after a sign-on', async () => {
  const [made, strict] = [await setup(), await setup({ deactivate_refused: true })]
  const keyOf = async (of: Setup) => {
    const { token, sub, userId } = await signOn(of)
    const key = await app.ask<{ key: string }>('POST', '/auth/api-keys', { token, body: { name: 'script', roles: ['AdminApi'] } })
    expect([key.status, JSON.stringify(key.body)]).toEqual([201, expect.any(String)])
    expect((await app.ask('POST', '/auth/logout', { token })).status).toBeLessThan(300)
    return { sub, userId, key: key.body.key }
  }
  const [grace, ada, ida] = [await keyOf(made), await keyOf(made), await keyOf(strict)]
  const statusOfKey = (key: string): Promise<number[]> =>
    Promise.all(apps.map(async (one) => (await one.ask('GET', '/auth/me', { key })).status))
  // A request alone does not say that its check is stored: one that ends after the clock has moved on counts for the next hour.
  const checkTimes = () => Promise.all([grace, ada, ida].map(async ({ userId }) => (await rowOf(userId))?.checked_at))
  for (let hour = 0; hour < 3; hour += 1) {
    const before = await checkTimes()
    advance(60 * MINUTE_MS)
    await vi.waitUntil(async () => (await checkTimes()).every((time, at) => time !== before[at]), PATIENCE)
  }
  for (const { key } of [grace, ada, ida]) expect(await statusOfKey(key)).toEqual(HERE)
  for (const { sub } of [grace, ida]) provider.remove(sub)
  advance(5 * MINUTE_MS)
  for (const { key } of [grace, ida]) await expect.poll(() => statusOfKey(key), PATIENCE).toEqual(GONE)
  expect(await statusOfKey(ada.key)).toEqual(HERE)
  const suspended = async () =>
    (await made.org.ask<{ api_keys: { is_suspended?: boolean }[] }>('GET', '/api-keys')).body.api_keys.filter(
      ({ is_suspended }) => is_suspended,
    )
  expect(await suspended()).toHaveLength(1)
  provider.admit(grace.sub)
  expect((await signOn(made, grace.sub)).status).toBe(200)
  expect(await statusOfKey(grace.key)).toEqual(HERE)
  expect(await suspended()).toEqual([])
})

test('a refresh token is used once and replaced, and one process at a time asks', async () => {
  const made = await setup()
  const grace = await signOn(made)
  const first = await rowOf(grace.userId)
  const before = provider.requests()
  await checked(grace.userId)
  await checked(grace.userId)
  expect(provider.requests() - before).toBe(2)
  const last = await rowOf(grace.userId)
  expect(last?.failures).toBe(0)
  expect(last?.token.equals(first?.token ?? Buffer.of())).toBe(false)
  expect(await statusOf(grace.token)).toEqual(HERE)
})

test('without a refresh token the user info is asked, and the session lasts as long as the access token or the setting', async () => {
  provider.refreshes(false)
  const made = await setup()
  const grace = await signOn(made)
  const lastsS = (expiresAt: number): number => expiresAt - app.clock.nowMs() / 1_000
  expect(lastsS(grace.expiresAt)).toBeGreaterThan(3_000)
  expect(lastsS(grace.expiresAt)).toBeLessThanOrEqual(3_600)
  await made.org.ask('PATCH', `/sso/idps/${made.name}`, { body: { session_minutes: 10 } })
  const short = await signOn(made)
  expect(lastsS(short.expiresAt)).toBeLessThanOrEqual(600)
  provider.remove(grace.sub)
  advance(5 * MINUTE_MS)
  await expect.poll(() => statusOf(grace.token), PATIENCE).toEqual(GONE)
  expect(await statusOf(short.token)).toEqual(HERE)
  advance(6 * MINUTE_MS)
  expect(await statusOf(short.token)).toEqual(GONE)
})

test('a provider that fails ends nothing for about an hour, then ends sessions; one answer starts the count again', async () => {
  const made = await setup()
  const grace = await signOn(made)
  provider.fail(503)
  await checked(grace.userId)
  await checked(grace.userId)
  expect((await rowOf(grace.userId))?.failures).toBe(2)
  provider.fail(undefined)
  await checked(grace.userId)
  expect((await rowOf(grace.userId))?.failures).toBe(0)
  provider.fail(500)
  await app.app.world.meta.run(sql`update sso_sign_ons set failures = 18 where user_id = ${grace.userId}`)
  await checked(grace.userId)
  expect((await rowOf(grace.userId))?.failures).toBe(19)
  expect(await statusOf(grace.token)).toEqual(HERE)
  advance(4 * MINUTE_MS)
  await expect.poll(() => statusOf(grace.token), PATIENCE).toEqual(GONE)
  provider.fail(undefined)
  expect((await signOn(made, grace.sub)).status).toBe(200)
})

test('a wrong secret of the client refuses nobody, and neither does a clock that jumps', async () => {
  const made = await setup()
  const grace = await signOn(made)
  await made.org.ask('PATCH', `/sso/idps/${made.name}`, { body: { client_secret: 'another' } })
  await checked(grace.userId)
  expect([(await rowOf(grace.userId))?.failures, await statusOf(grace.token)]).toEqual([1, HERE])
  await made.org.ask('PATCH', `/sso/idps/${made.name}`, { body: { client_secret: CLIENT.secret } })
  await app.app.world.meta.run(sql`update sso_sign_ons set checked_at = ${app.clock.nowMs() + 86_400_000} where user_id = ${grace.userId}`)
  await checked(grace.userId)
  expect([(await rowOf(grace.userId))?.failures, await statusOf(grace.token)]).toEqual([0, HERE])
})

test('where a provider says so, a refused user is deactivated, and comes back by signing on unless somebody has changed them', async () => {
  const made = await setup({ deactivate_refused: true })
  const statusIn = async (userId: string) => (await made.org.ask<User>('GET', `/users/${userId}`)).body.status
  const grace = await signOn(made)
  provider.remove(grace.sub)
  advance(5 * MINUTE_MS)
  await expect.poll(() => statusIn(grace.userId), PATIENCE).toBe('DEACTIVATED')
  const other = await openIdentityProvider(`${app.url}/app/sign-in`)
  await provider.close()
  provider = other
  provider.refreshes(true)
  // The same person of the same issuer, who is there again.
  await app.app.world.meta.run(sql`update sso_idps set issuer_url = ${other.issuer} where id = ${made.id}`)
  expect((await signOn(made, grace.sub)).status).toBe(200)
  expect(await statusIn(grace.userId)).toBe('ACTIVE')
  await made.org.ask('POST', `/users/${grace.userId}/deactivate`)
  expect((await signOn(made, grace.sub)).status).toBe(403)
  expect(await statusIn(grace.userId)).toBe('DEACTIVATED')
})

test('the local administrator and the last Administrator with a password are never deactivated', async () => {
  const made = await setup({ default_roles: ['Admin'], deactivate_refused: true })
  const local = await made.org.newUser(['Admin'])
  await made.org.ask('PATCH', `/sso/idps/${made.name}`, { body: { identifiers: ['example.org'], local_administrator: local.id } })
  const sub = local.email.split('@')[0] ?? ''
  const session = await signOn({ ...made, domain: 'example.org' }, sub)
  expect([session.status, session.userId]).toEqual([200, local.id])
  provider.remove(sub)
  advance(5 * MINUTE_MS)
  await expect.poll(() => statusOf(session.token), PATIENCE).toEqual(GONE)
  expect((await made.org.ask<User>('GET', `/users/${local.id}`)).body.status).toBe('ACTIVE')
  const login = await app.ask('POST', '/auth/login', { body: { email: local.email, password: local.password } })
  expect(login.status).toBe(200)
})

test('tokens go to no other issuer: the sessions end with the change, and with the provider', async () => {
  const made = await setup()
  const [grace, ada] = [await signOn(made), await signOn(made)]
  const body = { issuer_url: 'https://evil.example', client_secret: 'x' }
  expect((await made.org.ask('PATCH', `/sso/idps/${made.name}`, { body })).status).toBe(200)
  await expect.poll(() => statusOf(grace.token), PATIENCE).toEqual(GONE)
  expect(await rowOf(grace.userId)).toBeUndefined()
  expect((await made.org.ask('DELETE', `/sso/idps/${made.name}`)).status).toBe(204)
  await expect.poll(() => statusOf(ada.token), PATIENCE).toEqual(GONE)
})

test('what is kept of a sign-on goes when its sessions have ended', async () => {
  const made = await setup()
  const grace = await signOn(made)
  expect((await app.ask('POST', '/auth/logout', { token: grace.token })).status).toBe(204)
  advance(2 * 60 * MINUTE_MS)
  await expect.poll(() => rowOf(grace.userId), PATIENCE).toBeUndefined()
})

test('an answer about somebody else ends the sign-on, and one with a forged signature is no answer', async () => {
  const keys = await generateKeyPair('RS256', { extractable: true })
  const forged = await openForgedProvider(keys)
  forged.refresh({})
  const made = await setup({ issuer_url: forged.issuer, client_id: 'dendro', client_secret: 'a secret' })
  const sessionOf = async (sub: string) => {
    const headers = { 'x-forwarded-for': `198.18.3.${++count}` }
    const started = await app.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: made.id }, headers })
    const cookie = (started.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const answer = forged.code({ claims: { sub, email: `${sub}@${made.domain}` } }, started.body.url)
    const login = await app.ask<Login>('POST', '/auth/sso/finish', { body: { answer }, headers: { cookie } })
    expect(login.status).toBe(200)
    return { token: login.body.token, userId: login.body.user.id }
  }
  const ada = await sessionOf('ada')
  const other = await generateKeyPair('RS256')
  forged.refresh({
    sign: ({ claims }) => new SignJWT({ ...claims, sub: 'grace' }).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(other.privateKey),
  })
  await checked(ada.userId)
  expect([(await rowOf(ada.userId))?.failures, await statusOf(ada.token)]).toEqual([1, HERE])
  forged.refresh({ claims: { sub: 'ada' } })
  await checked(ada.userId)
  expect([(await rowOf(ada.userId))?.failures, await statusOf(ada.token)]).toEqual([0, HERE])
  forged.refresh({ claims: { sub: 'grace' } })
  advance(5 * MINUTE_MS)
  await expect.poll(() => statusOf(ada.token), PATIENCE).toEqual(GONE)
  await forged.close()
})

test('a token that cannot be opened keeps nobody else from being checked', async () => {
  const made = await setup()
  const [broken, ada] = [await signOn(made), await signOn(made)]
  await app.app.world.meta.run(sql`update sso_sign_ons set token = 'no token'::bytea where user_id = ${broken.userId}`)
  provider.remove(ada.sub)
  await checked(broken.userId)
  await expect.poll(() => statusOf(ada.token), PATIENCE).toEqual(GONE)
  expect([(await rowOf(broken.userId))?.failures, await statusOf(broken.token)]).toEqual([1, HERE])
})
