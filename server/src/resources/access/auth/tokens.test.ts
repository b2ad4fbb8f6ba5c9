import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization, type TestUser } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
let ada: TestUser
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  ada = await org.newUser(['Standard'])
})
afterAll(() => app.close())

type Parts = { header: Record<string, unknown>; payload: Record<string, unknown> }
const decoded = (piece = ''): Record<string, unknown> => JSON.parse(Buffer.from(piece, 'base64url').toString())
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const partsOf = (token: string): Parts => {
  const [header, payload] = token.split('.')
  return { header: decoded(header), payload: decoded(payload) }
}

/** Builds a token as the service does, by default with its own secret, so that only what the test changes is wrong. */
function signed({ header, payload }: Parts, options: { secret?: string; hash?: string } = {}): string {
  const text = `${encoded(header)}.${encoded(payload)}`
  const secret = options.secret ?? app.app.world.vault.jwtSecret.reveal()
  return `${text}.${createHmac(options.hash ?? 'sha256', secret)
    .update(text)
    .digest('base64url')}`
}

const status = async (token: string): Promise<number> => (await app.ask('GET', '/auth/me', { token })).status

test('a token holds user, organization, roles, validity and the algorithm of its signature', () => {
  const { header, payload } = partsOf(ada.token)
  expect(header).toEqual({ alg: 'HS256', typ: 'JWT', kid: expect.stringMatching(/^[0-9a-f]{16}$/) })
  expect(payload).toEqual({
    iss: 'dendro',
    aud: 'dendro-api',
    sub: ada.id,
    org: org.orgId,
    roles: ['Standard'],
    jti: expect.any(String),
    iat: expect.any(Number),
    nbf: expect.any(Number),
    exp: expect.any(Number),
  })
  expect(Math.abs(Number(payload.exp) - Number(payload.iat) - 12 * 3600)).toBeLessThanOrEqual(1)
})

test('the same parts signed again are the same token', async () => {
  expect(await status(signed(partsOf(ada.token)))).toBe(200)
})

test('a token written another way is no token, also where it would be read the same', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(ada.token.at(-1) ?? '')
  const sameBits = [0, 1, 2, 3].map((low) => alphabet[(last & ~3) | low]).filter((sign) => sign !== ada.token.at(-1))
  expect(sameBits).toHaveLength(3)
  for (const sign of sameBits) expect(await status(ada.token.slice(0, -1) + sign)).toBe(401)
  expect(await status(ada.token)).toBe(200)
})

test.each([
  ['without a signature', { alg: 'none' }],
  ['of another algorithm', { alg: 'HS512' }],
  ['of a public-key algorithm', { alg: 'RS256' }],
  ['without a key id', { kid: undefined }],
  ['with the id of a key that is not ours', { kid: '0123456789abcdef' }],
  ['with a path for a key id', { kid: '../../dev/null' }],
  ['that names a key set', { jku: 'https://evil.example/keys' }],
  ['that brings a key along', { jwk: { kty: 'oct', k: 'AAAA' } }],
  ['that names a certificate', { x5u: 'https://evil.example/cert' }],
  ['that brings a certificate along', { x5c: ['AAAA'] }],
  ['with critical extensions', { crit: ['exp'] }],
  ['with critical extensions we might know', { crit: ['b64'], b64: true }],
  ['with a header of no meaning', { colour: 'red' }],
])('a token %s is no token, also when it is well signed', async (_what, over) => {
  const { header, payload } = partsOf(ada.token)
  expect(await status(signed({ header: { ...header, ...over }, payload }))).toBe(401)
})

test.each([
  ['for another audience', { aud: 'somebody' }],
  ['of another issuer', { iss: 'somebody' }],
  ['without an issuer', { iss: undefined }],
  ['without an end', { exp: undefined }],
  ['without a beginning', { nbf: undefined }],
  ['without a time of making', { iat: undefined }],
  ['without an id', { jti: undefined }],
  ['without a user', { sub: undefined }],
  ['without an organization', { org: undefined }],
  ['of the past', { exp: 1 }],
  ['of the future', { nbf: 99_999_999_999 }],
  ['with the id of no session', { jti: '00000000-0000-4000-8000-000000000000' }],
  ['with an id that is no UUID', { jti: "' or 1=1" }],
  ['with an organization that is no UUID', { org: 'x' }],
  ['for another user', { sub: '00000000-0000-4000-8000-000000000000' }],
  ['for another organization', { org: '00000000-0000-4000-8000-000000000000' }],
  ['with an id of another type', { jti: 7 }],
])('a token %s is no token, also when it is well signed', async (_what, over) => {
  const { header, payload } = partsOf(ada.token)
  expect(await status(signed({ header, payload: { ...payload, ...over } }))).toBe(401)
})

test('a token signed with anything but the secret, or with the secret in another way, is no token', async () => {
  const parts = partsOf(ada.token)
  expect(await status(signed(parts, { secret: '' }))).toBe(401)
  expect(await status(signed(parts, { secret: 'x'.repeat(43) }))).toBe(401)
  expect(await status(signed(parts, { hash: 'sha512' }))).toBe(401)
  expect(await status(`${ada.token.split('.').slice(0, 2).join('.')}.`)).toBe(401)
  expect(await status('a.b.c')).toBe(401)
})

test('the roles in a token count for nothing', async () => {
  const { header, payload } = partsOf(ada.token)
  const boasting = signed({ header, payload: { ...payload, roles: ['Admin'] } })
  expect((await app.ask('GET', '/users', { token: boasting })).status).toBe(403)
})

test('a known token costs no query', async () => {
  const { meta } = app.app.world
  await status(ada.token)
  let queries = 0
  const { one, all, run } = meta
  const counting =
    <A extends unknown[], R>(query: (...args: A) => R) =>
    (...args: A): R => {
      queries += 1
      return query(...args)
    }
  Object.assign(meta, { one: counting(one), all: counting(all), run: counting(run) })
  const answers = await Promise.all(Array.from({ length: 5 }, () => app.ask('GET', '/roles', { token: ada.token })))
  Object.assign(meta, { one, all, run })
  expect(answers.map((answer) => answer.status)).toEqual([403, 403, 403, 403, 403])
  expect(queries).toBe(0)
})
