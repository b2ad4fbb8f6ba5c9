import type { Login, SsoMapping, User } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CLIENT, type IdentityProvider, openIdentityProvider, type ProvidedClaims } from '../../../../../test/support/identity-provider.ts'
import { linkTokenIn, openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let provider: IdentityProvider
beforeAll(async () => {
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1' })
  provider = await openIdentityProvider(`${app.url}/app/sign-in`)
})
afterAll(async () => {
  await provider.close()
  await app.close()
})

let count = 0
/** Logins from one address that do not come to an end are slowed down. */
const sender = () => ({ 'x-forwarded-for': `198.18.0.${++count}` })
const word = (): string => `w${++count}`

type Setup = { org: TestOrganization; id: string; domain: string; name: string }
async function setup(over: object = {}): Promise<Setup> {
  const org = await app.newOrganization()
  const [domain, name] = [`${word()}.example`, word()]
  const body = {
    name,
    provider_type: 'OIDC',
    issuer_url: provider.issuer,
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    accept_idp_initiated: false,
    attribute_mappings: [],
    identifiers: [domain],
    ...over,
  }
  const made = await org.ask<{ id: string; details: string }>('POST', '/sso/idps', { body })
  expect([made.status, made.body.details]).toEqual([201, undefined])
  return { org, id: made.body.id, domain, name }
}

type Started = { url: string; cookie: string; reply: Reply<{ url: string }> }
async function start(id: string): Promise<Started> {
  const reply = await app.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: id }, headers: sender() })
  return { reply, url: reply.body.url, cookie: (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}
const finish = (answer: string, cookie: string) =>
  app.ask<Login & { details: string }>('POST', '/auth/sso/finish', { body: { answer }, headers: { cookie } })

async function signOn(id: string, person: ProvidedClaims) {
  const { url, cookie } = await start(id)
  return finish(await provider.authorize(url, person), cookie)
}

const person = (domain: string, over: object = {}): ProvidedClaims => {
  const sub = word()
  return { sub, email: `${sub}@${domain}`, email_verified: true, given_name: 'Grace', family_name: 'Hopper', ...over }
}
const map = async ({ org }: Setup, provider_value: string, assign_attr: string) =>
  (await org.ask<SsoMapping>('POST', '/sso/mappings', { body: { provider_key: 'groups', provider_value, assign_attr } })).body

test('a person signs on for the first time, becomes a user with mapped roles, and is the same user again', async () => {
  const made = await setup()
  await map(made, 'operators', 'Standard')
  const grace = person(made.domain, { groups: ['operators', 'others'] })
  const first = await signOn(made.id, grace)
  expect([first.status, first.body.details]).toEqual([200, undefined])
  expect(first.body.user).toMatchObject({
    email: grace.email,
    first_name: 'Grace',
    last_name: 'Hopper',
    roles: ['Standard'],
    status: 'ACTIVE',
  })
  expect(first.body.user.login_methods).toEqual([{ name: made.name, enabled: true }])
  expect(Object.keys(first.body.user.last_logins)).toEqual([made.name])
  expect((await app.ask('GET', '/auth/me', { token: first.body.token })).status).toBe(200)
  const again = await signOn(made.id, { ...grace, email: `renamed@${made.domain}` })
  expect(again.body.user.id).toBe(first.body.user.id)
})

test('the start sends PKCE, state and nonce, and a cookie that scripts and other sites do not get', async () => {
  const { id } = await setup()
  const { url, reply } = await start(id)
  const sent = new URL(url).searchParams
  expect([sent.get('response_type'), sent.get('code_challenge_method'), sent.get('redirect_uri')]).toEqual([
    'code',
    'S256',
    `${app.url}/app/sign-in`,
  ])
  for (const name of ['state', 'nonce', 'code_challenge']) expect(sent.get(name)).toMatch(/^[\w-]{43}$/)
  expect(reply.headers.get('set-cookie')).toMatch(/^dendro_sso=[\w-]{43}; Path=\/auth\/sso; Max-Age=600; HttpOnly; SameSite=Lax$/)
})

test('an answer counts once, only in the browser that began, only within ten minutes, and only if it was asked for', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const [mine, other] = [await start(made.id), await start(made.id)]
  const answer = await provider.authorize(mine.url, person(made.domain))
  expect((await finish(answer, other.cookie)).status).toBe(401)
  expect((await finish(answer, '')).status).toBe(401)
  expect((await finish(answer, mine.cookie)).status).toBe(200)
  expect((await finish(answer, mine.cookie)).status).toBe(401)
  expect((await finish('?code=unsolicited&state=unsolicited', mine.cookie)).status).toBe(401)
  const late = await provider.authorize(other.url, person(made.domain))
  app.clock.advance(10 * 60_000 + 1_000)
  expect((await finish(late, other.cookie)).status).toBe(401)
})

test('a code of another login does not fit, because PKCE and nonce differ', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const [mine, other] = [await start(made.id), await start(made.id)]
  const stolen = new URLSearchParams(await provider.authorize(other.url, person(made.domain)))
  stolen.set('state', new URL(mine.url).searchParams.get('state') ?? '')
  expect((await finish(stolen.toString(), mine.cookie)).status).toBe(401)
})

test('an invited user is linked by verified e-mail only, and a deactivated one cannot come in', async () => {
  const made = await setup()
  const invite = async (email: string) =>
    (await made.org.ask<User>('POST', '/users', { body: { first_name: 'A', last_name: 'B', email, roles: ['Standard'] } })).body
  const grace = person(made.domain)
  const invited = await invite(grace.email ?? '')
  expect((await signOn(made.id, { ...grace, email_verified: false })).status).toBe(403)
  expect((await signOn(made.id, { ...grace, email_verified: undefined })).status).toBe(403)
  const linked = await signOn(made.id, grace)
  expect(linked.body.user).toMatchObject({ id: invited.id, status: 'ACTIVE', roles: ['Standard'] })
  expect((await made.org.ask('POST', `/users/${invited.id}/deactivate`)).status).toBe(200)
  expect((await signOn(made.id, grace)).status).toBe(403)
  expect((await app.ask('GET', '/auth/me', { token: linked.body.token })).status).toBe(401)
})

test('a provider speaks only for its own domains, and only for its own organization', async () => {
  const [made, other] = [await setup({ default_roles: ['ReadOnly'] }), await setup()]
  expect((await signOn(made.id, person('elsewhere.example'))).status).toBe(403)
  const theirs = await other.org.newUser(['Admin'])
  const evil = await signOn(made.id, person(made.domain, { email: theirs.email }))
  expect(evil.status).toBe(403)
  expect((await other.org.ask('GET', `/sso/idps/${made.name}`)).status).toBe(404)
  expect((await other.org.ask('DELETE', `/sso/idps/${made.name}`)).status).toBe(404)
  expect((await other.org.ask<{ idps: unknown[] }>('GET', '/sso/idps')).body.idps).toHaveLength(1)
})

test('mapped roles and groups come and go with each sign-on; roles that no mapping assigns stay', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const group = (await made.org.ask<{ id: string }>('POST', '/groups', { body: { name: word() } })).body.id
  await map(made, 'admins', 'Admin')
  await map(made, 'team', `group:${group}`)
  const grace = person(made.domain)
  const rolesOf = async (groups: string[]) => (await signOn(made.id, { ...grace, groups })).body.user.roles
  const members = async () => (await made.org.ask<{ members: unknown[] }>('GET', `/groups/${group}/members`)).body.members.length
  expect([await rolesOf(['admins', 'team']), await members()]).toEqual([['Administrator'], 1])
  expect([await rolesOf(['others']), await members()]).toEqual([['ReadOnly'], 0])
  const preview = await made.org.ask('POST', '/sso/preview', { body: { idp: made.name, claims: { groups: ['admins', 'team'] } } })
  expect(preview.body).toEqual({ roles: ['Administrator'], groups: [group] })
})

test('without a role nobody comes in or becomes a user', async () => {
  const made = await setup()
  expect((await signOn(made.id, person(made.domain))).status).toBe(403)
  expect(
    (await made.org.ask<{ users: { email: string }[] }>('GET', '/users')).body.users.filter(({ email }) => email.endsWith(made.domain)),
  ).toEqual([])
})

test('nobody maps to more than they hold, and only holders of all permissions configure providers', async () => {
  const made = await setup()
  const permissions = ['access_read', 'access_write', 'access_delete', 'search_read']
  const role = await made.org.ask<{ role_id: string }>('POST', '/roles', { body: { display_name: word(), role_type: 'USER', permissions } })
  expect(role.status).toBe(201)
  const { token } = await made.org.newUser([role.body.role_id])
  const mapping = (assign_attr: string) => ({ token, body: { provider_key: 'groups', provider_value: 'x', assign_attr } })
  expect((await app.ask('POST', '/sso/mappings', mapping('Administrator'))).status).toBe(403)
  const group = (await made.org.ask<{ id: string }>('POST', '/groups', { body: { name: word() } })).body.id
  await made.org.ask('POST', `/organizations/${made.org.orgId}/access/group/${group}`, { body: { roles: ['Admin'], status: 'active' } })
  expect((await app.ask('POST', '/sso/mappings', mapping(`group:${group}`))).status).toBe(403)
  expect(
    (await app.ask('PATCH', `/sso/idps/${made.name}`, { token, body: { issuer_url: provider.issuer, client_secret: 'x' } })).status,
  ).toBe(403)
  const kept = await map(made, 'x', 'Standard')
  expect((await app.ask('PUT', '/sso/mappings', { token, body: { ...kept, assign_attr: 'Admin' } })).status).toBe(403)
  expect((await made.org.ask('DELETE', `/sso/mappings?id=${kept.id}`)).status).toBe(204)
})

test('a domain that must use single sign-on refuses passwords, except of the local administrator', async () => {
  const made = await setup({ identifiers: ['example.org'] })
  const [local, other] = [await made.org.newUser(['Admin']), await made.org.newUser(['Admin'])]
  const logIn = async ({ email, password }: { email: string; password: string }) =>
    (await app.ask('POST', '/auth/login', { body: { email, password } })).status
  const change = (body: object) => made.org.ask('PATCH', `/sso/idps/${made.name}`, { body })
  expect((await change({ is_required: true })).status).toBe(400)
  expect((await change({ is_required: true, local_administrator: local.id })).status).toBe(200)
  expect([await logIn(local), await logIn(other)]).toEqual([200, 401])
  const invited = `${word()}@example.org`
  await made.org.ask('POST', '/users', { body: { first_name: 'A', last_name: 'B', email: invited, roles: ['Standard'] } })
  const token = /token=([\w-]+)/.exec(app.mails.findLast(({ to }) => to === invited)?.text ?? '')?.[1]
  expect((await app.ask('POST', '/auth/accept-invite', { body: { token, password: 'nineteen herons on a wire' } })).status).toBe(403)
  await made.org.ask('POST', `/users/${local.id}/deactivate`)
  expect(await logIn(other)).toBe(200)
})

test('the secret is stored encrypted and shown nowhere, and does not move to another issuer', async () => {
  const made = await setup()
  const shown = JSON.stringify([(await made.org.ask('GET', '/sso/idps')).body, (await made.org.ask('GET', '/audit')).body])
  expect(shown).toContain(made.name)
  expect(shown).not.toContain(CLIENT.secret)
  const body = { issuer_url: 'https://evil.example' }
  expect((await made.org.ask('PATCH', `/sso/idps/${made.name}`, { body })).status).toBe(400)
})

test('the page learns the providers of a domain', async () => {
  const made = await setup()
  const found = await app.ask('POST', '/auth/sso/providers', { body: { email: `Anybody@${made.domain.toUpperCase()}` } })
  expect(found.body).toEqual({ providers: [{ id: made.id, name: made.name }] })
})

test('another issuer knows nobody, not even under the same subject', async () => {
  const made = await setup({ default_roles: ['ReadOnly'] })
  const grace = person(made.domain)
  expect((await signOn(made.id, grace)).status).toBe(200)
  const change = (issuer_url: string) =>
    made.org.ask('PATCH', `/sso/idps/${made.name}`, { body: { issuer_url, client_secret: CLIENT.secret } })
  expect((await change('https://other.example')).status).toBe(200)
  expect((await change(provider.issuer)).status).toBe(200)
  expect((await signOn(made.id, { ...grace, email_verified: false })).status).toBe(403)
  expect((await signOn(made.id, grace)).status).toBe(200)
})

test('an organization has several providers, of which each has its own mappings and people', async () => {
  const one = await setup({ default_roles: ['ReadOnly'] })
  const two = { ...one, name: word() }
  const made = await one.org.ask<{ id: string }>('POST', '/sso/idps', {
    body: {
      name: two.name,
      provider_type: 'OIDC',
      issuer_url: provider.issuer,
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      identifiers: [one.domain],
      default_roles: ['ReadOnly'],
    },
  })
  two.id = made.body.id
  const found = await app.ask<{ providers: unknown[] }>('POST', '/auth/sso/providers', { body: { email: `a@${one.domain}` } })
  expect(found.body.providers).toHaveLength(2)
  const mapping = { provider_key: 'groups', provider_value: 'ops', assign_attr: 'Standard', idp: two.name }
  expect((await one.org.ask('POST', '/sso/mappings', { body: mapping })).status).toBe(201)
  const grace = person(one.domain, { groups: ['ops'] })
  const first = await signOn(one.id, grace)
  expect(first.body.user.roles).toEqual(['ReadOnly'])
  // The other provider knows the person by the verified address, and gives what is mapped for it.
  const second = await signOn(two.id, { ...grace, sub: word() })
  expect([second.body.user.id, second.body.user.roles.includes('Standard')]).toEqual([first.body.user.id, true])
  expect(second.body.user.login_methods.map(({ name }) => name).toSorted()).toEqual([one.name, two.name].toSorted())
})

test('an answer of one provider ends no login that was begun with another one', async () => {
  const [one, two] = [await setup({ default_roles: ['ReadOnly'] }), await setup({ default_roles: ['ReadOnly'] })]
  const [mine, theirs] = [await start(one.id), await start(two.id)]
  const answer = new URLSearchParams(await provider.authorize(theirs.url, person(one.domain)))
  answer.set('state', new URL(mine.url).searchParams.get('state') ?? '')
  expect((await finish(answer.toString(), mine.cookie)).status).toBe(401)
})

test('where sign-on is required, the case of the address does not matter, and neither a reset nor an old link gets around it', async () => {
  const made = await setup({ identifiers: ['example.org'] })
  const [local, other] = [await made.org.newUser(['Admin']), await made.org.newUser(['Standard'])]
  await made.org.ask('POST', `/users/${other.id}/reset-password`)
  const token = linkTokenIn(app.mails, other.email)
  expect(
    (await made.org.ask('PATCH', `/sso/idps/${made.name}`, { body: { is_required: true, local_administrator: local.id } })).status,
  ).toBe(200)
  const logIn = async (email: string) => (await app.ask('POST', '/auth/login', { body: { email, password: other.password } })).status
  expect([await logIn(other.email), await logIn(other.email.toUpperCase())]).toEqual([401, 401])
  const accept = await app.ask('POST', '/auth/accept-invite', { body: { token, password: 'nineteen herons on a wire' } })
  expect(accept.status).toBe(403)
  // The local administrator cannot be taken away while sign-on is required.
  const foreign = await (await app.newOrganization()).newUser(['Admin'])
  for (const id of [other.id, foreign.id])
    expect((await made.org.ask('PATCH', `/sso/idps/${made.name}`, { body: { local_administrator: id } })).status).toBe(400)
})
