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
