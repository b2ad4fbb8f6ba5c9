import type { Session } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization, type TestUser } from '../../../../../test/support/world.ts'

/** Two processes with one store. */
let app: TestApp
let other: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp({ DENDRO_TRUSTED_PROXIES: 'loopback' })
  other = await openTestApp()
  org = await app.newOrganization()
})
afterAll(async () => {
  await other.close()
  await app.close()
})

/** Both processes have one clock: tokens of the future are refused. */
const advance = (ms: number): void => {
  for (const at of [app, other]) at.clock.advance(ms)
}
const logIn = async ({ email, password }: TestUser, headers: Record<string, string> = {}): Promise<string> =>
  (await app.ask<{ token: string }>('POST', '/auth/login', { body: { email, password }, headers })).body.token
const list = async (token: string): Promise<Session[]> =>
  (await app.ask<{ sessions: Session[] }>('GET', '/auth/sessions', { token })).body.sessions
const statuses = async (token: string) => [
  (await app.ask('GET', '/datasets', { token })).status,
  (await other.ask('GET', '/datasets', { token })).status,
]
const end = (token: string, id: string | undefined) => app.ask('DELETE', `/auth/sessions/${id}`, { token })

test('a user sees own sessions: how, when and from where each began', async () => {
  const user = await org.newUser(['ReadOnly'])
  const beforeMs = app.clock.nowMs()
  const token = await logIn(user, { 'user-agent': 'Firefox on a desk', 'x-forwarded-for': '192.0.2.44' })
  const sessions = await list(token)
  expect(sessions).toHaveLength(2)
  expect(sessions[0]).toMatchObject({
    is_current: true,
    org_id: org.orgId,
    method: 'Password',
    address: '192.0.2.44',
    user_agent: 'Firefox on a desk',
  })
  expect(sessions[0]?.created_at).toBeGreaterThanOrEqual(beforeMs)
  expect(sessions.filter(({ is_current }) => is_current)).toHaveLength(1)
  expect((await list(user.token)).filter(({ is_current }) => is_current)[0]?.id).toBe(sessions[1]?.id)
  const written = async () => {
    advance(3_001)
    return (await list(token))[0]
  }
  await expect.poll(written).toMatchObject({ last_used_at: expect.any(Number), last_used_address: expect.stringMatching(/127\.0\.0\.1$/) })
})

test('a session that a user ends is over in every process, and others go on', async () => {
  const user = await org.newUser(['ReadOnly'])
  const second = await logIn(user)
  expect([await statuses(user.token), await statuses(second)]).toEqual([
    [200, 200],
    [200, 200],
  ])
  const id = (await list(second)).find(({ is_current }) => !is_current)?.id
  expect((await end(second, id)).status).toBe(204)
  expect([await statuses(user.token), await statuses(second)]).toEqual([
    [401, 401],
    [200, 200],
  ])
  expect((await end(second, id)).status).toBe(404)
})

test('a user ends all other sessions at once', async () => {
  const user = await org.newUser(['ReadOnly'])
  const tokens = [await logIn(user), await logIn(user)]
  const ended = await app.ask('POST', '/auth/sessions/end-others', { token: tokens[0] ?? '' })
  expect(ended.body).toEqual({ ended: 2 })
  expect(await Promise.all([user.token, ...tokens].map(statuses))).toEqual([
    [401, 401],
    [200, 200],
    [401, 401],
  ])
})

test('sessions of others cannot be ended or seen, and a key has none', async () => {
  const [user, colleague] = [await org.newUser(['Admin']), await org.newUser(['Admin'])]
  const stranger = await (await app.newOrganization()).newUser(['Admin'])
  const [session] = await list(user.token)
  for (const { token } of [colleague, stranger]) {
    expect((await end(token, session?.id)).status).toBe(404)
    expect((await list(token)).map(({ id }) => id)).not.toContain(session?.id)
  }
  expect(await statuses(user.token)).toEqual([200, 200])
  for (const [method, path] of [
    ['GET', '/auth/sessions'],
    ['POST', '/auth/sessions/end-others'],
  ] as const)
    expect((await org.ask(method, path)).status).toBe(403)
  expect((await org.ask('DELETE', `/auth/sessions/${session?.id}`)).status).toBe(404)
})

test('an administrator ends the sessions of a user, but not of one with more permissions', async () => {
  const user = await org.newUser(['Standard'])
  const second = await logIn(user)
  expect([await statuses(user.token), await statuses(second)].flat()).toEqual([200, 200, 200, 200])
  expect((await org.ask('DELETE', `/users/${user.id}/sessions`)).body).toEqual({ ended: 2 })
  expect([await statuses(user.token), await statuses(second)].flat()).toEqual([401, 401, 401, 401])
  expect(await statuses(await logIn(user))).toEqual([200, 200])
  const admin = await org.newUser(['Admin'])
  const role = { display_name: 'Keeper of users', role_type: 'USER', permissions: ['users_read', 'users_write'] }
  const { role_id } = (await org.ask<{ role_id: string }>('POST', '/roles', { body: role })).body
  const keeper = await org.newUser([role_id])
  expect((await app.ask('DELETE', `/users/${admin.id}/sessions`, { token: keeper.token })).status).toBe(403)
  expect(await statuses(admin.token)).toEqual([200, 200])
  const elsewhere = await app.newOrganization()
  expect((await elsewhere.ask('DELETE', `/users/${admin.id}/sessions`)).status).toBe(404)
})

test('sessions that have expired are not listed', async () => {
  const user = await org.newUser(['ReadOnly'])
  const [first] = await list(user.token)
  advance(11 * 3_600_000)
  const token = await logIn(user)
  advance(2 * 3_600_000)
  expect((await list(token)).map(({ id }) => id)).not.toContain(first?.id)
})
