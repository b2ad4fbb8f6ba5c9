import { expect, test } from 'vitest'
import { readAllById, readerById } from './by-id.ts'

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

function recorded(failure?: Error) {
  const requests: (readonly string[])[] = []
  const read = readerById(async (client: string, ids) => {
    requests.push([client, ...ids])
    if (failure) throw failure
    return ids.filter((id) => id !== idOf(7)).map((id) => ({ id, name: `record ${id}` }))
  })
  return { requests, read }
}

test('ids that are wanted at the same moment are read in requests of a hundred, each id once', async () => {
  const { requests, read } = recorded()
  const scope = {}
  const wanted = [...Array.from({ length: 150 }, (_, n) => idOf(n)), idOf(149)]
  const found = await Promise.all(wanted.map((id) => read(scope, 'c', id)))
  expect(requests.map(({ length }) => length)).toEqual([101, 51])
  expect(found.map((one) => one?.id)).toEqual(wanted.map((id) => (id === idOf(7) ? undefined : id)))
  await read(scope, 'c', idOf(1))
  expect(requests[2]).toEqual(['c', idOf(1)])
})

test('records that are not there are null, and what is no id is not requested', async () => {
  const { requests, read } = recorded()
  const scope = {}
  expect(await Promise.all([read(scope, 'c', idOf(7)), read(scope, 'c', '{{datasets}}'), read(scope, 'c', '')])).toEqual([null, null, null])
  expect(requests).toEqual([['c', idOf(7)]])
})

test('scopes have requests of their own, and each id of a failed one fails', async () => {
  const { requests, read } = recorded(new Error('away'))
  const wanted = [read({}, 'a', idOf(1)), read({}, 'b', idOf(2))]
  expect((await Promise.allSettled(wanted)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(requests).toEqual([
    ['a', idOf(1)],
    ['b', idOf(2)],
  ])
})

test('a list of ids is read in requests of a hundred, each id once, and none for an empty list', async () => {
  const requests: number[] = []
  const readMany = async (ids: readonly string[]) => {
    requests.push(ids.length)
    return ids.filter((id) => id !== idOf(7))
  }
  const wanted = Array.from({ length: 230 }, (_, n) => idOf(n))
  expect(await readAllById([...wanted, idOf(0)], readMany)).toEqual(wanted.filter((id) => id !== idOf(7)))
  expect(requests).toEqual([100, 100, 30])
  expect(await readAllById([], readMany)).toEqual([])
  expect(requests).toHaveLength(3)
})
