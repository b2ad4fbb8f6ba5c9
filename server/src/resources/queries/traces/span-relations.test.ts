import { expect, test } from 'vitest'
import { type RelatedSpan, relatedIn, type SpanRelation } from './span-relations.ts'

/** Spans by id and parent, such as 'b<a'. A colon and A, B or AB behind them are the conditions that they meet. */
const spansOf = (text: string): RelatedSpan[] =>
  text.split(' ').map((one) => {
    const [ids = '', meets = ''] = one.split(':')
    const [id = '', parentId] = ids.split('<')
    return { id, parentId, isFirst: meets.includes('A'), isSecond: meets.includes('B') }
  })

const found = (text: string, relation: SpanRelation): string => {
  const { first, second } = relatedIn(spansOf(text), relation)
  return `${[...first].sort().join('')}|${[...second].sort().join('')}`
}

test.each<[string, SpanRelation, string]>([
  ['a:A b<a c<b:B d<a:B e:B', 'descendant', 'a|cd'],
  ['a:A b<a:A c<b:B', 'descendant', 'ab|c'],
  ['a:A b<a:AB c<b', 'descendant', 'a|b'],
  ['a:AB', 'descendant', '|'],
  ['c<b:B b<a a:A', 'descendant', 'a|c'],
  ['b<missing:A c<b:B d<missing:B', 'descendant', 'b|c'],
  ['a<b:A b<a:B', 'descendant', 'a|b'],
  ['a:A b<a c<b:B d<a:B e:B', 'child', 'a|d'],
  ['a:B b<a c<b:A d<a:A', 'ancestor', 'cd|a'],
  ['a:B b<a:B c<b:A', 'parent', 'c|b'],
  ['a b<a:A c<a:B d<b:B', 'sibling', 'b|c'],
  ['a b<a:AB', 'sibling', '|'],
  ['a b<a:AB c<a:AB d<a:A', 'sibling', 'bcd|bc'],
  ['a:A b:B', 'sibling', '|'],
])('%s, %s', (spans, relation, expected) => {
  expect(found(spans, relation)).toBe(expected)
})

test('a chain of many spans is walked once', () => {
  const chain = Array.from({ length: 100_000 }, (_, at) => ({
    id: String(at),
    parentId: at === 0 ? undefined : String(at - 1),
    isFirst: at === 0,
    isSecond: at > 0,
  }))
  expect(relatedIn(chain, 'descendant').second.size).toBe(99_999)
})
