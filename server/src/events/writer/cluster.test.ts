import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { unavailable } from '../../kernel/errors.ts'
import { makeTestDatabase, type TestDatabase } from '../../meta/database.fixture.ts'
import type { Meta } from '../../meta/meta.ts'
import { openNumberClaims } from '../../meta/number-claims.ts'
import { openPostClaims } from '../../meta/post-claims.ts'
import { startTestCluster, type TestCluster } from '../store/cluster.fixture.ts'
import { MEMORY_BYTES, testDeps } from '../store/engine.fixture.ts'
import { type EventStore, openEventStore } from '../store/events.ts'
import { postOf } from './blocks.fixture.ts'
import type { Post, PostResult } from './post.ts'
import { type EventWriter, openEventWriter } from './writer.ts'

/** After the 9.5 s at which a caller gets a 503. */
const LATE_MS = 9_750
const TEN_MINUTES_MS = 600_000
let cluster: TestCluster
let store: EventStore
let writer: EventWriter
let database: TestDatabase
let meta: Meta
let numberClaims: ReturnType<typeof openNumberClaims>
let advancedMs = 0
const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / 100 + advancedMs }

beforeAll(async () => {
  cluster = await startTestCluster()
  store = await openEventStore({ url: cluster.url, dataDir: '', memoryBytes: MEMORY_BYTES }, testDeps)
  database = await makeTestDatabase(inject('stores').meta)
  meta = await database.open()
  numberClaims = openNumberClaims(meta)
  writer = await openEventWriter(store, { ...testDeps, clock, numberClaims })
  // Before the first claim, every shard is asked for its highest number.
  await writer.write(postOf(['before']))
})
afterEach(async () => {
  cluster.verdict = () => 'pass'
  cluster.insertsTo = [0]
  await cluster.start(1)
})
afterAll(async () => {
  await writer?.close()
  await store?.close()
  await cluster?.close()
  await database?.drop()
})

/** A process that the metadata store does not answer. */
const metadataAway = {
  last: () => Promise.reject(unavailable('the metadata store is away')),
  claim: () => Promise.reject(unavailable('the metadata store is away')),
}

const isInsert = (statement: string): boolean => statement.startsWith('insert into pattern_events_')
const storedIn = (logId: string): Promise<string> => cluster.ask(0, `select count() from pattern_events_s_local where log_id = '${logId}'`)

async function written(post: Post): Promise<{ answer: string; end: PostResult }> {
  const end = Promise.withResolvers<PostResult>()
  const answer = writer.write({ ...post, onSettled: end.resolve }).then(
    ({ kind }) => kind,
    (failure) => `failed ${failure.status}`,
  )
  return { answer: await answer, end: await end.promise }
}

test('an insert whose answer is lost while another node is away is found, and nothing waits for that node', async () => {
  await cluster.stop(1)
  const logId = randomUUID()
  let lost = 0
  cluster.verdict = (statement) => {
    if (!isInsert(statement) || lost > 0) return 'pass'
    lost += 1
    return 'lose answer'
  }
  expect((await written(postOf(['one', 'two'], { logId }))).answer).toBe('stored')
  expect(lost).toBe(1)
  expect((await written(postOf(['three'], { logId }))).answer).toBe('stored')
  expect(await storedIn(logId)).toBe('3')
})

test('an insert that did not arrive is done again, though no statement reaches all nodes', async () => {
  const logId = randomUUID()
  let cut = 0
  cluster.verdict = (statement) => {
    if (/on cluster/i.test(statement)) return { code: 159, message: 'There are 1 unfinished hosts' }
    if (!isInsert(statement) || cut > 0) return 'pass'
    cut += 1
    return { code: 210, message: 'the connection was lost' }
  }
  expect((await written(postOf(['one', 'two'], { logId }))).answer).toBe('stored')
  expect(cut).toBe(1)
  expect(await storedIn(logId)).toBe('2')
})

test('an insert whose answer is lost is found on the node that a load balancer chose, though other nodes have nothing', async () => {
  cluster.insertsTo = [1]
  const logId = randomUUID()
  let lost = 0
  let distributed = 0
  cluster.verdict = (statement) => {
    if (/from pattern_events_[sml]\s+where toDate/.test(statement)) distributed += 1
    if (!isInsert(statement) || lost > 0) return 'pass'
    lost += 1
    return 'lose answer'
  }
  expect((await written(postOf(['one', 'two'], { logId }))).answer).toBe('stored')
  expect([lost, distributed]).toEqual([1, 0])
  expect(await storedIn(logId)).toBe('0')
  expect(await cluster.ask(1, `select count() from pattern_events_s_local where log_id = '${logId}'`)).toBe('2')
})

test.each([
  ['insert into seq_claims', 285, 'Number of alive replicas (1) is less than requested quorum (2/2)'],
  ['insert into seq_claims', 286, 'Quorum for previous write has not been satisfied yet'],
  ['select claim', 289, 'Replica does not have part which was already written to other replicas'],
])(
  'while more than half of the nodes and the metadata store are away, posts are 503 and stored later: %s fails with %i',
  async (start, code, message) => {
    const other = await openEventWriter(store, { ...testDeps, numberClaims: metadataAway })
    try {
      let failed = 0
      cluster.verdict = (statement) => {
        if (!statement.trimStart().toLowerCase().startsWith(start)) return 'pass'
        failed += 1
        return { code, message }
      }
      const logId = randomUUID()
      const refused = await other.write(postOf(['one'], { logId })).catch((failure: unknown) => failure)
      expect(refused).toMatchObject({ status: 503 })
      expect(failed).toBeGreaterThan(0)
      cluster.verdict = () => 'pass'
      expect((await other.write(postOf(['one'], { logId }))).kind).toBe('stored')
      expect(await storedIn(logId)).toBe('1')
    } finally {
      await other.close()
    }
  },
)

test('while half of the nodes are away, several processes store events with different numbers, which go on rising when the nodes are back', async () => {
  const processes = await Promise.all([1, 2, 3].map(() => openEventWriter(store, { ...testDeps, numberClaims })))
  const logId = randomUUID()
  const numbers: bigint[] = []
  const round = async (): Promise<bigint[]> => {
    const answers = await Promise.all(processes.map((each) => each.write(postOf(['one', 'two'], { logId }))))
    return answers.map((answer) => (answer.kind === 'stored' ? answer.firstSeq : -1n))
  }
  try {
    const before = await processes[0]?.settled.last()
    await cluster.stop(1)
    const inMetadata = await numberClaims.last()
    numbers.push(...(await round()), ...(await round()))
    expect(await numberClaims.last()).toBeGreaterThan(inMetadata)
    // The highest number is known to all, also to those that claim nothing.
    const during = (await writer.settled.last()) ?? 0n
    expect(during).toBeGreaterThan(before ?? 0n)
    for (const number of numbers) expect([number > (before ?? 0n), number + 1n < during]).toEqual([true, true])
    await cluster.start(1)
    const claims = async (): Promise<number> => Number(await cluster.ask(0, 'select count() from seq_claims'))
    const claimed = await claims()
    const writeInNewProcess = async (): Promise<number> => {
      const later = await openEventWriter(store, { ...testDeps, numberClaims })
      const answer = await later.write(postOf(['one', 'two'], { logId }))
      await later.close()
      numbers.push(answer.kind === 'stored' ? answer.firstSeq : -1n)
      expect(numbers.at(-1)).toBeGreaterThanOrEqual(during)
      return claims()
    }
    // Claims are made in the event store again, unless it is slow.
    await expect.poll(writeInNewProcess).toBeGreaterThan(claimed)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(await cluster.ask(0, `select (count(), uniqExact(seq)) from pattern_events_s_local where log_id = '${logId}'`)).toBe(
      `(${2 * numbers.length},${2 * numbers.length})`,
    )
  } finally {
    for (const each of processes) await each.close()
  }
})

test('processes of this version and of the version before, which claims in the event store alone, store events with different numbers', async () => {
  const processes = await Promise.all(
    [{ numberClaims }, {}, { numberClaims }, {}].map((of) => openEventWriter(store, { ...testDeps, ...of })),
  )
  const logId = randomUUID()
  const answers = await Promise.all(processes.flatMap((each) => [1, 2, 3].map(() => each.write(postOf(['one', 'two'], { logId })))))
  expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['stored']))
  expect(await cluster.ask(0, `select (count(), uniqExact(seq)) from pattern_events_s_local where log_id = '${logId}'`)).toBe('(24,24)')
  for (const each of processes) await each.close()
})

test('posts with idempotency keys read no events from the event store', async () => {
  const openClaims = (writerId: string) => openPostClaims(meta, writerId, testDeps)
  const other = await openEventWriter(store, { ...testDeps, numberClaims, openClaims })
  const statements: string[] = []
  cluster.verdict = (statement) => {
    statements.push(statement)
    return 'pass'
  }
  const logId = randomUUID()
  const written = await Promise.all(
    Array.from({ length: 40 }, (_, nth) => other.write(postOf([`event ${nth}`], { logId, idempotencyKey: BigInt(1_000 + nth) }))),
  )
  const repeated = await other.write(postOf(['event 0'], { logId, idempotencyKey: 1_000n }))
  expect([new Set(written.map(({ kind }) => kind)), repeated.kind]).toEqual([new Set(['stored']), 'duplicate'])
  await other.close()
  expect(statements.filter(isInsert).length).toBeGreaterThan(0)
  expect(statements.filter((statement) => /\bfrom\s+(?:pattern_)?events_/i.test(statement))).toEqual([])
})

test('while the metadata store is away, numbers are claimed in the event store', async () => {
  const other = await openEventWriter(store, { ...testDeps, numberClaims: metadataAway })
  expect((await other.write(postOf(['one']))).kind).toBe('stored')
  await expect(other.settled.last()).rejects.toMatchObject({ status: 503 })
  await other.close()
})

test('a claim that the event store does not answer delays posts for some seconds only', async () => {
  const other = await openEventWriter(store, { ...testDeps, numberClaims })
  const release = Promise.withResolvers<void>()
  const before = await numberClaims.last()
  let held = 0
  cluster.verdict = (statement) => {
    if (!/^insert into seq_claims/i.test(statement)) return 'pass'
    held += 1
    return release.promise
  }
  expect((await other.write(postOf(['one']))).kind).toBe('stored')
  expect([held > 0, (await numberClaims.last()) > before]).toEqual([true, true])
  release.resolve()
  await other.close()
})

test('posts of the same day continue while the outcome of one insert is unknown, and that post fails in the end', async () => {
  const logId = randomUUID()
  let lost = 0
  const isUnanswered = (statement: string): boolean => /from pattern_events_\w+\s+where toDate/.test(statement)
  cluster.verdict = (statement) => {
    if (isUnanswered(statement)) return { code: 279, message: 'All connection tries failed' }
    if (!isInsert(statement) || lost > 0) return 'pass'
    lost += 1
    return 'lose answer'
  }
  const end = Promise.withResolvers<PostResult>()
  const first = writer.write({ ...postOf(['one'], { logId, idempotencyKey: 5n }), onSettled: end.resolve })
  await expect.poll(() => lost).toBe(1)
  advancedMs += LATE_MS
  await expect(first).rejects.toMatchObject({ status: 503 })
  expect((await written(postOf(['two'], { logId }))).answer).toBe('stored')
  expect(writer.waiting().bytes).toBeGreaterThan(0)
  cluster.verdict = () => 'pass'
  const { stored } = await end.promise
  expect(stored.length).toBe(1)
  expect(writer.waiting().bytes).toBe(0)
  expect((await written(postOf(['one'], { logId, idempotencyKey: 5n }))).answer).toBe('duplicate')
  expect(await storedIn(logId)).toBe('2')
})

test('an outcome that is unknown for ten minutes is given up, and checked when the post is repeated', async () => {
  const logId = randomUUID()
  let lost = 0
  let counts = 0
  cluster.verdict = (statement) => {
    if (/from pattern_events_\w+\s+where toDate/.test(statement)) {
      counts += 1
      return { code: 279, message: 'All connection tries failed' }
    }
    if (!isInsert(statement) || lost > 0) return 'pass'
    lost += 1
    return 'lose answer'
  }
  const post = postOf(['one'], { logId, idempotencyKey: 6n })
  const end = Promise.withResolvers<PostResult>()
  const first = writer.write({ ...post, onSettled: end.resolve })
  first.catch(() => undefined)
  // The ten minutes begin with the first attempt to count: the clock must not move before it.
  await expect.poll(() => counts).toBeGreaterThan(0)
  advancedMs += TEN_MINUTES_MS
  expect(await end.promise).toMatchObject({ stored: [], failure: { status: 503 } })
  expect(writer.waiting().bytes).toBe(0)
  cluster.verdict = () => 'pass'
  expect((await written(post)).answer).toBe('duplicate')
  expect(await storedIn(logId)).toBe('1')
})
