import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from './database.fixture.ts'
import type { Meta } from './meta.ts'
import { openNumberClaims } from './number-claims.ts'
import { sql } from './sql.ts'

const SIZE = 4_194_304n
const DAY_NUMBERS = 86_400_000_000_000n

let database: TestDatabase
let meta: Meta
beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  meta = await database.open()
})
afterAll(() => database.drop())

test('processes that claim at once get different blocks, all of them odd, at least the given number and above earlier ones', async () => {
  const other = await database.open()
  const claims = [meta, other].map(openNumberClaims)
  expect(await claims[0]?.last()).toBe(0n)
  const from = 60_000_000_000_000_003n
  const pending = Array.from({ length: 30 }, (_, nth) => claims[nth % 2]?.claim(from + BigInt(nth % 3) * SIZE, SIZE))
  const firsts = (await Promise.all(pending)).map((first) => first ?? -1n)
  expect(new Set(firsts).size).toBe(30)
  for (const first of firsts) expect([first % (2n * SIZE), first >= from]).toEqual([SIZE, true])
  const highest = firsts.toSorted((a, b) => Number(a - b)).at(-1) ?? 0n
  expect(await claims[1]?.last()).toBe(highest + SIZE)
  // A clock that went back lowers nothing.
  expect(await claims[0]?.claim(0n, SIZE)).toBe(highest + 2n * SIZE)
})

test('a number that a block begins with is its first', async () => {
  const claims = openNumberClaims(meta)
  const place = (await claims.last()) / SIZE + 1_001n
  const odd = place | 1n
  expect(await claims.claim(odd * SIZE, SIZE)).toBe(odd * SIZE)
  expect(await claims.claim((odd + 3n) * SIZE, SIZE)).toBe((odd + 4n) * SIZE)
})

test('blocks of days before are deleted, and the last one stays', async () => {
  const claims = openNumberClaims(meta)
  const last = await claims.last()
  const far = await claims.claim(last + 3n * DAY_NUMBERS, SIZE)
  expect(await meta.all(sql`select next::text from number_claims`)).toEqual([{ next: String((far ?? 0n) + SIZE) }])
})

test.each([
  ['a new deployment', 0, 1_000, true],
  ['an upgrade that may be under way', 90 * 86_400_000, 3_600_000, false],
  ['an upgrade that is over', 90 * 86_400_000, 90_000_000, true],
])('%s: numbers are claimed as soon as every process respects it', async (_, firstAgoMs, madeAgoMs, isClaimed) => {
  const of = await makeTestDatabase(inject('stores').meta)
  try {
    const db = await of.open()
    const nowMs = Date.now()
    const made = nowMs - madeAgoMs
    await db.run(sql`update migrations set applied_at = ${firstAgoMs === 0 ? made : nowMs - firstAgoMs}`)
    await db.run(sql`update compatible_migrations set applied_at = ${made}`)
    expect((await openNumberClaims(db).claim(1n, SIZE)) !== undefined).toBe(isClaimed)
  } finally {
    await of.drop()
  }
})
