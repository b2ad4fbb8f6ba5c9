import { afterAll, beforeAll, expect, test } from 'vitest'
import { budget } from '../../../../test/support/reader.ts'
import { makeEngines, testDeps } from '../../events/store/engine.fixture.ts'
import type { EventStore } from '../../events/store/events.ts'
import type { Failure } from '../../kernel/errors.ts'
import { run, startQueryRun } from '../run/run.ts'
import { digits, sql } from '../sql/sql.ts'

const engines = makeEngines()
let store: EventStore
beforeAll(async () => {
  store = await engines.open(await engines.madeDir(), testDeps, { spillBytes: 1_000_000 })
})
afterAll(engines.cleanUp)

test('a query is refused for now when all queries together use the disk space for sorting and grouping, and the next is answered', async () => {
  const group = (rows: number) => {
    const queryRun = startQueryRun({ orgNumber: 1, budget: { ...budget, memoryBytes: 2 ** 27 }, signal: new AbortController().signal })
    return run(store, queryRun, sql`select count() from (select toString(number) as text from numbers(${digits(rows)}) group by text)`)
  }
  const refused = await group(3_000_000).catch(({ status, message, headers }: Failure) => ({ status, message, headers }))
  expect(refused).toEqual({
    status: 429,
    message: 'the queries that run use all the disk space for sorting and grouping; narrow this one, or try again later',
    headers: { 'retry-after': '5' },
  })
  expect((await group(1_000)).uint64()).toBe(1_000n)
})
