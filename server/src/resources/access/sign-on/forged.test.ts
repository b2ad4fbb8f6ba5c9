import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import { type ForgedProvider, type Forgery, openForgedProvider } from './forged-provider.fixture.ts'

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
let keys: Awaited<ReturnType<typeof generateKeyPair>>
let app: TestApp
let provider: ForgedProvider
let id: string
beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true })
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1' })
  provider = await openForgedProvider(keys)
  const org = await app.newOrganization()
  const body = {
    name: 'forged',
    provider_type: 'OIDC',
    issuer_url: provider.issuer,
    client_id: 'dendro',
    client_secret: 'a secret',
    identifiers: ['forged.example'],
    default_roles: ['ReadOnly'],
  }
  id = (await org.ask<{ id: string }>('POST', '/sso/idps', { body })).body.id
})
afterAll(async () => {
  await provider.close()
  await app.close()
})

/** Logins from one address that do not come to an end are slowed down. */
let senders = 0
const sender = () => ({ 'x-forwarded-for': `198.18.0.${++senders}` })
async function logIn(forgery: Forgery): Promise<{ status: number; token: string }> {
  const started = await app.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: id }, headers: sender() })
  const cookie = (started.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const answer = provider.code(forgery, started.body.url)
  const login = await app.ask<{ token: string }>('POST', '/auth/sso/finish', { body: { answer }, headers: { cookie } })
  return { status: login.status, token: login.body.token }
}
const signOnWith = async (forgery: Forgery): Promise<number> => (await logIn(forgery)).status

const hour = 3_600
const nowS = (): number => Math.floor(Date.now() / 1_000)

test('a provider leads the browser to no script', async () => {
  provider.describe({ authorization_endpoint: 'javascript:alert(1)' })
  const started = await app.ask('POST', '/auth/sso/start', { body: { provider: id }, headers: sender() })
  provider.describe({ end_session_endpoint: 'javascript:alert(1)' })
  const { token } = await logIn({})
  provider.describe({})
  const logout = await app.ask('POST', '/auth/sso/logout', { token })
  expect([started.status, logout.status, logout.body]).toEqual([401, 200, {}])
})

test('an honest token is accepted, also if the clocks differ a little', async () => {
  expect(await signOnWith({})).toBe(200)
  expect(await signOnWith({ claims: { exp: nowS() - 20 } })).toBe(200)
})

test.each<[string, Forgery]>([
  ['of another issuer', { claims: { iss: 'https://evil.example' } }],
  ['for another audience', { claims: { aud: 'somebody' } }],
  ['for several audiences without an authorized party', { claims: { aud: ['dendro', 'somebody'] } }],
  ['for another authorized party', { claims: { aud: ['dendro', 'somebody'], azp: 'somebody' } }],
  ['of the past', { claims: { exp: 1 } }],
  ['of the future', { claims: { nbf: nowS() + hour } }],
  ['with another nonce', { claims: { nonce: 'replayed' } }],
  ['without a nonce', { claims: { nonce: undefined } }],
  ['without a subject', { claims: { sub: undefined } }],
  ['without an end', { claims: { exp: undefined } }],
  ['with a key id that the provider does not have', { header: { kid: 'two' } }],
  ['without a signature', { header: { alg: 'none' }, sign: async ({ header, claims }) => `${encoded(header)}.${encoded(claims)}.` }],
  ['with a broken signature', { sign: async ({ header, claims }) => `${encoded(header)}.${encoded(claims)}.AAAA` }],
  [
    'signed with the public key as a secret',
    {
      header: { alg: 'HS256' },
      sign: async ({ claims }) =>
        new SignJWT({ ...claims })
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(new TextEncoder().encode(await exportSPKI(keys.publicKey))),
    },
  ],
  [
    'signed with the secret of the client',
    {
      sign: async ({ claims }) =>
        new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(new TextEncoder().encode('a secret'.padEnd(32))),
    },
  ],
  [
    'signed with a key of its own',
    {
      sign: async ({ claims }) => {
        const own = await generateKeyPair('RS256', { extractable: true })
        const jwk = await exportJWK(own.publicKey)
        return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'one', jwk }).sign(own.privateKey)
      },
    },
  ],
  ['with an answer of another issuer', { answer: '&iss=https://evil.example' }],
  ['with an answer that is an error', { answer: '&error=access_denied' }],
])('a token %s is refused', async (_what, forgery) => {
  expect(await signOnWith(forgery)).toBe(401)
})
