import { contract } from '@dendro/api'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Failure } from '../kernel/errors.ts'
import { check } from './validation.ts'

/** The problems that a part of a request is refused with. */
function problemsWith(schema: z.ZodType, given: unknown): string[] {
  try {
    check(schema, given, 'body')
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown

    return (thrown.errors ?? []).map(({ field, message }) => `${field} ${message}`)
  }
  return []
}

const user = { first_name: 'A', last_name: 'B', email: 'a@example.org', roles: ['Standard'] }

test.each<[z.ZodType, object, string[]]>([
  [contract.users.create.body, { ...user, email: undefined }, ['email is required']],
  [contract.users.create.body, { ...user, email: null }, ['email is required']],
  [contract.users.create.body, { ...user, email: 5 }, ['email must be an e-mail address']],
  [contract.users.create.body, { ...user, email: '' }, ['email must be an e-mail address']],
  [contract.limits.update.body, { value: '5' }, [`value must be a number from 0 to ${2n ** 63n - 1n}`]],
  [z.object({ id: z.guid({ error: 'must be a UUID' }) }), {}, ['id is required']],
  [z.object({ ids: z.array(z.guid({ error: 'must be a UUID' })) }), { ids: [null] }, ['ids.0 must be a UUID']],
])('a missing field is required, and a wrong one says its form: %#', (schema, given, problems) => {
  expect(problemsWith(schema, given)).toEqual(problems)
})

test('a missing number of a limit is required', () => {
  expect(problemsWith(contract.limits.create.body, {})).toContain('value is required')
})

test('a text in place of a list is one problem, whatever its length', () => {
  const schema = z.object({ select: z.array(z.string()).min(1).max(1) })
  expect(problemsWith(schema, { select: 'count(*)' })).toEqual(['select must be a list'])
  expect(problemsWith(schema, { select: '' })).toEqual(['select must be a list'])
})

function detailsOf(schema: z.ZodType, value: unknown): string | undefined {
  try {
    check(schema, value, 'body')
    return undefined
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.message
    throw thrown
  }
}

const own = z.object({ id: z.guid({ error: 'must be the id of a thing' }) })
const { users, roles, groups, limits, sso, search } = contract
const role = { role_type: 'API', display_name: 'x' }

test.each<[string, z.ZodType, unknown, string]>([
  ['a field that is missing, where the schema has its own message', own, {}, 'id is required'],
  ['and null, which is absent', own, { id: null }, 'id is required'],
  ['but not a field of another type', own, { id: 5 }, 'id must be the id of a thing'],
  ['in an item of a list', groups.addMembers.body, { members: [{ member_type: 'USER' }] }, 'members.0.member_id is required'],
  ['a number of any size', limits.update.body.required().pick({ value: true }), {}, 'value is required'],
  ['a text in place of a list, however long it is', groups.addMembers.body, { members: 'x'.repeat(500) }, 'members must be a list'],
  ['a value that fits none of two forms', users.update.body, { login_methods: 'Password' }, 'login_methods must be a list or an object'],
  [
    'the form with fewer problems',
    users.update.body,
    { login_methods: { Password: 'no' } },
    'login_methods.Password must be true or false',
  ],
  ['an item that fits none', roles.create.body, { ...role, permissions: [5] }, 'permissions.0 must be text or an object'],
  [
    'nested forms',
    sso.preview.body,
    { idp: 'x', claims: { a: { b: { c: { d: 1 } } } } },
    'claims.a.b.c must be text or a number or true or false or a list',
  ],
  ['one item', z.object({ list: z.array(z.string()).min(1) }), { list: [] }, 'list must have at least 1 item'],
  ['two characters', z.object({ text: z.string().min(2) }), { text: 'x' }, 'text must have at least 2 characters'],
  ['a UUID without a message', z.object({ id: z.guid() }), { id: 'x' }, 'id must be a UUID'],
  ['a number in place of a list', search.run.body, { select: 5 }, 'select must be a list'],
])('the violated rule is named: %s', (_, schema, value, details) => {
  expect(detailsOf(schema, value)).toBe(details)
})
