import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startTestCluster, type TestCluster } from './cluster.fixture.ts'
import { checkCluster, differences, judgeKeepers, judgeMacros, judgeShape, judgeVersions } from './cluster-check.ts'
import type { EventStoreFinding } from './doctor.ts'
import { testDeps } from './engine.fixture.ts'

let cluster: TestCluster
beforeAll(async () => {
  cluster = await startTestCluster()
})
afterEach(async () => {
  cluster.verdict = () => 'pass'
  cluster.replicates = true
  await cluster.start(1)
})
afterAll(() => cluster?.close())

async function check(url: string): Promise<EventStoreFinding[]> {
  const findings: EventStoreFinding[] = []
  await checkCluster(url, testDeps, (finding) => findings.push(finding))
  return findings
}

/** The failed checks, each of which needs advice. */
function failedOf(findings: readonly EventStoreFinding[]): string[] {
  const failed = findings.filter(({ ok }) => !ok)
  for (const { what, advice } of failed) expect(advice, what).toBeTruthy()
  return failed.map(({ what }) => what)
}

const LEFT = "select count() from system.databases where startsWith(name, 'dendro_check_')"
const databasesLeft = async (): Promise<string[]> => [await cluster.ask(0, LEFT, 'default'), await cluster.ask(1, LEFT, 'default')]

test('a cluster is used in every way and left as it was; only Keeper is missing behind the stand-in for replication', async () => {
  cluster.replicates = true
  const sent: string[] = []
  cluster.verdict = (statement) => {
    sent.push(statement)
    return 'pass'
  }
  const findings = await check(cluster.url)
  expect(failedOf(findings)).toEqual([expect.stringMatching(/^no connection to ClickHouse Keeper on 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+$/)])
  expect(findings.filter(({ ok }) => ok).map(({ what }) => what)).toEqual([
    expect.stringMatching(/ answers, version \d+/),
    'the cluster both has 2 shards of 1 replica',
    'all 2 nodes answer and have one version',
    'the macros shard and replica of the nodes fit the cluster',
    'all tables were created on every node',
    'a row of a table that every node has arrived everywhere, and its repetition was dropped',
    '2000 events were spread over the shards, and every node finds all of them',
    'all replicas of a shard have the same events, and no shard is empty',
    'a query could be killed on every node; there was none',
    'the events were deleted on every node',
    expect.stringMatching(/^the database dendro_check_[0-9a-f]{12} of this check is removed$/),
  ])
  expect(await databasesLeft()).toEqual(['0', '0'])
  // It touches no other database: what it changes begins with its own.
  const changing = sent.filter((statement) => /^\s*(?:drop|truncate|create database)/i.test(statement))
  expect(changing.length).toBe(2)
  for (const statement of changing) expect(statement).toContain(' dendro_check_')
})

test('rows that do not reach every node are reported with the node, and the check is cleaned up', async () => {
  cluster.replicates = false
  const failed = failedOf(await checkQuickly(cluster.url))
  expect(failed[1]).toMatch(/^a row that every node must have did not arrive everywhere once: 127\.0\.0\.1:\d+ has 0 instead of 1$/)
  expect(await databasesLeft()).toEqual(['0', '0'])
})

/** Waits for nothing: what has not arrived at once does not come. */
async function checkQuickly(url: string): Promise<EventStoreFinding[]> {
  const findings: EventStoreFinding[] = []
  let nowMs = 0
  const sleep = async (ms: number): Promise<void> => {
    nowMs += 100 * ms
  }
  const clock = { ...testDeps.clock, monotonicMs: () => nowMs, sleep }
  await checkCluster(url, { ...testDeps, clock }, (finding) => findings.push(finding))
  return findings
}

test('a node that is away is reported, and nothing is created', async () => {
  await cluster.stop(1)
  let created = 0
  cluster.verdict = (statement) => {
    if (/^create/.test(statement)) created += 1
    return 'pass'
  }
  expect(failedOf(await check(cluster.url))).toEqual([expect.stringMatching(/^a node of the cluster does not answer: /)])
  expect(created).toBe(0)
})

test('a failure in the middle is reported with its step and removed, and an earlier remnant is named', async () => {
  await cluster.ask(0, 'create database dendro_check_left', 'default')
  cluster.verdict = (statement) => (/^kill/.test(statement) ? { code: 497, message: 'Not enough privileges' } : 'pass')
  const failed = failedOf(await check(cluster.url))
  expect(failed.slice(1)).toEqual([
    'an interrupted check has left the database dendro_check_left',
    expect.stringMatching(/^queries cannot be killed on every node: .*Not enough privileges/),
  ])
  await cluster.ask(0, 'drop database dendro_check_left', 'default')
  expect(await databasesLeft()).toEqual(['0', '0'])
})

test('nodes without distributed DDL and Keeper are reported in plain words, and keep nothing', async () => {
  const findings = await check(cluster.bareUrl)
  expect(failedOf(findings)).toEqual([
    expect.stringMatching(/^no connection to ClickHouse Keeper on /),
    expect.stringMatching(
      /^the tables could not be created on every node: .* cannot run a statement on all nodes of a cluster, .* set up distributed_ddl and ClickHouse Keeper/,
    ),
  ])
  expect(await databasesLeft()).toEqual(['0', '0'])
})

test.each([
  ['http://127.0.0.1:9/dendro', 'the address names no cluster'],
  ['ftp://127.0.0.1/dendro?cluster=a', 'the address of the event store must begin with http:// or https://'],
  ['http://default:secret@127.0.0.1:9/dendro?cluster=a', 'ECONNREFUSED'],
])('%s is reported as %s, without a password', async (url, what) => {
  const findings = await check(url)
  expect(failedOf(findings)).toEqual([expect.stringContaining(what)])
  expect(JSON.stringify(findings)).not.toContain('secret')
})

test('an unknown cluster is reported with the way to find the others', async () => {
  expect(failedOf(await check(cluster.url.replace('cluster=both', 'cluster=nosuch')))).toEqual(['this node knows no cluster nosuch'])
})

const node = (shard: number, replica: number) => ({ shard, replica, name: `s${shard}r${replica}` })
const FOUR = [node(1, 1), node(1, 2), node(2, 1), node(2, 2)]

test('too few replicas are noted, since an insert needs more than half of them', () => {
  expect(judgeShape('blue', FOUR)).toMatchObject({
    ok: true,
    what: 'the cluster blue has 2 shards of 2 replicas',
    advice: expect.stringMatching(/with fewer than 3, .*while the largest shard is away, ingestion also needs PostgreSQL/),
  })
  expect(
    judgeShape(
      'blue',
      [1, 2, 3].map((replica) => node(1, replica)),
    ),
  ).toEqual({
    ok: true,
    what: 'the cluster blue has 1 shard of 3 replicas',
  })
  const nine = [1, 2, 3].flatMap((shard) => [1, 2, 3].map((replica) => node(shard, replica)))
  expect(judgeShape('blue', nine)).toEqual({ ok: true, what: 'the cluster blue has 3 shards of 3 replicas' })
  expect(judgeShape('blue', [node(1, 1), { ...node(2, 1), name: 's1r1' }])).toMatchObject({ ok: false })
})

test('macros must tell all nodes apart and join the replicas of a shard', () => {
  const of = (...all: [string, string][]) =>
    judgeMacros(
      FOUR,
      all.map(([shard, replica]) => ({ shard, replica })),
    )
  expect(of(['1', 'a'], ['1', 'b'], ['2', 'a'], ['2', 'b']).ok).toBe(true)
  expect(of(['1', 'a'], ['1', 'b'], ['2', 'a'], ['', 'b']).what).toBe('no macros shard and replica on s2r2')
  expect(of(['1', 'a'], ['1', 'a'], ['2', 'a'], ['2', 'b']).what).toBe('s1r2 has the macros of another node')
  expect(of(['1', 'a'], ['2', 'b'], ['2', 'a'], ['1', 'b']).what).toBe('the macro shard of s1r1 contradicts the shards of the cluster')
  expect(of(['1', 'a'], ['1', 'b'], ['1', 'c'], ['1', 'd']).what).toBe('the macro shard of s1r1 contradicts the shards of the cluster')
})

test('nodes without Keeper, and different versions, are named', () => {
  expect(judgeKeepers(FOUR, [1, 1, 1, 1]).ok).toBe(true)
  expect(judgeKeepers(FOUR, [1, 0, 1, undefined])).toMatchObject({ ok: false, what: 'no connection to ClickHouse Keeper on s1r2, s2r2' })
  expect(judgeVersions(FOUR, ['v1', 'v1', 'v2', 'v1'])).toMatchObject({ ok: true, what: expect.stringContaining('s2r1 v2') })
})

test('shards without events, replicas that differ, and events that are doubled are different findings', () => {
  expect(differences(FOUR, [5, 5, 7, 7], 12)).toBeUndefined()
  expect(differences(FOUR, [12, 12, 0, 0], 12)).toBe('shard 2 has got no events')
  expect(differences(FOUR, [5, 5, 7, 6], 12)).toBe('shard 2 has 7 on s2r1, 6 on s2r2')
  expect(differences(FOUR, [10, 10, 14, 14], 12)).toContain('24 events instead of 12; set internal_replication')
})
