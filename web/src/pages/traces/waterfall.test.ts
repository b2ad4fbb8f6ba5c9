import { expect, test } from 'vitest'
import { matches, shownRows, spanKeys } from './waterfall.ts'

test('a collapsed span hides all spans below it', () => {
  const spans = [4, 2, 1, 0, 0, 0].map((descendants) => ({ descendants }))
  expect(shownRows(spans, new Set())).toEqual([0, 1, 2, 3, 4, 5])
  expect(shownRows(spans, new Set([1]))).toEqual([0, 1, 4, 5])
  expect(shownRows(spans, new Set([0, 1]))).toEqual([0, 5])
})

test('spans with one id have names of their own in the address', () => {
  expect(spanKeys(['a', 'b', 'b', 'c', 'b'].map((span_id) => ({ span_id })))).toEqual(['a', 'b', 'b.2', 'c', 'b.3'])
})

test('a span is found by name, service, id and attributes in any case', () => {
  const span = { name: 'GET /cart', service: 'shop', span_id: 'ab12', attributes: { '$http.route': '/Cart/:id' } }
  for (const find of ['cart', 'SHOP', 'b12', 'http.route', ':ID']) expect(matches(span, find)).toBe(true)
  expect(matches(span, 'pay')).toBe(false)
})
