import { describe, expect, test } from 'vitest'
import { actionText } from './action-text.ts'
import { changedParts } from './changed-parts.ts'
import { bodyOf, draftFrom, firstActions, missingIn, moved, newDraft } from './rule-draft.ts'

describe('a draft in an address', () => {
  test('has what a link gives, and the first values of its action for the rest', () => {
    const given = { name: 'Less noise', from: ['a'], where: "level = 'debug'", action: { type: 'SAMPLE', key: 'k' } }
    expect(bodyOf(draftFrom(given))).toEqual({ ...given, description: '', action: { type: 'SAMPLE', keep: 0.1, key: 'k' } })
  })
  test('is an empty one where its members are of other types', () => {
    expect(draftFrom({ name: 1, from: {}, action: { type: 'BURN' } })).toEqual(newDraft)
    expect(draftFrom({ action: [] })).toEqual(newDraft)
  })
})

test('a rule needs a name, and a redaction something to redact', () => {
  expect(missingIn(newDraft)).toBe('a name')
  expect(missingIn({ ...newDraft, name: 'n' })).toBeUndefined()
  const action = { type: 'REDACT' as const, kinds: [], expressions: [{ pattern: '', ignore_case: false }], replacement: '' }
  expect(missingIn({ ...newDraft, name: 'n', action })).toBe('a kind of value or an expression')
})

test.each(Object.values(firstActions))('$type can be saved from the start, or its gap is named', (action) => {
  const isWhole = ['DROP', 'SAMPLE', 'TAIL_SAMPLE', 'REDACT'].includes(action.type)
  expect(missingIn({ ...newDraft, name: 'n', action }) === undefined).toBe(isWhole)
})

test.each([
  [0, 2, 'bca'],
  [2, 0, 'cab'],
  [1, 1, 'abc'],
  [7, 0, 'abc'],
])('from %i to %i', (from, to, order) => {
  expect(moved([...'abc'], from, to).join('')).toBe(order)
})

test.each([
  [{ type: 'DROP' as const }, 'Drops events'],
  [{ type: 'SAMPLE' as const, keep: 0.125 }, 'Keeps 12.5 % of events'],
  [{ type: 'SAMPLE' as const, keep: 0, key: 'id' }, 'Keeps 0 % of events, all or none with the same id'],
  [
    { type: 'TAIL_SAMPLE' as const, keep: 0.1, keep_errors: true, slower_than_ms: 500, wait_s: 30 },
    'Keeps failed traces, those of 500 ms and more and 10 % of the others',
  ],
  [{ type: 'TAIL_SAMPLE' as const, keep: 0.5, keep_errors: false, wait_s: 30 }, 'Keeps 50 % of traces'],
  [
    {
      type: 'REDACT' as const,
      kinds: ['EMAIL' as const, 'TOKEN' as const],
      expressions: [{ pattern: 'x', ignore_case: true }],
      replacement: '',
    },
    'Redacts e-mail addresses, tokens and 1 expression',
  ],
  [{ type: 'ADD_FIELDS' as const, fields: [{ name: 'env', value: 'prod' }] }, 'Adds env = prod'],
  [{ type: 'RENAME_FIELDS' as const, fields: [{ from: 'a', to: 'b' }] }, 'Renames a to b'],
  [{ type: 'REMOVE_FIELDS' as const, names: ['a', 'b', 'c'] }, 'Removes a, b and c'],
  [{ type: 'PARSE' as const, format: 'DISSECT' as const, pattern: '%{a}' }, 'Adds fields that a dissect pattern finds in the message'],
  [{ type: 'SET_TAGS' as const, tags: { team: 'shop' } }, 'Sets team = shop'],
  [{ type: 'LOOKUP' as const, table: 'hosts', key: 'host', columns: ['team', 'room'] }, 'Adds team and room of the table hosts by host'],
  [{ type: 'GEOIP' as const, key: 'ip', prefix: 'geo.' }, 'Adds where the address in ip is, as geo.country and others'],
  [{ type: 'COUNT' as const, metric: 'logins', by: ['country'] }, 'Counts events into the metric logins by country'],
  [{ type: 'SET_DATASET' as const, collection: 'ops', dataset: 'errors' }, 'Moves events to ops.errors'],
])('%j', (action, text) => {
  expect(actionText(action)).toBe(text)
})

test.each([
  ['abc', 'axc', ['a', 'b', 'x', 'c']],
  ['aa', 'aaa', ['aa', '', 'a', '']],
  ['same', 'same', ['same', '', '', '']],
  ['', 'new', ['', '', 'new', '']],
])('%s and %s differ', (one, other, parts) => {
  const { start, before, after, end } = changedParts(one, other)
  expect([start, before, after, end]).toEqual(parts)
})
