import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Clock } from '../kernel/clock.ts'
import { makeTestDatabase, type TestDatabase, testDeps } from './database.fixture.ts'
import type { Meta } from './meta.ts'
import { openPostClaims } from './post-claims.ts'
import { sql } from './sql.ts'

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

test('a claim that another new process makes meanwhile is respected, also by a statement that waited since before', async () => {
  const logId = randomUUID()
  const key = (post: bigint) => ({ orgNumber: 7, logId, post })
  const [first, second] = [openPostClaims(meta, randomUUID(), testDeps), openPostClaims(meta, randomUUID(), testDeps)]
  await second.claim(key(9n), 1n)
  const isLocked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const locking = meta
    .write(randomUUID(), async (tx) => {
      await tx.run(sql`insert into post_claims (org_number, log_id, post, body_hash, claimed_at) values (7, ${logId}, 1, 1, 0)`)
      isLocked.resolve()
      await release.promise
      throw new Error('rolled back')
    })
    .catch(() => undefined)
  await isLocked.promise
  const waiting = Promise.all([1n, 2n].map((post) => second.claim(key(post), 1n)))
  await expect
    .poll(() =>
      meta.one(sql`select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%post_claims%' and pid <> pg_backend_pid()`),
    )
    .toBeDefined()
  expect(await first.claim(key(2n), 1n)).toMatchObject({ kind: 'claimed' })
  release.resolve()
  await locking
  expect((await waiting).map(({ kind }) => kind)).toEqual(['claimed', 'held'])
  for (const claims of [first, second]) await claims.close()
})
