import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Clock } from '../kernel/clock.ts'
import { makeTestDatabase, type TestDatabase, testDeps } from './database.fixture.ts'
import type { Meta } from './meta.ts'
import { openPostClaims } from './post-claims.ts'

const LEASE_MS = 30_000

let database: TestDatabase
let meta: Meta
beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  meta = await database.open()
})
afterAll(() => database.drop())

test.each([
  ['the machine was suspended, which monotonic time does not count', { wallMs: LEASE_MS, monotonicMs: 0 }],
  ['the lease ran out while the wall clock was set back', { wallMs: -3_600_000, monotonicMs: LEASE_MS }],
])('a claim is not valid any more when %s', async (_, passed) => {
  let [wallMs, monotonicMs] = [0, 0]
  const clock: Clock = {
    ...testDeps.clock,
    nowMs: () => testDeps.clock.nowMs() + wallMs,
    monotonicMs: () => testDeps.clock.monotonicMs() + monotonicMs,
  }
  const claims = openPostClaims(meta, randomUUID(), { ...testDeps, clock }, LEASE_MS)
  const key = { orgNumber: 7, logId: randomUUID(), post: 1n }
  const claim = await claims.claim(key, 2n)
  if (claim.kind !== 'claimed') throw new Error('the post was not claimed')
  expect(claim.isValid()).toBe(true)
  wallMs = passed.wallMs
  monotonicMs = passed.monotonicMs
  expect(claim.isValid()).toBe(false)
  await claims.finish(key, 'nothing')
  await claims.close()
})
