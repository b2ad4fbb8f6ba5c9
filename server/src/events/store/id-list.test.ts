import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { makeEngines } from './engine.fixture.ts'
import { amongIds } from './id-list.ts'

const engines = makeEngines()
afterAll(() => engines.cleanUp())

test('an id is found among tens of thousands, and an empty list matches nothing', async () => {
  const store = await engines.open(await engines.madeDir())
  const ids = Array.from({ length: 20_001 }, () => randomUUID())
  const countOf = async (id: string, list: readonly string[]) => {
    const { condition, params } = amongIds('id', 'ids', list)
    const answer = await store.reader.query({
      query: `select count() as found from (select {id:UUID} as id) where ${condition}`,
      query_params: { id, ...params },
      format: 'JSONEachRow',
    })
    return Number((await answer.json<{ found: string }>())[0]?.found)
  }
  for (const id of [ids[0], ids[2_500], ids[20_000]]) expect(await countOf(id ?? '', ids)).toBe(1)
  expect(await countOf(randomUUID(), ids)).toBe(0)
  expect(await countOf(ids[0] ?? '', [])).toBe(0)
})
