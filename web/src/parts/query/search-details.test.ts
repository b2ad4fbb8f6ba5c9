import { expect, test } from 'vitest'
import { paramsOfSearch, searchDetailsOf } from './search-details.ts'

test('a view of Explore becomes a search and the same view again', () => {
  const view = { d: ['a', 'b'], q: 'level = 1', f: 1, t: 2, by: ['a b', 'c'], tab: 'chart' } as const
  const details = searchDetailsOf({ ...view, d: [...view.d], by: [...view.by] }, ['x', 'say "it"'])
  expect(details).toEqual({
    ...{ from: 'a:b', from_ts: 1, to_ts: 2, where: 'level = 1', groups: '"a b", c', display: 'timeseries' },
    select: 'x, "say ""it"""',
  })
  expect(paramsOfSearch(details)).toEqual({ ...view, cols: ['x', 'say "it"'] })
})

test('a search of everything has no parameters but its range, and what Explore cannot show is left out', () => {
  expect(searchDetailsOf({ tab: 'patterns' }, [])).toEqual({ from_expr: '*', time_range: 'Last 15 minutes', display: 'list' })
  expect(paramsOfSearch({ from_expr: '*', time_range: 'today', select: '*, count(*), @raw', display: 'treemap' })).toEqual({ r: 'today' })
})
