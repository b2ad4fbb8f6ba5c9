import type { FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeAt } from '../../../../../test/authenticator.ts'
import { linkTokenIn, openTestApp, type TestApp, type TestOrganization, type TestUser } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'

type Login = { token: string } & FailureBody

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

const STEP_MS = 30_000
const code = (secret: string): string => codeAt(secret, app.clock.nowMs())
const post = <T>(user: TestUser, path: string, body: object) => app.ask<T & FailureBody>('POST', path, { token: user.token, body })
const begin = async (user: TestUser): Promise<string> =>
  (await post<{ secret: string }>(user, '/auth/second-factor', { password: user.password })).body.secret
const confirm = (user: TestUser, text: string) => post<{ recovery_codes: string[] }>(user, '/auth/second-factor/confirm', { code: text })
const logIn = ({ email, password }: TestUser, given?: string) =>
  app.ask<Login>('POST', '/auth/login', { body: { email, password, ...(given === undefined ? {} : { code: given }) } })

/** A user with a second factor. The code that confirmed it is used up, so the clock moves on. */
async function enrolled() {
  const user = await org.newUser(['Standard'])
  const secret = await begin(user)
  const { recovery_codes } = (await confirm(user, code(secret))).body
  app.clock.advance(STEP_MS)
  return { user, secret, recovery_codes }
}

test('a login with a second factor needs a code, and each code counts once', async () => {
  const { user, secret } = await enrolled()
  const withoutCode = await logIn(user)
  expect([withoutCode.status, withoutCode.body.errors?.[0]]).toEqual([
    401,
    expect.objectContaining({ field: 'code', code: 'SECOND_FACTOR_REQUIRED' }),
  ])
  const given = code(secret)
  expect((await logIn(user, given)).status).toBe(200)
  const replayed = await logIn(user, given)
  expect([replayed.status, replayed.body.errors?.[0]]).toEqual([401, expect.objectContaining({ code: 'SECOND_FACTOR_WRONG' })])
  app.clock.advance(STEP_MS)
  expect((await logIn(user, ` ${code(secret).slice(0, 3)} ${code(secret).slice(3)} `)).status).toBe(200)
})

test('of many logins at once with one code a single one is admitted', async () => {
  const { user, secret } = await enrolled()
  const given = code(secret)
  const answers = await Promise.all(Array.from({ length: 5 }, () => logIn(user, given)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401])
})

test('codes are not guessed: after ten wrong ones none is checked until the window ends', async () => {
  const { user, secret, recovery_codes } = await enrolled()
  for (let n = 0; n < 10; n += 1) expect((await logIn(user, '000000')).status).toBe(401)
  for (const given of [code(secret), recovery_codes[0]]) {
    const refused = await logIn(user, given)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  app.clock.advance(15 * 60_000 + 1)
  expect((await logIn(user, code(secret))).status).toBe(200)
})

test('a wrong password has the same answer with and without a second factor, whatever the code', async () => {
  const { user, secret } = await enrolled()
  const plain = await org.newUser(['Standard'])
  const wrong = (of: TestUser, given?: string) => logIn({ ...of, password: 'eighteen otters in a canoe' }, given)
  const answers = [await wrong(user), await wrong(user, code(secret)), await wrong(plain)]
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.details} ${JSON.stringify(body.errors)}`)).size).toBe(1)
  expect((await logIn(user, code(secret))).status).toBe(200)
})

test('a recovery code replaces a code once', async () => {
  const { user, recovery_codes } = await enrolled()
  expect(new Set(recovery_codes).size).toBe(10)
  const [first = '', second = ''] = recovery_codes
  expect((await logIn(user, first.toUpperCase())).status).toBe(200)
  expect((await logIn(user, first)).status).toBe(401)
  expect((await logIn(user, second.replaceAll('-', ''))).status).toBe(200)
  const state = await app.ask('GET', '/auth/second-factor', { token: user.token })
  expect(state.body).toEqual({ enabled: true, recovery_codes_left: 8 })
})

test('it is off until a first code is confirmed, and then is not replaced', async () => {
  const user = await org.newUser(['Standard'])
  await begin(user)
  expect((await logIn(user)).status).toBe(200)
  const wrong = await confirm(user, '12345')
  expect([wrong.status, wrong.body.errors?.[0]?.field]).toEqual([400, 'code'])
  const secret = await begin(user)
  expect((await confirm(user, code(secret))).status).toBe(200)
  expect((await post(user, '/auth/second-factor', { password: user.password })).status).toBe(409)
  expect((await confirm(user, code(secret))).status).toBe(400)
})

test('it is set up and removed with the password, by a session, and never by a key', async () => {
  const { user, secret } = await enrolled()
  const wrong = 'eighteen otters in a canoe'
  const colleague = await org.newUser(['Standard'])
  expect((await post(colleague, '/auth/second-factor', { password: wrong })).body.details).toContain('password')
  const remove = (password: string, given: string) => post(user, '/auth/second-factor/remove', { password, code: given })
  expect((await remove(wrong, code(secret))).status).toBe(400)
  expect((await remove(user.password, '000000')).status).toBe(400)
  expect((await remove(user.password, '')).status).toBe(400)
  expect((await org.ask('POST', '/auth/second-factor', { body: { password: 'x' } })).status).toBe(403)
  expect((await logIn(user)).status).toBe(401)
  expect((await remove(user.password, code(secret))).status).toBe(204)
  expect((await logIn(user)).status).toBe(200)
  expect((await remove(user.password, code(secret))).status).toBe(404)
})

test('a reset of the password by mail does not get around it', async () => {
  const { user, secret } = await enrolled()
  await org.ask('POST', `/users/${user.id}/reset-password`)
  const token = linkTokenIn(app.mails, user.email)
  const accept = (more: object) =>
    app.ask<Login>('POST', '/auth/accept-invite', { body: { token, password: 'nineteen otters in a canoe', ...more } })
  expect((await accept({})).body.errors?.[0]?.code).toBe('SECOND_FACTOR_REQUIRED')
  expect((await accept({ code: '000000' })).status).toBe(401)
  expect((await logIn(user, code(secret))).status).toBe(200)
  app.clock.advance(STEP_MS)
  expect((await accept({ code: code(secret) })).status).toBe(200)
})

test('an administrator removes it, which is audited; others, and administrators of other organizations, do not', async () => {
  const { user } = await enrolled()
  const path = `/users/${user.id}/second-factor`
  const colleague = await org.newUser(['Standard'])
  expect((await app.ask('DELETE', path, { token: colleague.token })).status).toBe(403)
  expect((await (await app.newOrganization()).ask('DELETE', path)).status).toBe(404)
  expect((await logIn(user)).status).toBe(401)
  expect((await org.ask('DELETE', path)).status).toBe(204)
  expect((await org.ask('DELETE', path)).status).toBe(404)
  expect((await logIn(user)).status).toBe(200)
  const { audit } = (await org.ask<{ audit: unknown[] }>('GET', `/audit?action=users.removeSecondFactor&entity_id=${user.id}`)).body
  expect(audit).toHaveLength(1)
})

test('neither secret nor recovery codes are stored in clear, or in the audit trail', async () => {
  const { user, secret, recovery_codes } = await enrolled()
  const rows = await app.app.world.meta.all<{ row: string }>(sql`
    select f::text as row from second_factors f where user_id = ${user.id} union all select a::text from audit a where org_id = ${org.orgId}`)
  expect(rows.length).toBeGreaterThan(1)
  for (const { row } of rows) for (const text of [secret, ...recovery_codes]) expect(row).not.toContain(text)
})
