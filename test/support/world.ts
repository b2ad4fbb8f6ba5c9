import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { type App, openApp } from '../../server/src/app.ts'
import { readConfig } from '../../server/src/config.ts'
import { foundOrganization } from '../../server/src/first-start.ts'
import type { WebFiles } from '../../server/src/http/pages/web-app/files.ts'
import type { JobKind } from '../../server/src/jobs/job.ts'
import { type Clock, systemClock } from '../../server/src/kernel/clock.ts'
import { openLogger } from '../../server/src/kernel/log.ts'
import { makeServiceDatabase } from '../../server/src/meta/database.fixture.ts'
import { openWorld, type Replacements } from '../../server/src/open-world.ts'
import type { MailMessage } from '../../server/src/outgoing/mail.ts'
import type { World } from '../../server/src/world.ts'

export type Reply<T = unknown> = { status: number; headers: Headers; body: T }
export type Ask = { key?: string; token?: string; body?: unknown; headers?: Record<string, string>; raw?: string | Uint8Array }

export type TestClock = Clock & {
  /** Advances wall time and monotonic time together. */
  advance(ms: number): void
  /** Moves only the wall time, as a change of the system clock does. */
  set(ms: number): void
}

export type TestOrganization = {
  orgId: string
  /** An AdminApi key of the organization. */
  key: string
  /** Sends a request with that key, unless another credential is given. */
  ask<T = unknown>(method: string, path: string, ask?: Ask): Promise<Reply<T>>
  /** Creates a key with the given roles. */
  newKey(roles: readonly string[]): Promise<string>
  /** Creates a user with the given roles who has accepted the invitation and is logged in; it reads the link from the captured mails. */
  newUser(roles: readonly string[]): Promise<TestUser>
}

export type TestUser = { id: string; email: string; password: string; token: string }

export type TestApp = {
  app: App
  url: string
  clock: TestClock
  /** An AdminApi key of the first organization, from which others are created; shared by all tests. */
  managementKey: string
  /** All mails sent so far, oldest first. */
  mails: MailMessage[]
  ask<T = unknown>(method: string, path: string, ask?: Ask): Promise<Reply<T>>
  newOrganization(): Promise<TestOrganization>
  close(): Promise<void>
}

/**
 * Runs the whole service on the shared stores, with a movable clock and captured mail. Only requested jobs run, and nothing is deleted for its age,
 * because the clock differs from that of other users of the stores. A test that requests jobs gets its own metadata unless it provides some: on the
 * shared store it would take the jobs of others. Results are kept as with an embedded store, unless several services of a test change the same events.
 */
export async function openTestApp(
  env: Record<string, string> = {},
  kinds?: (world: World) => readonly JobKind[],
  web?: WebFiles,
  { ownsEvents = true, readsSources = false }: Pick<Replacements, 'ownsEvents'> & { readsSources?: boolean } = {},
): Promise<TestApp> {
  const stores = inject('stores')
  const database = kinds && env.DENDRO_POSTGRES_URL === undefined ? await makeServiceDatabase(stores) : undefined
  const config = readConfig({
    DENDRO_CLICKHOUSE_URL: stores.events,
    DENDRO_POSTGRES_URL: database?.url ?? stores.meta,
    DENDRO_MASTER_KEY: stores.masterKey,
    DENDRO_JWT_SECRET: stores.masterKey,
    DENDRO_BOOTSTRAP_API_KEY: managementKey(),
    DENDRO_DATA_DIR: stores.dataDir,
    DENDRO_RATE_LIMIT: 'off',
    DENDRO_CANARY: 'off',
    DENDRO_SOURCE_DIRECTORIES: '/var/empty/{organization}',
    DENDRO_LOG_LEVEL: process.env.DENDRO_TEST_LOG_LEVEL ?? 'silent',
    ...env,
  })
  const clock = testClock()
  const mails: MailMessage[] = []
  const opened = await openWorld(config, { clock, log: openLogger(config.DENDRO_LOG_LEVEL), ownsEvents })
  const mailer = config.DENDRO_SMTP_URL ? opened.mailer : { configured: true, send: async (mail: MailMessage) => void mails.push(mail) }
  const world = { ...opened, mailer }
  const app = await openApp(world, config, { kinds: kinds?.(world) ?? [], loops: [], readsSources }, web)
  const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
  const ask = <T>(method: string, path: string, given?: Ask) => send<T>(url, method, path, given)
  return {
    app,
    url,
    clock,
    managementKey: managementKey(),
    mails,
    ask,
    newOrganization: () => newOrganization(app, ask, mails),
    close: async () => {
      await app.close()
      await database?.drop()
    },
  }
}

const managementKey = (): string => `dk_${inject('stores').masterKey}`

async function newOrganization(app: App, ask: TestApp['ask'], mails: readonly MailMessage[]): Promise<TestOrganization> {
  const { world } = app
  const orgId = world.ids.uuid()
  const founded = await world.meta.write(orgId, (tx) =>
    foundOrganization(world, tx, { orgId, name: `test ${randomUUID()}`, firstKey: undefined }),
  )
  const key = founded.firstKey.reveal()
  const own: TestOrganization['ask'] = (method, path, given) =>
    ask(method, path, given?.key === undefined && given?.token === undefined ? { ...given, key } : given)
  return {
    orgId,
    key,
    ask: own,
    newKey: async (roles) => (await own<{ key: string }>('POST', '/api-keys', { body: { name: 'for a test', roles } })).body.key,
    newUser: async (roles) => {
      const email = `${randomUUID()}@example.org`
      const made = await own<{ id: string }>('POST', '/users', { body: { first_name: 'Ada', last_name: 'Lovelace', email, roles } })
      const password = 'seventeen otters in a canoe'
      const accepted = await ask<{ token: string }>('POST', '/auth/accept-invite', { body: { token: linkTokenIn(mails, email), password } })
      return { id: made.body.id, email, password, token: accepted.body.token }
    },
  }
}

/** Finds the one-time token in the latest mail to an address. */
export function linkTokenIn(mails: readonly MailMessage[], email: string): string {
  const token = /[?&]token=([\w-]+)/.exec(mails.findLast((mail) => mail.to === email)?.text ?? '')?.[1]
  if (token === undefined) throw new Error(`no mail with a link went to ${email}`)
  return token
}

async function send<T>(url: string, method: string, path: string, given: Ask = {}): Promise<Reply<T>> {
  const headers: Record<string, string> = { ...given.headers }
  if (given.key) headers['x-service-api-key'] = given.key
  if (given.token) headers.authorization = `Bearer ${given.token}`
  const payload = given.raw ?? (given.body === undefined ? undefined : JSON.stringify(given.body))
  if (payload !== undefined) headers['content-type'] ??= 'application/json'
  const response = await fetch(url + path, { method, headers, ...(payload === undefined ? {} : { body: payload }), redirect: 'manual' })
  const text = await response.text()
  const body = response.headers.get('content-type')?.includes('json') && text !== '' ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body: body as T }
}

/** The real clock, plus the time that a test has advanced. */
function testClock(): TestClock {
  let [shiftMs, setMs] = [0, 0]
  return {
    nowMs: () => systemClock.nowMs() + shiftMs + setMs,
    monotonicMs: () => systemClock.monotonicMs() + shiftMs,
    sleep: systemClock.sleep,
    advance: (ms) => {
      shiftMs += ms
    },
    set: (ms) => {
      setMs += ms
    },
  }
}
