import type { Login, User } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linkTokenIn, openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { Secret } from '../../../kernel/secret.ts'
import { sql } from '../../../meta/sql.ts'
import { bootstrapAdmin, checkAdmin } from '../users/bootstrap-admin.ts'
import { hashPassword } from '../users/passwords.ts'

type Failed = { details: string; correlation_id: string }
type AuditEntry = { action: string; outcome: string; actor_name: string; actor?: object; before?: object; after?: object }

const DAY_MS = 86_400_000
const FRESH = 'nineteen herons on a wire'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

const logIn = (email: string, password: string) => app.ask<Login>('POST', '/auth/login', { body: { email, password } })
const accept = (token: string, password = FRESH) => app.ask<Login>('POST', '/auth/accept-invite', { body: { token, password } })
const me = (token: string) => app.ask<{ id: string; org_id: string }>('GET', '/auth/me', { token })
let count = 0
async function invited(of = org, email = `auth${++count}@example.org`): Promise<User> {
  const body = { first_name: 'Grace', last_name: 'Hopper', email, roles: ['Standard'] }
  return (await of.ask<User>('POST', '/users', { body })).body
}

test('a user logs in with e-mail in any case and password, and is known by the token', async () => {
  const ada = await org.newUser(['Admin'])
  app.clock.advance(2_000)
  const login = await logIn(ada.email.toUpperCase(), ada.password)
  expect(login.status).toBe(200)
  const nowS = app.clock.nowMs() / 1000
  expect(Object.keys(login.body).sort()).toEqual(['expires_at', 'token', 'token_type', 'user'])
  expect(login.body.token_type).toBe('Bearer')
  expect(Math.abs(login.body.expires_at - nowS - 12 * 3600)).toBeLessThan(60)
  expect(login.body.user).toMatchObject({ id: ada.id, status: 'ACTIVE', roles: ['Administrator'] })
  expect(Math.abs((login.body.user.last_logins.Password ?? 0) - nowS)).toBeLessThan(60)
  expect((await me(login.body.token)).body).toMatchObject({ type: 'USER_ID', id: ada.id, org_id: org.orgId, roles: ['Administrator'] })
})

test('a token is accepted with and without the word Bearer, and takes precedence over a key', async () => {
  const ada = await org.newUser(['Standard'])
  expect((await app.ask('GET', '/auth/me', { headers: { authorization: ada.token } })).status).toBe(200)
  expect((await app.ask('GET', '/users', { headers: { authorization: ada.token, 'x-service-api-key': org.key } })).status).toBe(403)
})

test('either scheme is accepted: a wrong bearer value does not make a right key wrong', async () => {
  const ada = await org.newUser(['Standard'])
  const wrong = [`Bearer ${ada.token}x`, `${ada.token}x`, 'Bearer dk_wrong', 'Basic eDp5', 'Unknown scheme']
  for (const authorization of wrong) {
    const reply = await app.ask<{ type: string }>('GET', '/auth/me', { headers: { authorization, 'x-service-api-key': org.key } })
    expect([authorization, reply.status, reply.body.type]).toEqual([authorization, 200, 'API_KEY_ID'])
    expect((await app.ask('GET', '/users', { headers: { authorization, 'x-service-api-key': org.key } })).status).toBe(200)
    expect((await app.ask('GET', '/users', { headers: { authorization, 'x-service-api-key': 'dk_wrong' } })).status).toBe(401)
    expect((await app.ask('GET', '/users', { headers: { authorization } })).status).toBe(401)
    expect((await app.ask('POST', '/ingest', { raw: 'line', headers: { authorization, 'x-service-api-key': org.key } })).status).toBe(200)
    expect((await app.ask('POST', '/ingest', { raw: 'line', headers: { authorization, 'x-service-api-key': 'dk_wrong' } })).status).toBe(
      401,
    )
  }
  const { token } = await org.newUser(['Standard'])
  const both = { authorization: `Bearer ${token}`, 'x-service-api-key': 'dk_wrong' }
  expect((await app.ask<{ type: string }>('GET', '/auth/me', { headers: both })).body.type).toBe('USER_ID')
  expect((await app.ask('POST', '/auth/logout', { token })).status).toBe(204)
  expect((await app.ask('GET', '/auth/me', { headers: both })).status).toBe(401)
})

test('every reason to refuse a login has the same answer', async () => {
  const [ada, barred, methodless, waiting] = [
    await org.newUser(['Standard']),
    await org.newUser(['Standard']),
    await org.newUser(['Standard']),
    await invited(),
  ]
  await org.ask('POST', `/users/${barred.id}/deactivate`)
  await org.ask('PATCH', `/users/${methodless.id}`, { body: { login_methods: { Password: false, Acme: true } } })
  const answers = await Promise.all([
    logIn(ada.email, 'the wrong password'),
    logIn(ada.email, ''),
    logIn('nobody@example.org', ada.password),
    logIn('', ''),
    logIn(barred.email, barred.password),
    logIn(methodless.email, methodless.password),
    logIn(waiting.email, ''),
  ])
  for (const answer of answers) {
    const { correlation_id, ...body } = answer.body as unknown as Failed
    expect({ status: answer.status, body }).toEqual({
      status: 401,
      body: { code: 401, type: 'Unauthorized', details: 'the e-mail or the password is wrong, or this user may not log in' },
    })
  }
})

test.each([[{}], [{ email: 'a@example.org' }], [{ email: 7, password: 'x' }], [{ email: 'a@example.org', password: 'x'.repeat(1001) }]])(
  'a login with the body %j is malformed',
  async (body) => {
    expect((await app.ask('POST', '/auth/login', { body })).status).toBe(400)
  },
)

test('logging out ends this token and no other; a key has nothing to log out of', async () => {
  const ada = await org.newUser(['Standard'])
  const second = (await logIn(ada.email, ada.password)).body.token
  expect((await app.ask('POST', '/auth/logout', { token: ada.token })).status).toBe(204)
  expect((await me(ada.token)).status).toBe(401)
  expect((await app.ask('POST', '/auth/logout', { token: ada.token })).status).toBe(401)
  expect((await me(second)).status).toBe(200)
  expect((await org.ask('POST', '/auth/logout')).status).toBe(403)
})

test('a token runs out after twelve hours', async () => {
  const other = await openTestApp()
  const there = await other.newOrganization()
  const ada = await there.newUser(['Standard'])
  other.clock.advance(12 * 3_600_000 - 60_000)
  expect((await other.ask('GET', '/auth/me', { token: ada.token })).status).toBe(200)
  other.clock.advance(60_000)
  expect((await other.ask('GET', '/auth/me', { token: ada.token })).status).toBe(401)
  await other.close()
})

test('a link sets the password once', async () => {
  const user = await invited()
  const link = linkTokenIn(app.mails, user.email)
  const accepted = await accept(link)
  expect(accepted.status).toBe(200)
  expect(accepted.body.user).toMatchObject({ id: user.id, status: 'ACTIVE' })
  expect(accepted.body.user.last_logins.Password).toBeGreaterThan(0)
  expect((await me(accepted.body.token)).body.id).toBe(user.id)
  expect((await logIn(user.email, FRESH)).status).toBe(200)
  expect((await accept(link)).status).toBe(400)
})

test('only one of two concurrent uses of a link succeeds', async () => {
  const link = linkTokenIn(app.mails, (await invited()).email)
  const answers = await Promise.all([accept(link, 'nineteen herons on a wire'), accept(link, 'seventeen otters ashore')])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
})

test('a link is good for seven days', async () => {
  const other = await openTestApp()
  const there = await other.newOrganization()
  const [early, late] = [await invited(there), await invited(there)]
  const use = (user: User) =>
    other.ask<Failed>('POST', '/auth/accept-invite', { body: { token: linkTokenIn(other.mails, user.email), password: FRESH } })
  other.clock.advance(7 * DAY_MS - 60_000)
  expect((await use(early)).status).toBe(200)
  other.clock.advance(60_000)
  expect((await use(late)).status).toBe(400)
  await other.close()
})

test('a made-up link is refused like a used one', async () => {
  const user = await invited()
  const link = linkTokenIn(app.mails, user.email)
  await accept(link)
  const [used, madeUp, empty] = [await accept(link), await accept('x'.repeat(43)), await accept('')]
  for (const answer of [used, madeUp, empty]) {
    expect(answer.status).toBe(400)
    expect((answer.body as unknown as Failed).details).toBe('this invitation has been used, replaced or has expired; ask for a new one')
  }
})

test('a weak password is refused by its rule and leaves the link good', async () => {
  const user = await invited()
  const link = linkTokenIn(app.mails, user.email)
  const refused = await accept(link, 'Grace.Hopper.1906')
  expect(refused.status).toBe(400)
  expect((refused.body as unknown as Failed).details).toBe('password is made of the name or the e-mail of its owner')
  expect((await accept(link, 'short')).status).toBe(400)
  expect((await accept(link)).status).toBe(200)
})

test('a key reads its own identity', async () => {
  const key = await org.newKey(['SearchApi'])
  const answer = await app.ask<{ type: string; permissions: string[]; api_key: object; user?: object }>('GET', '/auth/me', { key })
  expect(answer.body).toMatchObject({ type: 'API_KEY_ID', org_id: org.orgId, roles: ['SearchApi'], api_key: { name: 'for a test' } })
  expect(answer.body.permissions).toContain('search_read')
  expect(answer.body.permissions).not.toContain('users_read')
  expect(answer.body.user).toBeUndefined()
})

test('changing the password needs the old one and ends every token but the new one', async () => {
  const ada = await org.newUser(['Standard'])
  const second = (await logIn(ada.email, ada.password)).body.token
  const change = (current_password: string, new_password: string) =>
    app.ask<Login>('POST', '/auth/password', { token: ada.token, body: { current_password, new_password } })
  expect((await change('the wrong password', FRESH)).status).toBe(400)
  expect((await change(ada.password, 'Ada.Lovelace.1815')).status).toBe(400)
  expect((await change(ada.password, ada.password)).status).toBe(400)
  expect((await me(second)).status).toBe(200)
  const changed = await change(ada.password, FRESH)
  expect(changed.status).toBe(200)
  expect([(await me(ada.token)).status, (await me(second)).status, (await me(changed.body.token)).status]).toEqual([401, 401, 200])
  expect([(await logIn(ada.email, ada.password)).status, (await logIn(ada.email, FRESH)).status]).toEqual([401, 200])
  expect((await org.ask('POST', '/auth/password', { body: { current_password: 'x', new_password: FRESH } })).status).toBe(403)
})

/** Changes the password of a user in a transaction that ends once another request waits for it. */
async function changedUnder(user: { id: string }, ask: () => Promise<Reply>): Promise<Reply> {
  const { meta } = app.app.world
  const requested = Promise.withResolvers<Reply>()
  await meta.write(org.orgId, async (tx) => {
    await tx.run(sql`update users set password_hash = ${await hashPassword(app.app.world, new Secret(FRESH))} where id = ${user.id}`)
    const own = await tx.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)
    ask().then(requested.resolve, requested.reject)
    const waiters = () =>
      meta.one<{ count: number }>(
        sql`select count(*) as count from pg_stat_activity where ${own?.pid ?? 0}::int = any(pg_blocking_pids(pid))`,
      )
    await expect.poll(async () => (await waiters())?.count, { interval: 20 }).toBe(1)
  })
  return requested.promise
}

test('a login with the old password while it is changed opens no session and restores nothing', async () => {
  const ada = await org.newUser(['Standard'])
  expect((await changedUnder(ada, () => logIn(ada.email, ada.password))).status).toBe(401)
  expect([(await logIn(ada.email, ada.password)).status, (await logIn(ada.email, FRESH)).status]).toEqual([401, 200])
})

test('of two changes of a password at once the second is refused', async () => {
  const ada = await org.newUser(['Standard'])
  const body = { current_password: ada.password, new_password: 'twenty-one terns at low tide' }
  expect((await changedUnder(ada, () => app.ask('POST', '/auth/password', { token: ada.token, body }))).status).toBe(400)
  expect((await logIn(ada.email, FRESH)).status).toBe(200)
})

test('a reset sends a link; the old password holds until it is used, and the old tokens end then', async () => {
  const ada = await org.newUser(['Standard'])
  const sent = await org.ask('POST', `/users/${ada.id}/reset-password`)
  expect(sent.body).toEqual({ success: true, message: `a link was sent to ${ada.email}` })
  expect((await me(ada.token)).status).toBe(200)
  const accepted = await accept(linkTokenIn(app.mails, ada.email))
  expect(accepted.status).toBe(200)
  expect([(await me(ada.token)).status, (await me(accepted.body.token)).status]).toEqual([401, 200])
  expect([(await logIn(ada.email, ada.password)).status, (await logIn(ada.email, FRESH)).status]).toEqual([401, 200])
  const waiting = await invited()
  expect((await org.ask<{ success: boolean }>('POST', `/users/${waiting.id}/reset-password`)).body.success).toBe(false)
})

test('a link does not admit users who may not log in with a password', async () => {
  const [ada, waiting] = [await org.newUser(['Standard']), await invited()]
  await org.ask('POST', `/users/${ada.id}/reset-password`)
  for (const { id, email } of [ada, waiting]) {
    await org.ask('PATCH', `/users/${id}`, { body: { login_methods: { Password: false, Acme: true } } })
    expect((await accept(linkTokenIn(app.mails, email))).status).toBe(400)
  }
  expect((await org.ask('POST', `/users/${ada.id}/reset-password`)).body).toEqual({
    success: false,
    message: 'this user may not log in with a password',
  })
})

test('a deactivation ends tokens in another process too', async () => {
  const other = await openTestApp()
  const ada = await org.newUser(['Standard'])
  const there = async () => (await other.ask('GET', '/auth/me', { token: ada.token })).status
  expect(await there()).toBe(200)
  await org.ask('POST', `/users/${ada.id}/deactivate`)
  await expect.poll(there).toBe(401)
  await other.close()
})

test('where several organizations know an e-mail the password decides, and then the preferred or the latest one', async () => {
  const email = `several${++count}@example.org`
  const other = await app.newOrganization()
  const [here, there] = [await invited(org, email), await invited(other, email)]
  const links = app.mails.filter((mail) => mail.to === email).map((mail) => linkTokenIn([mail], email))
  await accept(links[0] ?? '', 'nineteen herons on a wire')
  app.clock.advance(2_000)
  await accept(links[1] ?? '', 'seventeen otters ashore')
  expect((await logIn(email, 'nineteen herons on a wire')).body.user.id).toBe(here.id)
  app.clock.advance(2_000)
  expect((await logIn(email, 'seventeen otters ashore')).body.user.id).toBe(there.id)
  await org.ask('POST', `/users/${here.id}/reset-password`)
  app.clock.advance(2_000)
  await accept(linkTokenIn(app.mails, email), 'seventeen otters ashore')
  expect((await logIn(email, 'seventeen otters ashore')).body.user.id).toBe(here.id)
  await other.ask('PATCH', `/users/${there.id}/preferences`, { body: { preferred_org: other.orgId } })
  expect((await logIn(email, 'seventeen otters ashore')).body.user.id).toBe(there.id)
})

test('logins, logouts and failed logins are in the audit trail, without passwords', async () => {
  const ada = await org.newUser(['Standard'])
  await logIn(ada.email, 'the wrong password')
  const { token } = (await logIn(ada.email, ada.password)).body
  await app.ask('POST', '/auth/logout', { token })
  const { audit } = (await org.ask<{ audit: AuditEntry[] }>('GET', `/audit?entity_id=${ada.id}`)).body
  expect(audit.slice(0, 3).map(({ action, outcome, actor_name }) => [action, outcome, actor_name])).toEqual([
    ['auth.logout', 'done', ada.email],
    ['auth.login', 'done', ada.email],
    ['auth.login', 'refused', ada.email],
  ])
  expect(audit[2]?.actor ?? undefined).toBeUndefined()
  expect(JSON.stringify(audit)).not.toContain('the wrong password')
})

test('a login under an unknown e-mail is in the trail of the first organization, and nothing that is no e-mail is kept', async () => {
  const typed = `nobody${++count}@example.org`
  await logIn(typed, 'x')
  await logIn('hunter2-in-the-wrong-field', 'x')
  const { audit } = (
    await app.ask<{ audit: AuditEntry[] }>('GET', '/audit?action=auth.login&entity_id=unknown', { key: app.managementKey })
  ).body
  expect(audit.map(({ actor_name }) => actor_name)).toEqual(expect.arrayContaining([typed, 'not an e-mail address']))
  expect(JSON.stringify(audit)).not.toContain('hunter2')
})

test('the first administrator of the settings logs in without an invitation', async () => {
  const admin = { email: `first${++count}@example.org`, password: new Secret('nineteen herons on a wire') }
  const there = await app.newOrganization()
  await app.app.world.meta.write(there.orgId, (tx) => bootstrapAdmin(app.app.world, tx, there.orgId, admin))
  const login = await logIn(admin.email, FRESH)
  expect(login.body.user).toMatchObject({ status: 'ACTIVE', roles: ['Administrator'] })
  expect((await there.ask('GET', '/users', { token: login.body.token })).status).toBe(200)
})

test('settings for a weak first administrator stop the start with a sentence', async () => {
  const refusal = (email: string, password: string) => () => checkAdmin({ email, password: new Secret(password) })
  expect(refusal('root@example.org', 'changeme')).toThrow('DENDRO_ADMIN_PASSWORD must have 12 to 128 characters')
  expect(refusal('root@example.org', 'Administrator1')).toThrow('DENDRO_ADMIN_PASSWORD is')
  expect(refusal('root', FRESH)).toThrow('DENDRO_ADMIN_EMAIL must be an e-mail address')
  await expect(openTestApp({ DENDRO_ADMIN_EMAIL: 'root@example.org', DENDRO_ADMIN_PASSWORD: 'Password1234' })).rejects.toThrow(
    'DENDRO_ADMIN_PASSWORD is a common one',
  )
  await expect(openTestApp({ DENDRO_ADMIN_EMAIL: 'root@example.org' })).rejects.toThrow('belong together')
})
