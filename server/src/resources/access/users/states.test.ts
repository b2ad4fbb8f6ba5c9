import type { User, UserPreference } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linkTokenIn, openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'

const DAY_MS = 86_400_000

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp({ DENDRO_INACTIVE_AFTER: '90d' })
  org = await app.newOrganization()
})
afterAll(() => app.close())

let count = 0
async function invited(roles = ['Standard']): Promise<User> {
  const body = { first_name: 'Grace', last_name: 'Hopper', email: `state${++count}@example.org`, roles }
  return (await org.ask<User>('POST', '/users', { body })).body
}
const post = (id: string, verb: string) => org.ask<User>('POST', `/users/${id}/${verb}`)
const statusOf = async (id: string) => (await org.ask<User>('GET', `/users/${id}`)).body.status
const logIn = (user: { email: string; password: string }) =>
  app.ask<{ token: string }>('POST', '/auth/login', { body: { email: user.email, password: user.password } })
const accept = (token: string) =>
  app.ask<{ token: string; user: User }>('POST', '/auth/accept-invite', { body: { token, password: 'seventeen otters in a canoe' } })

test('a deactivated user is out at once, and in again when reactivated, with a new token only', async () => {
  const ada = await org.newUser(['Standard'])
  const off = await post(ada.id, 'deactivate')
  expect([off.status, off.body.status]).toEqual([200, 'DEACTIVATED'])
  expect((await app.ask('GET', '/auth/me', { token: ada.token })).status).toBe(401)
  expect((await logIn(ada)).status).toBe(401)
  expect((await post(ada.id, 'deactivate')).body).toEqual(off.body)
  const on = await post(ada.id, 'reactivate')
  expect([on.status, on.body.status]).toEqual([200, 'ACTIVE'])
  expect((await post(ada.id, 'reactivate')).body).toEqual(on.body)
  expect((await app.ask('GET', '/auth/me', { token: ada.token })).status).toBe(401)
  expect((await logIn(ada)).status).toBe(200)
})

test('a user deactivated before accepting is invited again afterwards, and the old link is void', async () => {
  const user = await invited()
  const link = linkTokenIn(app.mails, user.email)
  expect((await post(user.id, 'deactivate')).body.status).toBe('DEACTIVATED')
  expect((await accept(link)).status).toBe(400)
  expect((await post(user.id, 'reactivate')).body.status).toBe('INVITED')
  expect((await accept(link)).status).toBe(400)
  await post(user.id, 'resend-invite')
  expect((await accept(linkTokenIn(app.mails, user.email))).body.user.status).toBe('ACTIVE')
})

test('a user without a login for the configured time is inactive until the next login', async () => {
  const ada = await org.newUser(['Standard'])
  app.clock.advance(91 * DAY_MS)
  expect(await statusOf(ada.id)).toBe('INACTIVE')
  expect((await post(ada.id, 'reactivate')).status).toBe(400)
  expect((await logIn(ada)).status).toBe(200)
  expect(await statusOf(ada.id)).toBe('ACTIVE')
})

test('without the setting no user becomes inactive', async () => {
  const plain = await openTestApp()
  const there = await plain.newOrganization()
  const ada = await there.newUser(['Standard'])
  plain.clock.advance(1_000 * DAY_MS)
  expect((await there.ask<User>('GET', `/users/${ada.id}`)).body.status).toBe('ACTIVE')
  await plain.close()
})

test('an imported user logs in like an inactive one and becomes active', async () => {
  const ada = await org.newUser(['Standard'])
  await app.app.world.meta.write(org.orgId, (tx) => tx.run(sql`update users set status = 'MIGRATED' where id = ${ada.id}`))
  expect(await statusOf(ada.id)).toBe('MIGRATED')
  expect((await app.ask('GET', '/auth/me', { token: ada.token })).status).toBe(200)
  expect((await post(ada.id, 'reactivate')).status).toBe(400)
  expect((await logIn(ada)).status).toBe(200)
  expect(await statusOf(ada.id)).toBe('ACTIVE')
})

test('a new invitation voids the old one and records time and inviter', async () => {
  const user = await invited()
  const first = linkTokenIn(app.mails, user.email)
  app.clock.advance(60_000)
  const admin = await org.newUser(['Admin'])
  for (const verb of ['resend-invite', 'resend-invitation']) {
    const sent = await org.ask<{ success: boolean; message: string }>('POST', `/users/${user.id}/${verb}`, { token: admin.token })
    expect(sent.status).toBe(200)
    expect(sent.body).toEqual({ success: true, message: `a link was sent to ${user.email}` })
  }
  const now = (await org.ask<User>('GET', `/users/${user.id}`)).body
  expect(now.invited_by).toBe(admin.email)
  expect((now.invited_at ?? 0) - (user.invited_at ?? 0)).toBeGreaterThanOrEqual(60)
  expect((await accept(first)).status).toBe(400)
  expect((await accept(linkTokenIn(app.mails, user.email))).status).toBe(200)
})

test('links use the public URL of the operator or the proxy, never one from a caller', async () => {
  const proxied = await openTestApp({ DENDRO_TRUSTED_PROXIES: '127.0.0.1' })
  const named = await openTestApp({ DENDRO_PUBLIC_URL: 'https://named.example' })
  const headers = { 'x-forwarded-host': 'logs.example', 'x-forwarded-proto': 'https', forwarded: 'host=logs.example' }
  try {
    for (const [there, base] of [
      [app, app.url],
      [proxied, 'https://logs.example'],
      [named, 'https://named.example'],
    ] as const) {
      const email = `link${++count}@example.org`
      const body = { first_name: 'Grace', last_name: 'Hopper', email, roles: ['Standard'] }
      const { id } = (await there.ask<User>('POST', '/users', { key: org.key, body, headers })).body
      expect(there.mails.at(-1)?.text).toContain(`${base}/accept-invite?token=`)
      const accepted = { token: linkTokenIn(there.mails, email), password: 'seventeen otters in a canoe' }
      await there.ask('POST', '/auth/accept-invite', { body: accepted })
      expect((await there.ask('POST', `/users/${id}/reset-password`, { key: org.key, headers })).status).toBe(200)
      expect(there.mails.at(-1)?.text).toContain(`${base}/accept-invite?token=`)
    }
  } finally {
    await Promise.all([proxied.close(), named.close()])
  }
})

test('only the invited are invited again', async () => {
  const ada = await org.newUser(['Standard'])
  const mails = app.mails.length
  const refused = await org.ask('POST', `/users/${ada.id}/resend-invite`)
  expect(refused.status).toBe(200)
  expect(refused.body).toEqual({ success: false, message: 'a user who is ACTIVE cannot be invited' })
  expect(app.mails).toHaveLength(mails)
})

test('the last administrator who can log in cannot be deleted, deactivated or demoted', async () => {
  const small = await app.newOrganization()
  const last = await small.newUser(['Admin'])
  await small.ask('POST', '/users', { body: { first_name: 'Not', last_name: 'Yet', email: 'notyet@example.org', roles: ['Admin'] } })
  expect((await small.ask('DELETE', `/users/${last.id}`)).status).toBe(409)
  expect((await small.ask('POST', `/users/${last.id}/deactivate`)).status).toBe(409)
  expect((await small.ask('PATCH', `/users/${last.id}`, { body: { roles: ['Standard'] } })).status).toBe(409)
  expect((await small.ask('PATCH', `/users/${last.id}`, { body: { first_name: 'Ann', roles: ['Admin', 'Standard'] } })).status).toBe(200)
  expect((await small.ask('GET', '/users', { token: last.token })).status).toBe(200)
  const second = await small.newUser(['Admin'])
  expect((await small.ask('DELETE', `/users/${last.id}`, { token: second.token })).status).toBe(204)
  expect((await small.ask('DELETE', `/users/${second.id}`, { token: second.token })).status).toBe(409)
})

test('the last administrator keeps the password, which is the only way in', async () => {
  const small = await app.newOrganization()
  const last = await small.newUser(['Admin'])
  const switchOff = { login_methods: { Password: false, Elsewhere: true } }
  expect((await small.ask('PATCH', `/users/${last.id}`, { body: switchOff })).status).toBe(409)
  const second = await small.newUser(['Admin'])
  expect((await small.ask('PATCH', `/users/${last.id}`, { body: switchOff })).status).toBe(200)
  expect((await small.ask('DELETE', `/users/${second.id}`)).status).toBe(409)
})

test('two requests at once do not take the last two administrators away', async () => {
  for (let round = 0; round < 5; round += 1) {
    const small = await app.newOrganization()
    const [one, two] = [await small.newUser(['Admin']), await small.newUser(['Admin'])]
    const answers = await Promise.all([
      small.ask('DELETE', `/users/${one.id}`, { token: two.token }),
      small.ask('POST', `/users/${two.id}/deactivate`, { token: one.token }),
      small.ask('PATCH', `/users/${one.id}`, { body: { roles: ['ReadOnly'] } }),
    ])
    expect(answers.every(({ status }) => status < 500)).toBe(true)
    const { users } = (await small.ask<{ users: User[] }>('GET', '/users')).body
    expect(users.filter(({ roles, status }) => roles.includes('Administrator') && status === 'ACTIVE')).toHaveLength(1)
  }
})

test('preferences start empty and are merged by field', async () => {
  const ada = await org.newUser(['ReadOnly'])
  const path = `/users/${ada.id}/preferences`
  const id = ada.id
  const patch = (body: unknown) => org.ask<UserPreference>('PATCH', path, { token: ada.token, body })
  expect((await org.ask('GET', path, { token: ada.token })).body).toEqual({ preferences: {} })
  expect((await patch({ favourites: { monitors: [id], dashboards: [id] } })).status).toBe(200)
  await patch({ favourites: { dashboards: [] } })
  await patch({ defaults: { monitor: id, dashboard: id } })
  await patch({ defaults: { monitor: null } })
  await patch({ features: { beta: true } })
  await patch({ features: { gamma: false } })
  await patch({ theme: 'dark' })
  await patch({ preferred_org: org.orgId })
  await patch({ timezone: 'Europe/Dublin' })
  const last = await patch({ filter_null_groups: 'true' })
  const preferences = {
    favourites: { monitors: [id], dashboards: [] },
    defaults: { dashboard: id },
    features: { beta: true, gamma: false },
    theme: 'dark',
    preferred_org: org.orgId,
    timezone: 'Europe/Dublin',
    filter_null_groups: 'true',
  }
  expect(last.body).toEqual({ preferences })
  expect((await org.ask('GET', path)).body).toEqual({ preferences })
})

test.each([
  [{}],
  [{ theme: 'dark', timezone: 'UTC' }],
  [{ colour: 'red' }],
  [{ theme: 'pink' }],
  [{ timezone: 'Mars/Olympus' }],
  [{ preferred_org: 'nonsense' }],
  [{ filter_null_groups: 'maybe' }],
  [{ favourites: { monitors: ['nonsense'] } }],
  [{ favourites: { widgets: [] } }],
  [{ defaults: { saved_search: null } }],
  [{ features: { beta: 'yes' } }],
])('preferences refuse %j', async (body) => {
  const user = await invited()
  expect((await org.ask('PATCH', `/users/${user.id}/preferences`, { body })).status).toBe(400)
  expect((await org.ask('GET', `/users/${user.id}/preferences`)).body).toEqual({ preferences: {} })
})

test('writing the preferences of another user needs the permission', async () => {
  const [ada, bob] = [await org.newUser(['Standard']), await org.newUser(['Standard'])]
  expect((await org.ask('PATCH', `/users/${bob.id}/preferences`, { token: ada.token, body: { theme: 'dark' } })).status).toBe(403)
})

test('two changes of preferences at once are both kept', async () => {
  const user = await invited()
  const changes = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ features: { [name]: true } }))
  await Promise.all(changes.map((body) => org.ask('PATCH', `/users/${user.id}/preferences`, { body })))
  const { preferences } = (await org.ask<UserPreference>('GET', `/users/${user.id}/preferences`)).body
  expect(preferences.features).toEqual({ a: true, b: true, c: true, d: true, e: true })
})
