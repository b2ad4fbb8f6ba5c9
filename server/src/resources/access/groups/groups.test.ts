import { randomUUID } from 'node:crypto'
import type { FailureBody, GroupMember, Role, UserGroup } from '@dendro/api'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization, type TestUser } from '../../../../../test/support/world.ts'
import { reachedGroups } from './groups.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app.close())

const newGroup = async (name: string): Promise<string> => (await org.ask<UserGroup>('POST', '/groups', { body: { name } })).body.id
const userMember = (id: string) => ({ member_id: id, member_type: 'USER' })
const groupMember = (id: string) => ({ member_id: id, member_type: 'GROUP' })
const add = (group: string, members: object[], key?: string) =>
  org.ask<FailureBody>('POST', `/groups/${group}/members`, { body: { members }, ...(key ? { key } : {}) })
const drop = (group: string, members: object[]) => org.ask('DELETE', `/groups/${group}/members`, { body: { members } })
const membersOf = async (group: string) =>
  (await org.ask<{ members: GroupMember[] }>('GET', `/groups/${group}/members`)).body.members.map((member) => member.member_id).toSorted()
const grant = (group: string, roles: string[]) =>
  org.ask('POST', `/organizations/${org.orgId}/access/group/${group}`, { body: { roles, status: 'active' } })

describe('the record', () => {
  test('a group has both id fields, its times and its creator, and is found in the list and by id', async () => {
    const made = await org.ask<UserGroup>('POST', '/groups', { body: { name: 'Ops', description: 'On call' } })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'Ops', description: 'On call', id: made.body.group_id })
    expect(made.body.created_at).toBe(made.body.modified_at)
    expect(made.body.metadata.created_by?.type).toBe('API_KEY_ID')
    expect((await org.ask<{ groups: UserGroup[] }>('GET', '/groups')).body).toEqual({ groups: [made.body] })
    expect((await org.ask('GET', `/groups/${made.body.id}`)).body).toEqual(made.body)
  })

  test('the newest group is first in the list', async () => {
    await newGroup('first')
    app.clock.advance(1)
    await newGroup('second')
    const { body } = await org.ask<{ groups: UserGroup[] }>('GET', '/groups')
    expect(body.groups.map((group) => group.name)).toEqual(['second', 'first'])
  })

  test('a name is required, has 1 to 255 characters, and is unique regardless of case', async () => {
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(256) }, { name: 7 }, { name: 'a\u0000' }]) {
      expect((await org.ask('POST', '/groups', { body })).status, JSON.stringify(body)).toBe(400)
    }
    await newGroup('Ops')
    expect((await org.ask('POST', '/groups', { body: { name: 'ops' } })).status).toBe(409)
    const other = await app.newOrganization()
    expect((await other.ask('POST', '/groups', { body: { name: 'Ops' } })).status).toBe(201)
  })

  test('only one of ten concurrent requests gets a name', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => org.ask('POST', '/groups', { body: { name: 'One' } })))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, ...Array(9).fill(409)])
  })

  test('a change keeps omitted fields and ignores read-only ones', async () => {
    const id = await newGroup('Ops')
    app.clock.advance(5)
    const described = await org.ask<UserGroup>('PATCH', `/groups/${id}`, {
      body: { description: 'On call', created_at: 1, id: randomUUID() },
    })
    expect(described.status).toBe(200)
    expect(described.body).toMatchObject({ id, name: 'Ops', description: 'On call' })
    expect(described.body.modified_at).toBeGreaterThan(described.body.created_at)
    const renamed = await org.ask<UserGroup>('PATCH', `/groups/${id}`, { body: { name: 'OPS' } })
    expect(renamed.body).toMatchObject({ name: 'OPS', description: 'On call' })
    expect((await org.ask('PATCH', `/groups/${id}`, { body: {} })).body).toEqual(renamed.body)
    await newGroup('Dev')
    expect((await org.ask('PATCH', `/groups/${id}`, { body: { name: 'dev' } })).status).toBe(409)
  })

  test('a deleted group takes its memberships and grants with it', async () => {
    const [outer, middle, inner] = [await newGroup('outer'), await newGroup('middle'), await newGroup('inner')]
    await add(outer, [groupMember(middle)])
    await add(middle, [groupMember(inner)])
    await grant(middle, ['Standard'])
    const gone = await org.ask('DELETE', `/groups/${middle}`)
    expect([gone.status, gone.body]).toEqual([204, ''])
    expect((await org.ask('GET', `/groups/${middle}`)).status).toBe(404)
    expect((await org.ask('DELETE', `/groups/${middle}`)).status).toBe(404)
    expect(await membersOf(outer)).toEqual([])
    expect(await reachedGroups(app.app.world, org.orgId, inner)).toEqual(new Set())
    const access = await org.ask<{ items: { members: unknown[] }[] }>('GET', '/access')
    expect(access.body.items[0]?.members).toEqual([])
    expect((await org.ask('POST', '/groups', { body: { name: 'middle' } })).status).toBe(201)
  })

  test('a malformed id is 400; an unknown one and one of another organization are 404', async () => {
    const other = await app.newOrganization()
    const foreign = await other.ask<UserGroup>('POST', '/groups', { body: { name: 'theirs' } })
    for (const [id, status] of [
      ['nope', 400],
      [randomUUID(), 404],
      [foreign.body.id, 404],
    ] as const) {
      const body = { members: [userMember(randomUUID())] }
      expect((await org.ask('GET', `/groups/${id}`)).status).toBe(status)
      expect((await org.ask('PATCH', `/groups/${id}`, { body: { name: 'mine' } })).status).toBe(status)
      expect((await org.ask('GET', `/groups/${id}/members`)).status).toBe(status)
      expect((await org.ask('POST', `/groups/${id}/members`, { body })).status).toBe(status)
      expect((await org.ask('DELETE', `/groups/${id}/members`, { body })).status).toBe(status)
      expect((await org.ask('DELETE', `/groups/${id}`)).status).toBe(status)
    }
  })

  test('the audit trail records added and removed members', async () => {
    const [outer, inner] = [await newGroup('outer'), await newGroup('inner')]
    await add(outer, [groupMember(inner)])
    await add(outer, [groupMember(inner)])
    await drop(outer, [groupMember(inner)])
    const { body } = await org.ask<{ audit: { action: string; before: unknown; after: unknown }[] }>('GET', `/audit?entity_id=${outer}`)
    expect(body.audit.map((record) => record.action)).toEqual(['groups.removeMembers', 'groups.addMembers', 'groups.create'])
    expect(body.audit[0]?.before).toEqual({ removed: [groupMember(inner)] })
    expect(body.audit[1]?.after).toEqual({ added: [groupMember(inner)] })
  })
})

describe('members', () => {
  test('users and groups are added as members once, and the next read shows them', async () => {
    const [outer, inner] = [await newGroup('outer'), await newGroup('inner')]
    const user = await org.newUser(['Standard'])
    expect((await add(outer, [groupMember(inner), userMember(user.id)])).status).toBe(204)
    expect((await add(outer, [groupMember(inner), groupMember(inner)])).status).toBe(204)
    const { body } = await org.ask<{ members: GroupMember[] }>('GET', `/groups/${outer}/members`)
    const shapes = body.members.map(({ group_id, member_id, member_type }) => ({ group_id, member_id, member_type }))
    expect(shapes).toHaveLength(2)
    expect(shapes).toContainEqual({ group_id: outer, member_id: user.id, member_type: 'USER' })
    expect(shapes).toContainEqual({ group_id: outer, member_id: inner, member_type: 'GROUP' })
    expect(body.members.every((member) => member.modified_at > 0)).toBe(true)
  })

  test('members named for removal leave, absent ones are passed over', async () => {
    const [outer, one, two] = [await newGroup('outer'), await newGroup('one'), await newGroup('two')]
    await add(outer, [groupMember(one), groupMember(two)])
    expect((await drop(outer, [groupMember(one), userMember(randomUUID())])).status).toBe(204)
    expect((await drop(outer, [groupMember(one)])).status).toBe(204)
    expect(await membersOf(outer)).toEqual([two])
  })

  test('1 to 100 members are named at a time, each by id and kind', async () => {
    const group = await newGroup('g')
    const bad = [
      {},
      { members: [] },
      { members: Array.from({ length: 101 }, () => userMember(randomUUID())) },
      { members: [{ member_id: randomUUID() }] },
      { members: [{ member_id: randomUUID(), member_type: 'KEY' }] },
      { members: [{ member_id: 'nope', member_type: 'USER' }] },
    ]
    for (const body of bad) {
      for (const method of ['POST', 'DELETE']) {
        expect((await org.ask(method, `/groups/${group}/members`, { body })).status, JSON.stringify(body)).toBe(400)
      }
    }
    expect((await org.ask('DELETE', `/groups/${group}/members`)).status).toBe(400)
    const inner: string[] = []
    for (let nth = 0; nth < 100; nth += 1) inner.push(await newGroup(`inner ${nth}`))
    expect((await add(group, inner.map(groupMember))).status).toBe(204)
    expect(await membersOf(group)).toHaveLength(100)
  })

  test('an unknown member is rejected, and no member is added', async () => {
    const [outer, inner] = [await newGroup('outer'), await newGroup('inner')]
    const other = await app.newOrganization()
    const foreign = await other.ask<UserGroup>('POST', '/groups', { body: { name: 'theirs' } })
    const stranger = await other.newUser(['Standard'])
    for (const unknown of [
      userMember(randomUUID()),
      groupMember(randomUUID()),
      userMember(inner),
      groupMember(foreign.body.id),
      userMember(stranger.id),
    ]) {
      const refused = await add(outer, [groupMember(inner), unknown])
      expect(refused.status).toBe(400)
      expect(refused.body.details).toContain(unknown.member_id)
    }
    expect(await membersOf(outer)).toEqual([])
  })

  test('a group can contain itself neither directly nor through others', async () => {
    const [a, b, c] = [await newGroup('a'), await newGroup('b'), await newGroup('c')]
    expect((await add(a, [groupMember(a)])).status).toBe(400)
    expect((await add(a, [groupMember(b)])).status).toBe(204)
    expect((await add(b, [groupMember(c)])).status).toBe(204)
    expect((await add(c, [groupMember(a)])).status).toBe(400)
    expect((await add(b, [groupMember(a)])).status).toBe(400)
    expect((await add(a, [groupMember(c)])).status).toBe(204)
  })

  test('additions at the same time make no cycle either', async () => {
    const ring = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(newGroup))
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(ring.map((group, nth) => add(group, [groupMember(ring[(nth + 1) % ring.length] ?? '')])))
      expect(answers.map((answer) => answer.status).toSorted()).toEqual([204, 204, 204, 204, 400])
      for (const group of ring) expect((await reachedGroups(app.app.world, org.orgId, group)).has(group)).toBe(false)
      await Promise.all(ring.map((group, nth) => drop(group, [groupMember(ring[(nth + 1) % ring.length] ?? '')])))
    }
  })

  test('a member gets exactly the groups that follow from the memberships, in any graph', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, (_, nth) => newGroup(`node ${nth}`)))
    const links = fc.uniqueArray(
      fc.tuple(fc.nat(5), fc.nat(5)).map(([from, to]) => [Math.min(from, to), Math.max(from, to)] as const),
      { maxLength: 10, selector: String },
    )
    await fc.assert(
      fc.asyncProperty(links, async (drawn) => {
        const kept = drawn.filter(([inner, outer]) => inner !== outer)
        for (const [inner, outer] of kept) await add(ids[outer] ?? '', [groupMember(ids[inner] ?? '')])
        const reach = (from: number): Set<number> =>
          new Set(kept.filter(([inner]) => inner === from).flatMap(([, to]) => [to, ...reach(to)]))
        for (const [nth, id] of ids.entries()) {
          const expected = new Set([...reach(nth)].map((to) => ids[to]))
          expect(await reachedGroups(app.app.world, org.orgId, id)).toEqual(expected)
        }
        for (const [inner, outer] of kept) await drop(ids[outer] ?? '', [groupMember(ids[inner] ?? '')])
      }),
      { numRuns: 10 },
    )
  })
})

describe('rights', () => {
  let user: TestUser
  beforeEach(async () => {
    user = await org.newUser(['Standard'])
  })
  const read = (path: string) => app.ask('GET', path, { token: user.token })

  test('a member reads the group and its members, through other groups too, and nothing else', async () => {
    const [outer, inner, foreign] = [await newGroup('outer'), await newGroup('inner'), await newGroup('foreign')]
    expect((await read(`/groups/${inner}`)).status).toBe(403)
    await add(outer, [groupMember(inner)])
    await add(inner, [userMember(user.id)])
    for (const group of [inner, outer, inner.toUpperCase()]) {
      expect((await read(`/groups/${group}`)).status).toBe(200)
      expect((await read(`/groups/${group}/members`)).status).toBe(200)
    }
    expect((await read(`/groups/${foreign}`)).status).toBe(403)
    expect((await read(`/groups/${randomUUID()}`)).status).toBe(403)
    expect((await read('/groups')).status).toBe(403)
    expect((await app.ask('PATCH', `/groups/${inner}`, { token: user.token, body: { name: 'mine' } })).status).toBe(403)
    expect((await app.ask('DELETE', `/groups/${inner}`, { token: user.token })).status).toBe(403)
    await drop(inner, [userMember(user.id)])
    expect((await read(`/groups/${inner}`)).status).toBe(403)
  })

  test('a key without permission to read groups gets 403', async () => {
    const group = await newGroup('g')
    for (const key of [await org.newKey(['SearchApi']), await org.newKey(['IngestionApi'])]) {
      expect((await org.ask('GET', '/groups', { key })).status).toBe(403)
      expect((await org.ask('GET', `/groups/${group}`, { key })).status).toBe(403)
      expect((await add(group, [userMember(user.id)], key)).status).toBe(403)
    }
  })

  test('roles granted to a group count for its members at once, through groups in groups, and end with the membership', async () => {
    const [outer, inner] = [await newGroup('outer'), await newGroup('inner')]
    await add(outer, [groupMember(inner)])
    expect((await read('/api-keys')).status).toBe(403)
    await grant(outer, ['AdminApi'])
    expect((await read('/api-keys')).status).toBe(403)
    await add(inner, [userMember(user.id)])
    expect((await read('/api-keys')).status).toBe(200)
    await drop(outer, [groupMember(inner)])
    expect((await read('/api-keys')).status).toBe(403)
    await add(outer, [groupMember(inner)])
    expect((await read('/api-keys')).status).toBe(200)
    await org.ask('DELETE', `/groups/${outer}`)
    expect((await read('/api-keys')).status).toBe(403)
  })

  test('adding a member requires the permissions granted to the group or to a group that contains it', async () => {
    const role = await org.ask<Role>('POST', '/roles', {
      body: { role_type: 'API', display_name: 'Grouping', permissions: ['groups_read', 'groups_write', 'search_read'] },
    })
    const key = await org.newKey([role.body.role_id])
    const [outer, inner] = [await newGroup('outer'), await newGroup('inner')]
    await add(outer, [groupMember(inner)])
    expect((await add(inner, [userMember(user.id)], key)).status).toBe(204)
    await drop(inner, [userMember(user.id)])
    await grant(outer, ['Standard'])
    expect((await add(inner, [userMember(user.id)], key)).status).toBe(403)
    expect(await membersOf(inner)).toEqual([])
    expect((await add(inner, [userMember(user.id)])).status).toBe(204)
  })

  test('a removed user loses all memberships', async () => {
    const group = await newGroup('g')
    await add(group, [userMember(user.id)])
    expect((await org.ask('DELETE', `/users/${user.id}`)).status).toBe(204)
    expect(await membersOf(group)).toEqual([])
  })
})
