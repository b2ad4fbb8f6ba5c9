import { expect, test } from 'vitest'
import { exploreLink } from './explore-link.ts'

const query = { select: ['p95(took_ms)'], where: "level = 'error'", groups: ['region'] }

test.each([
  ['line', [query], { fn: 'p95(took_ms)', q: "level = 'error'", by: ['region'], tab: 'chart' }],
  ['bar', [{ ...query, select: ['count(*)'] }], { q: "level = 'error'", by: ['region'], as: 'bar', tab: 'chart' }],
  ['pie', [query], { fn: 'p95(took_ms)', q: "level = 'error'", by: ['region'], tab: 'table' }],
  ['score', [{ select: ['count(*)'], where: ' ' }], { tab: 'chart' }],
  [
    'line',
    [query, { ...query, select: ['p99(took_ms)'] }],
    { fn: 'p95(took_ms), p99(took_ms)', q: "level = 'error'", by: ['region'], tab: 'chart' },
  ],
  ['line', [query, { ...query, where: '' }], { fn: 'p95(took_ms)', q: "level = 'error'", by: ['region'], tab: 'chart' }],
] as const)('a widget of type %s opens Explore with its query', (type, queries, expected) => {
  const writable = queries.map((one) => ({ ...one, select: [...one.select], ...('groups' in one ? { groups: [...one.groups] } : {}) }))
  expect(exploreLink(type, writable, ['d1'], { r: 'Last 1 day' })).toEqual({ d: ['d1'], r: 'Last 1 day', ...expected })
})
