import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization, type TestUser } from '../../../../../test/support/world.ts'
import { makeServiceDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import { sql } from '../../../meta/sql.ts'

let database: TestDatabase
let here: TestApp
let there: TestApp
let org: TestOrganization
beforeAll(async () => {
  database = await makeServiceDatabase(inject('stores'))
  here = await openTestApp({ DENDRO_POSTGRES_URL: database.url })
  there = await openTestApp({ DENDRO_POSTGRES_URL: database.url })
  org = await here.newOrganization()
})
afterAll(async () => {
  await here.close()
  await there.close()
  await database.drop()
})

const notifying = async (table: string, act: () => Promise<unknown>): Promise<void> => {
  const heard = Promise.withResolvers<void>()
  const stop = there.app.world.meta.onChange((orgId, changed) => orgId === org.orgId && changed === table && heard.resolve())
  await act()
  await heard.promise
  stop()
}

test('a login invalidates only the cached values of that user in other processes', async () => {
  const [watcher, other]: [TestUser, TestUser] = [await org.newUser(['ReadOnly']), await org.newUser(['ReadOnly'])]
  await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })
  const remembered = async () => {
    for (const own of [{ key: org.key }, { token: watcher.token }, { token: other.token }]) {
      expect((await there.ask('GET', '/datasets', own)).status).toBe(200)
    }
  }
  await notifying('roles', () =>
    org.ask('POST', '/roles', { body: { role_type: 'USER', display_name: 'Marker', permissions: ['logs_read'] } }),
  )
  await remembered()
  const heard = new Set<string>()
  const stop = there.app.world.meta.onChange(
    (orgId, table, id) => orgId === org.orgId && heard.add(table === 'sessions' ? table : `${table} ${id}`),
  )
  const login = { email: other.email, password: other.password }
  await notifying('sessions', async () => expect((await here.ask('POST', '/auth/login', { body: login })).status).toBe(200))
  stop()
  expect([...heard].filter((line) => !['sessions', `users ${other.id}`].includes(line))).toEqual([])
  const { meta } = there.app.world
  const statements = [vi.spyOn(meta, 'all'), vi.spyOn(meta, 'one'), vi.spyOn(meta, 'run')]
  for (const own of [{ key: org.key }, { token: watcher.token }]) expect((await there.ask('GET', '/datasets', own)).status).toBe(200)
  expect(statements.flatMap(({ mock }) => mock.calls)).toEqual([])
  for (const statement of statements) statement.mockRestore()
})

test('permissions follow the roles of a user in every process and end with the user, even if an invalidation is missed', async () => {
  // One administrator has to stay.
  await org.newUser(['Administrator'])
  const user = await org.newUser(['Administrator'])
  const mayList = async () => (await there.ask('GET', '/api-keys', { token: user.token })).status
  expect(await mayList()).toBe(200)
  await there.app.world.meta.all(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ~* '^(listen|select 1$)' and pid <> pg_backend_pid()`)
  expect((await org.ask('PATCH', `/users/${user.id}`, { body: { roles: ['ReadOnly'] } })).status).toBe(200)
  await expect.poll(mayList, { interval: 20 }).toBe(403)
  expect((await org.ask('DELETE', `/users/${user.id}`)).status).toBeLessThan(300)
  await expect.poll(mayList, { interval: 20 }).toBe(401)
})
