import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import type { Meta } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'
import { knownFamilies } from './known-families.ts'
import { decideAbout, type NewPattern } from './learn.ts'

let database: TestDatabase
let here: Meta
let there: Meta
beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  here = await database.open()
  there = await database.open()
})
afterAll(() => database.drop())

async function newDataset(): Promise<{ orgId: string; logId: string }> {
  const [orgId, logId] = [randomUUID(), randomUUID()]
  await here.run(sql`insert into organisations (id, name, created_at, modified_at) values (${orgId}, ${orgId}, 0, 0)`)
  await here.run(sql`
    insert into datasets (org_id, id, collection, dataset, created_at, modified_at) values (${orgId}, ${logId}, 'c', 'd', 0, 0)`)
  return { orgId, logId }
}

const userNamed = (number: number): string => [...String(number)].map((digit) => 'bdfgjkmnpq'[Number(digit)]).join('')
const logins = (from: number, to: number): NewPattern[] =>
  Array.from({ length: to - from }, (_, at) => ({ pattern: BigInt(from + at), message: `login of ${userNamed(from + at)} refused` }))

async function familiesOf(meta: Meta, orgId: string, logId: string) {
  return (await knownFamilies(meta, orgId, [logId])).get(logId) ?? new Map<bigint, bigint | undefined>()
}

test('processes that decide at once agree on one family, whatever the order', async () => {
  const { orgId, logId } = await newDataset()
  await Promise.all([
    decideAbout(here, orgId, logId, logins(100, 140)),
    decideAbout(there, orgId, logId, logins(120, 160)),
    decideAbout(here, orgId, logId, logins(100, 160).toReversed()),
  ])
  const [mine, theirs] = [await familiesOf(here, orgId, logId), await familiesOf(there, orgId, logId)]
  expect(mine.size).toBe(60)
  expect(new Set(mine.values()).size).toBe(1)
  expect(new Map([...theirs].toSorted())).toEqual(new Map([...mine].toSorted()))
})

test('a pattern of earlier masks joins the family of its message, and keeps it', async () => {
  const { orgId, logId } = await newDataset()
  await decideAbout(here, orgId, logId, logins(100, 103))
  const [family] = [...new Set((await familiesOf(here, orgId, logId)).values())]
  expect(family).toBeDefined()
  // Another masker gave the same message another id.
  await decideAbout(here, orgId, logId, [{ pattern: 0xabcn, message: `login of ${userNamed(100)} refused` }])
  await decideAbout(there, orgId, logId, [{ pattern: 0xabcn, message: 'something else' }])
  for (const meta of [here, there]) expect((await familiesOf(meta, orgId, logId)).get(0xabcn)).toBe(family)
})

test('the families that a process knows grow by decisions of others', async () => {
  const { orgId, logId } = await newDataset()
  await decideAbout(here, orgId, logId, [
    { pattern: 1n, message: 'mail to ada sent' },
    { pattern: 2n, message: undefined },
  ])
  expect([...(await familiesOf(there, orgId, logId))]).toEqual([
    [1n, undefined],
    [2n, undefined],
  ])
  await decideAbout(here, orgId, logId, [{ pattern: 3n, message: 'mail to grace sent' }])
  const known = await familiesOf(there, orgId, logId)
  expect(known.get(1n)).toBe(known.get(3n))
  expect(known.get(1n)).toBeDefined()
  expect(known.get(2n)).toBeUndefined()
})

test('nothing is decided about a dataset that is gone', async () => {
  const { orgId } = await newDataset()
  const logId = randomUUID()
  await decideAbout(here, orgId, logId, logins(1, 3))
  expect((await knownFamilies(here, orgId, [logId])).size).toBe(0)
})
