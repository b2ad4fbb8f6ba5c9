import type { Series } from '@dendro/api'
import { expect, test } from 'vitest'
import { beforeOf, datasetsOf, isCut, usageCsv, usersOf } from './nested.ts'

const series = (name: string, value: number, within: Series[] = []) =>
  ({
    key: 'user_id',
    name,
    value,
    count: 1,
    stat: 'sum',
    series_resolution_ms: 1,
    timeseries: [],
    groups_series: within,
  }) as unknown as Series
const users = { groups_series: [series('ada', 5, [series('web', 1), series('till', 4)]), series('bob', 9, [series('web', 9)])] }
const sizes = (list: readonly Series[]) => list.map(({ name, value }) => `${name} ${value}`)

test('searches of a user are listed by dataset, and of a dataset by user, largest first', () => {
  expect(sizes(datasetsOf(users, 'ada'))).toEqual(['till 4', 'web 1'])
  expect(sizes(usersOf(users, 'web'))).toEqual(['bob 9', 'ada 1'])
  expect(sizes(usersOf(users, undefined))).toEqual(['bob 9', 'ada 5'])
})

test('a missing name means zero, or unknown when the list was cut', () => {
  const logs = { groups_series: [series('web', 5), series('till', 4)].map((one) => ({ ...one, key: 'log_id' })) }
  expect([isCut(logs, 2), isCut(logs, 3), isCut(users, 2), isCut(users, 3), isCut(undefined, 1)]).toEqual([true, false, true, false, false])
  expect([beforeOf(logs, 3)('web'), beforeOf(logs, 3)('shop'), beforeOf(logs, 2)('shop')]).toEqual([5, 0, undefined])
})

test('the CSV has a row per slice, and quotes names with commas', () => {
  const columns = [
    { name: 'web, old', values: [1, null] },
    { name: 'till', values: [3, 4] },
  ]
  expect(usageCsv([0, 60_000], columns)).toBe('time,"web, old",till\r\n1970-01-01T00:00:00.000Z,1,3\r\n1970-01-01T00:01:00.000Z,,4')
})
