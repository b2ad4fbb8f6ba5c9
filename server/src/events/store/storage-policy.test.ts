import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestBucket, type TestBucket } from '../../files/bucket.fixture.ts'
import { eventsTables } from '../../lines/layout/table.ts'
import { ask, MEMORY_BYTES, makeEngines, testDeps } from './engine.fixture.ts'
import { openEventStore } from './events.ts'

const engines = makeEngines()
let bucket: TestBucket
beforeAll(async () => {
  bucket = await startTestBucket()
})
afterAll(async () => {
  await engines.cleanUp()
  await bucket?.close()
})

test('a server gives its tables the policy that it is asked for, once, and names what is missing', async () => {
  const engine = await engines.open(await engines.madeDir(), testDeps, { cold: { location: bucket.location } })
  const [url, dataDir] = [engine.url, await engines.newDir()]
  const open = (storagePolicy: string) => openEventStore({ url, dataDir, memoryBytes: MEMORY_BYTES, storagePolicy }, testDeps)
  await expect(open('nosuch')).rejects.toThrow('has no storage policy nosuch; DENDRO_CLICKHOUSE_STORAGE_POLICY must name one')
  await expect(open('default')).rejects.toThrow('the storage policy default of the event store at http://127.0.0.1')
  for (let times = 0; times < 2; times += 1) {
    const server = await open('tiered')
    const tables = await ask<{ name: string }>(
      server.writer,
      "select name from system.tables where storage_policy = 'tiered' order by name",
    )
    expect(tables.map(({ name }) => name)).toEqual(eventsTables.toSorted())
    await server.close()
  }
})
