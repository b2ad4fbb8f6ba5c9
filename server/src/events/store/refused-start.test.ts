import { ClickHouseError } from '@clickhouse/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestCluster, type TestCluster } from './cluster.fixture.ts'
import { diagnoseEvents } from './doctor.ts'
import { MEMORY_BYTES, testDeps } from './engine.fixture.ts'
import { openEventStore } from './events.ts'
import { explainStartError } from './refused-start.ts'

let cluster: TestCluster
beforeAll(async () => {
  cluster = await startTestCluster()
})
afterAll(() => cluster?.close())

const opening = (url: string) => openEventStore({ url, dataDir: '', memoryBytes: MEMORY_BYTES }, testDeps)

test('a server without distributed DDL is reported with the setting and advice', async () => {
  cluster.verdict = (statement) => (/on cluster/i.test(statement) ? { code: 392, message: 'Replicated DDL queries are disabled' } : 'pass')
  await expect(opening(cluster.url)).rejects.toThrow(
    /cannot run a statement on all nodes .* \?cluster=both in DENDRO_CLICKHOUSE_URL .* set up distributed_ddl/,
  )
})

test('an unknown cluster is reported with the setting', async () => {
  cluster.verdict = (statement) => (/on cluster/i.test(statement) ? { code: 701, message: "Requested cluster 'nosuch' not found" } : 'pass')
  const url = cluster.url.replace('cluster=both', 'cluster=nosuch')
  await expect(opening(url)).rejects.toThrow(/knows no cluster nosuch; \?cluster=nosuch in DENDRO_CLICKHOUSE_URL must name/)
})

test('the doctor reports an unknown cluster in the same way', async () => {
  cluster.verdict = () => 'pass'
  const store = await opening(cluster.url)
  await store.close()
  const findings = await diagnoseEvents(
    { url: cluster.url.replace('cluster=both', 'cluster=nosuch'), dataDir: '', memoryBytes: MEMORY_BYTES },
    testDeps,
  )
  expect(findings.find(({ ok }) => !ok)?.what).toMatch(/knows no cluster nosuch; .* DENDRO_CLICKHOUSE_URL/)
})

test('a full disk is reported with its location', () => {
  const full = new ClickHouseError({ code: '243', type: 'NOT_ENOUGH_SPACE', message: 'Cannot reserve 1.00 MiB, not enough space' })
  const wrapped = new Error('migration 0002-events of the event store failed', { cause: full })
  const place = { url: 'http://store:8123', cluster: undefined, database: 'dendro' }
  expect(explainStartError(wrapped, { ...place, isEmbedded: true })?.message).toMatch(
    /no space left; free some on the disk of DENDRO_DATA_DIR/,
  )
  expect(explainStartError(full, { ...place, isEmbedded: false })?.message).toMatch(
    /the disk of the event store at http:\/\/store:8123 .*DENDRO_CLICKHOUSE_URL/,
  )
  expect(explainStartError(new Error('something else'), { ...place, isEmbedded: true })).toBeUndefined()
})
