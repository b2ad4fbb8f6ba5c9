import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Idp, Login } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../server/src/kernel/free-port.fixture.ts'
import { sql } from '../server/src/meta/sql.ts'
import { signOnRecheck } from '../server/src/resources/access/sign-on/sign-on.ts'
import { openTestApp, type TestApp, type TestOrganization } from './support/world.ts'

/**
 * Keycloak as a provider of OpenID Connect and SAML. It needs Java from 17 on, and the unpacked archive of Keycloak in DENDRO_KEYCLOAK, or the
 * address of one that runs, whose administrator is `admin` with the password `admin`, in DENDRO_KEYCLOAK_URL.
 */
const directory = process.env.DENDRO_KEYCLOAK
const running = process.env.DENDRO_KEYCLOAK_URL

function reasonToSkip(): string | undefined {
  if (running !== undefined) return undefined
  if (directory === undefined) return 'neither DENDRO_KEYCLOAK nor DENDRO_KEYCLOAK_URL is set'
  if (!existsSync(join(directory, 'bin/kc.sh'))) return `${directory} has no bin/kc.sh`
  const places = [join(process.env.JAVA_HOME ?? '', 'bin'), ...(process.env.PATH ?? '').split(delimiter)]
  return places.some((place) => existsSync(join(place, 'java'))) ? undefined : 'there is no Java'
}
const skipped = reasonToSkip()
if (skipped !== undefined) process.stderr.write(`SKIPPED, LOUDLY: Keycloak is not tried: ${skipped}\n`)

const START_MS = 900_000
const PATIENCE = { timeout: 240_000, interval: 500 }
const DOMAIN = 'keycloak.example'
const SECRET = 'a-secret-for-a-test'
const JSON_TYPE = { 'content-type': 'application/json' }

let app: TestApp
let org: TestOrganization
let base: string
let realm: string
let stop: () => void = () => undefined
let [openId, saml]: (Idp | undefined)[] = []

/** Sends a request of the administrator of Keycloak. */
async function administer(method: string, path: string, body?: unknown): Promise<Response> {
  const grant = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' })
  const login = await fetch(`${base}/realms/master/protocol/openid-connect/token`, { method: 'POST', body: grant })
  const { access_token } = (await login.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${access_token}`, ...JSON_TYPE }
  const reply = await fetch(`${base}/admin/realms${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
  return reply
}

/** A browser that keeps cookies of Keycloak, follows its redirects and signs in. It stops at addresses and forms for the service. */
function openBrowser(username: string) {
  const cookies = new Map<string, string>()
  const send = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    return response
  }
  return async (url: string): Promise<{ location: string; form?: URLSearchParams }> => {
    let response = await send(url)
    for (;;) {
      const location = response.headers.get('location')
      if (location !== null) {
        if (location.startsWith(app.url)) return { location }
        response = await send(new URL(location, base).href)
        continue
      }
      const page = await response.text()
      const action = unescaped(/<form[^>]+action="([^"]+)"/i.exec(page)?.[1] ?? '')
      const fields = [...page.matchAll(/<input[^>]+name="([^"]+)"[^>]+value="([^"]*)"/gi)].map(
        ([, name = '', value = '']): [string, string] => [name, unescaped(value)],
      )
      if (action.startsWith(app.url)) return { location: action, form: new URLSearchParams(fields) }
      if (!page.includes('name="password"')) throw new Error(`Keycloak shows ${response.status}: ${page.slice(0, 2_000)}`)
      response = await send(action, { method: 'POST', body: new URLSearchParams({ username, password: username, credentialId: '' }) })
    }
  }
}

const unescaped = (text: string): string =>
  text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&#61;', '=').replaceAll('&#43;', '+')

async function begin(idp: Idp | undefined) {
  const begun = await app.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: idp?.id } })
  expect(begun.status).toBe(200)
  return { url: begun.body.url, cookie: (begun.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}

async function finish(answer: string, cookie: string): Promise<Login> {
  const login = await app.ask<Login>('POST', '/auth/sso/finish', { body: { answer }, headers: { cookie } })
  expect([login.status, (login.body as { details?: string }).details]).toEqual([200, undefined])
  return login.body
}

async function openIdLogin(browser: ReturnType<typeof openBrowser>): Promise<Login> {
  const { url, cookie } = await begin(openId)
  return finish(new URL((await browser(url)).location).search, cookie)
}

async function samlLogin(browser: ReturnType<typeof openBrowser>): Promise<Login> {
  const { url, cookie } = await begin(saml)
  const { location, form } = await browser(url)
  expect(location).toBe(`${app.url}/auth/saml/${saml?.id}/acs`)
  const sent = await fetch(location, { method: 'POST', body: form ?? null, redirect: 'manual' })
  return finish(new URL(sent.headers.get('location') ?? 'none:').search, cookie)
}

const statusOf = async ({ token }: Login): Promise<number> => (await app.ask('GET', '/auth/me', { token })).status

/** Adds a person, and returns the id of Keycloak. */
async function addPerson(username: string): Promise<string> {
  const credentials = [{ type: 'password', value: username, temporary: false }]
  const names = { firstName: 'Ada', lastName: 'Lovelace', email: `${username}@${DOMAIN}`, emailVerified: true }
  const reply = await administer('POST', `/${realm}/users`, { username, ...names, enabled: true, credentials, groups: ['/operators'] })
  return reply.headers.get('location')?.split('/').at(-1) ?? ''
}

async function startKeycloak(): Promise<string> {
  const port = await freePort()
  const environment = { KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: 'admin', JAVA_OPTS_APPEND: '-Xmx700m' }
  const options = ['start-dev', '--http-host', '127.0.0.1', '--http-port', String(port), '--db', 'dev-mem']
  const child = spawn(join(directory ?? '', 'bin/kc.sh'), options, {
    env: { ...process.env, ...environment },
    stdio: 'ignore',
    detached: true,
  })
  stop = () => void (child.pid !== undefined && child.exitCode === null && process.kill(-child.pid))
  const url = `http://127.0.0.1:${port}`
  const answers = async () => (await fetch(`${url}/realms/master`).catch(() => undefined))?.status === 200
  await vi.waitUntil(answers, { timeout: START_MS, interval: 2_000 })
  return url
}

const groupsOf = (protocol: string, mapper: string, config: object) => ({
  name: 'groups',
  protocol,
  protocolMapper: mapper,
  config: { 'full.path': 'false', ...config },
})

describe.skipIf(skipped !== undefined)('Keycloak', () => {
  beforeAll(async () => {
    base = running ?? (await startKeycloak())
    realm = `dendro-${randomUUID()}`
    app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1' }, (world) => [signOnRecheck(world)])
    org = await app.newOrganization()
    await administer('POST', '', { realm, enabled: true, groups: [{ name: 'operators' }] })
    const make = async (body: object) => {
      const made = await org.ask<Idp & { details?: string }>('POST', '/sso/idps', { body })
      expect([made.status, made.body.details]).toEqual([201, undefined])
      return made.body
    }
    const mapping = { provider_key: 'groups', provider_value: 'operators', assign_attr: 'Standard' }
    expect((await org.ask('POST', '/sso/mappings', { body: mapping })).status).toBe(201)
    const issuer_url = `${base}/realms/${realm}`
    openId = await make({
      name: 'OpenID',
      provider_type: 'OIDC',
      issuer_url,
      client_id: 'dendro',
      client_secret: SECRET,
      identifiers: [DOMAIN],
    })
    const meta_cert = await (await fetch(`${issuer_url}/protocol/saml/descriptor`)).text()
    saml = await make({ name: 'SAML', provider_type: 'SAML', meta_cert, identifiers: [DOMAIN] })
    await administer('POST', `/${realm}/clients`, {
      clientId: 'dendro',
      secret: SECRET,
      redirectUris: [`${app.url}/app/sign-in`],
      attributes: {
        'post.logout.redirect.uris': '+',
        'backchannel.logout.url': `${app.url}/auth/oidc/${openId.id}/logout`,
        'backchannel.logout.session.required': 'true',
      },
      protocolMappers: [
        groupsOf('openid-connect', 'oidc-group-membership-mapper', {
          'claim.name': 'groups',
          'id.token.claim': 'true',
          'userinfo.token.claim': 'true',
        }),
      ],
    })
    const service = `${app.url}/auth/saml/${saml.id}`
    const metadata = await (await fetch(`${service}/metadata`)).text()
    await administer('POST', `/${realm}/clients`, {
      clientId: saml.app_client_id,
      protocol: 'saml',
      redirectUris: [`${service}/acs`],
      frontchannelLogout: true,
      attributes: {
        'saml.assertion.signature': 'true',
        'saml.client.signature': 'true',
        'saml.signing.certificate': (/<ds:X509Certificate>([\s\S]*?)</.exec(metadata)?.[1] ?? '').replace(/\s/g, ''),
        'saml.signature.algorithm': 'RSA_SHA256',
        saml_name_id_format: 'persistent',
        saml_force_name_id_format: 'true',
        saml_assertion_consumer_url_post: `${service}/acs`,
        saml_single_logout_service_url_redirect: `${service}/logout`,
      },
      protocolMappers: [
        groupsOf('saml', 'saml-group-membership-mapper', { 'attribute.name': 'groups', single: 'true' }),
        {
          name: 'email',
          protocol: 'saml',
          protocolMapper: 'saml-user-property-mapper',
          config: { 'user.attribute': 'email', 'attribute.name': 'email' },
        },
      ],
    })
  }, START_MS)
  afterAll(async () => {
    if (running !== undefined) await administer('DELETE', `/${realm}`).catch(() => undefined)
    stop()
    await app?.close()
  })

  test('a person signs on by OpenID Connect and by SAML, and is the same user with the mapped role', async () => {
    await addPerson('ada')
    const browser = openBrowser('ada')
    const [one, two] = [await openIdLogin(browser), await samlLogin(browser)]
    expect(one.user).toMatchObject({ email: `ada@${DOMAIN}`, first_name: 'Ada', roles: ['Standard'] })
    expect([two.user.id, two.user.roles]).toEqual([one.user.id, ['Standard']])
  })

  test('a logout at Keycloak ends the session by the back channel', async () => {
    const id = await addPerson('grace')
    const login = await openIdLogin(openBrowser('grace'))
    await administer('POST', `/${realm}/users/${id}/logout`)
    await expect.poll(() => statusOf(login), PATIENCE).toBe(401)
  })

  test.each(['OpenID Connect', 'SAML'])('a logout that begins here ends the session at Keycloak: %s', async (protocol) => {
    const name = protocol.toLowerCase().replace(/\W/g, '')
    const id = await addPerson(name)
    const browser = openBrowser(name)
    const login = await (protocol === 'SAML' ? samlLogin(browser) : openIdLogin(browser))
    const sessions = async () => ((await (await administer('GET', `/${realm}/users/${id}/sessions`)).json()) as unknown[]).length
    expect(await sessions()).toBe(1)
    const { url } = (await app.ask<{ url?: string }>('POST', '/auth/sso/logout', { token: login.token })).body
    const { location, form } = await browser(url ?? '')
    const end =
      form === undefined ? location : (await fetch(location, { method: 'POST', body: form, redirect: 'manual' })).headers.get('location')
    const last = protocol === 'SAML' && form === undefined ? (await fetch(location, { redirect: 'manual' })).headers.get('location') : end
    expect(last).toBe(`${app.url}/app/sign-in`)
    expect([await sessions(), await statusOf(login)]).toEqual([0, 401])
  })

  test('a person whom an administrator of Keycloak disables loses the session within five minutes', async () => {
    const id = await addPerson('lise')
    const login = await openIdLogin(openBrowser('lise'))
    const checks = () =>
      app.app.world.meta.one<{ checked_at: number; failures: number }>(
        sql`select checked_at, failures from sso_sign_ons where user_id = ${login.user.id}`,
      )
    const before = await checks()
    app.clock.advance(4 * 60_000)
    await expect.poll(async () => (await checks())?.checked_at, PATIENCE).not.toBe(before?.checked_at)
    expect([(await checks())?.failures, await statusOf(login)]).toEqual([0, 200])
    await administer('PUT', `/${realm}/users/${id}`, { enabled: false })
    app.clock.advance(5 * 60_000)
    await expect.poll(() => statusOf(login), PATIENCE).toBe(401)
  })
})
