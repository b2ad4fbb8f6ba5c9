import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { contextOf } from '../plan/table-read.ts'
import { tableReadsFor } from '../plan/table-reads.ts'
import { run, startQueryRun } from '../run/run.ts'
import { name, sql } from '../sql/sql.ts'
import { lineInParts, rawLine } from './rebuild-line.ts'

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
})
afterAll(() => reader?.close())

test('lines are also rebuilt where the store computes every alternative for every event', async () => {
  await reader.send('all kinds', ['{"k":"first"}'])
  await reader.openMaps('all kinds', [''])
  const lines = ['{"k":"a \\"b\\"","other":2}', '{"k":1,"k":2}', 'a text', '{}']
  await reader.send('all kinds', lines)
  const query = await reader.query(['all kinds'])
  const { events } = reader.senders.app.app.world
  const found: string[] = []
  for (const tableRead of tableReadsFor(query.sources, ['@raw'])) {
    const context = contextOf(tableRead)
    const rows = await run(
      events,
      startQueryRun(query),
      sql`select toString(${rawLine(context.lines)}), length(${lineInParts(context.lines)}) from ${name(tableRead.table)}
        where ${scopeOf(tableRead, query.bounds)} settings short_circuit_function_evaluation = 'disable'`,
    )
    while (rows.next()) {
      found.push(rows.text())
      rows.uint64()
    }
  }
  expect(found.sort()).toEqual(['{"k":"first"}', ...lines].sort())
})
