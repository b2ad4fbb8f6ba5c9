import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, inject } from 'vitest'
import { exporting } from '../../server/src/resources/queries/exports/run.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../support/world.ts'

type Body = Record<string, unknown>
export type Person = { id: string; email: string; password: string; token: string }

/** Creates valid records in one organization, for use by examples. */
export type Maker = {
  app: TestApp
  org: TestOrganization
  /** An unused name. */
  word(prefix?: string): string
  /** Posts a body that must be accepted and returns the record. */
  made<T extends Body = Body & { id: string }>(path: string, body: unknown): Promise<T>
  dataset(): Promise<string>
  downtime(): Promise<string>
  group(): Promise<string>
  apiKey(): Promise<string>
  role(): Promise<string>
  webhook(): Promise<string>
  policy(): Promise<string>
  /** A user who has not accepted the invitation; accepting needs the token. */
  invited(roles?: readonly string[]): Promise<{ id: string; email: string; invitation: string }>
  /** A user who has accepted and is logged in. */
  person(roles?: readonly string[]): Promise<Person>
}

/** A stand-in for the built web app. */
export const web = {
  page: '<!doctype html><title>Dendro</title>',
  files: new Map([['a.bin', { type: 'application/octet-stream', bytes: Buffer.from('// nothing') }]]),
}

export const PASSWORD = 'seventeen-otters-in-a-canoe'

export function makerIn(app: TestApp, org: TestOrganization): Maker {
  const word = (prefix = 'thing') => `${prefix} ${randomUUID().slice(0, 8)}`
  const made: Maker['made'] = async (path, body) => {
    const reply = await org.ask('POST', path, { body })
    expect(reply.status, `POST ${path}: ${JSON.stringify(reply.body)}`).toBeLessThan(300)
    return reply.body as never
  }
  const idOf = async (path: string, body: unknown): Promise<string> => (await made(path, body)).id
  const invited: Maker['invited'] = async (roles = ['Standard']) => {
    const email = `${randomUUID().slice(0, 12)}@example.org`
    const { id } = await made('/users', { first_name: 'Ada', last_name: 'Lovelace', email, roles })
    return { id, email, invitation: invitationFor(app, email) }
  }
  return {
    app,
    org,
    word,
    made,
    dataset: () => idOf('/datasets', { collection: word('shop'), dataset: word('web') }),
    downtime: () =>
      idOf('/monitors/downtimes', {
        name: word('downtime'),
        description: 'Planned',
        from: [randomUUID()],
        static_time_range: { from: 1_800_000_000_000, to: 1_800_000_600_000 },
      }),
    group: () => idOf('/groups', { name: word('group') }),
    apiKey: () => idOf('/api-keys', { name: word('key'), roles: ['SearchApi'] }),
    webhook: () => idOf('/integrations/webhooks', { name: word('hook'), url: 'https://hooks.invalid/in' }),
    role: async () =>
      (await made<{ role_id: string }>('/roles', { role_type: 'USER', display_name: word('role'), permissions: ['logs_read'] })).role_id,
    policy: async () =>
      idOf('/policies', {
        policy_type: 'LOG_FORBID',
        resource: { resource_type: 'LOG', resource_id: await idOf('/datasets', { collection: word(), dataset: 'd' }) },
        actions: ['*'],
        principal: { principal_type: 'ROLE', principal_id: 'ReadOnly' },
      }),
    invited,
    person: async (roles) => {
      const { id, email, invitation } = await invited(roles)
      const reply = await org.ask<{ token: string }>('POST', '/auth/accept-invite', { body: { token: invitation, password: PASSWORD } })
      expect(reply.status, JSON.stringify(reply.body)).toBe(200)
      return { id, email, password: PASSWORD, token: reply.body.token }
    },
  }
}

/** Finds the one-time token in the latest mail to an address. */
export function invitationFor(app: TestApp, email: string): string {
  const mail = app.mails.findLast((candidate) => candidate.to.includes(email))
  const token = mail && /[?&]token=([\w.~-]+)/.exec(mail.text)?.[1]
  if (token === undefined) throw new Error(`no mail with a link was sent to ${email}`)
  return token
}

/** Two organizations that must not see each other, and callers of every kind in the first. */
export type Stage = {
  app: TestApp
  own: Maker
  other: Maker
  /** Credentials that must not be accepted. */
  shut: Readonly<Record<string, { key?: string; token?: string }>>
  /** Callers with one system role each. */
  callers: Readonly<Record<string, { key?: string; token?: string }>>
}

const MINUTE_S = 60

/** Only metadata are kept there: the shared event store has no disk for backups. */
export const placeOfBackups = (): string => pathToFileURL(join(inject('stores').dataDir, `backups-${randomUUID()}`)).href

export async function openStage(): Promise<Stage> {
  const app = await openTestApp(
    { DENDRO_WEBHOOK_ALLOW: '127.0.0.1', DENDRO_BACKUP_URL: placeOfBackups() },
    (world) => [exporting(world)],
    web,
  )
  const [ownOrg, otherOrg] = [await app.newOrganization(), await app.newOrganization()]
  const own = makerIn(app, ownOrg)
  const deleted = await own.made<{ id: string; key: string }>('/api-keys', { name: 'deleted', roles: ['AdminApi'] })
  await ownOrg.ask('GET', '/datasets', { key: deleted.key })
  await ownOrg.ask('DELETE', `/api-keys/${deleted.id}`)
  const expired = await own.made<{ key: string }>('/api-keys', { name: 'expired', roles: ['AdminApi'], ttl: MINUTE_S })
  app.clock.advance((MINUTE_S + 1) * 1000)
  const [left, barred, gone] = [await own.person(), await own.person(), await own.person()]
  await ownOrg.ask('POST', '/auth/logout', { token: left.token })
  await ownOrg.ask('POST', `/users/${barred.id}/deactivate`)
  await ownOrg.ask('DELETE', `/users/${gone.id}`)
  const person = async (role: string) => ({ token: (await own.person([role])).token })
  return {
    app,
    own,
    other: makerIn(app, otherOrg),
    shut: {
      'an unknown key': { key: `dk_${randomUUID()}` },
      'a deleted key': { key: deleted.key },
      'an expired key': { key: expired.key },
      'a token that nobody signed': { token: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.AAAA' },
      'the token of a user who logged out': { token: left.token },
      'the token of a deactivated user': { token: barred.token },
      'the token of a deleted user': { token: gone.token },
    },
    callers: {
      SearchApi: { key: await ownOrg.newKey(['SearchApi']) },
      IngestionApi: { key: await ownOrg.newKey(['IngestionApi']) },
      Standard: await person('Standard'),
      ReadOnly: await person('ReadOnly'),
    },
  }
}
