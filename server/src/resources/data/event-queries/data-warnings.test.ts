import { expect, test } from 'vitest'
import type { Slot } from '../../../lines/layout/slots.ts'
import { parseFilter } from '../../../query/query.ts'
import type { QuerySource } from '../../../reading/query.ts'
import { dataWarnings } from './data-warnings.ts'

const slots = new Map<string, Slot>([
  ['user_id', 's0'],
  ['level', 'c0'],
  ['$env', 'c1'],
  ['tags', 's1'],
  ['pod.state', 's2'],
])
const located = {
  map: { version: 1, tableClass: 's', slots, open: new Set<string>() },
  classes: ['s'],
  periods: [86_400],
  ofEvents: new Set<string>(),
} as const
const sources: readonly QuerySource[] = [
  { logId: 'a', collection: 'shop', dataset: 'web', located, keptSinceMs: undefined },
  { logId: 'b', collection: 'shop', dataset: 'api', located: undefined, keptSinceMs: undefined },
]
const warningsOf = (where: string, count: number, rows = 10) =>
  dataWarnings({ filter: parseFilter(where).filter, sources, count, cost: { rows } })

test('an unknown key causes a warning with a suggestion when nothing was found', () => {
  expect(warningsOf("level = 'error' AND usr_id = 5", 0)).toEqual([
    {
      field: 'where',
      code: 'UNKNOWN_KEY',
      position: 20,
      length: expect.any(Number),
      message: 'usr_id is none of the usual keys of these datasets',
      hint: 'did you mean user_id?',
      fix: { position: 20, length: expect.any(Number), text: 'user_id = 5' },
    },
  ])
  expect(warningsOf('usr_id = 5 OR level = 1', 3)).toEqual([])
})

test.each([
  ['levl = 5', 'level'],
  ['userId = 5', 'user_id'],
  ['USER-ID = 5', 'user_id'],
  ['LEVEL = 5', 'level'],
  ['state = 5', 'pod.state'],
  ['unheard_of = 5', undefined],
])('the key of %s is nearly %s', (where, key) => {
  expect(warningsOf(where.replace('USER-ID', '"USER-ID"'), 0).map(({ hint }) => hint)).toEqual([key && `did you mean ${key}?`])
})

test.each(["level = 'x'", "env = 'x'", "tags.0 = 'x'", "$nothing = 'x'", "@origin = 'x'", "timestamp = 'x'", "'free text'"])(
  'nothing is said about %s',
  (where) => {
    expect(warningsOf(where, 0)).toEqual([])
  },
)

test('a substring search that scans very many events suggests a faster form', () => {
  const codes = (where: string, rows: number) => warningsOf(where, 1, rows).map(({ code }) => code)
  expect(codes("'free text'", 30_000_000)).toEqual(['FULL_SCAN'])
  expect(codes("level LIKE '%x%'", 30_000_000)).toEqual(['FULL_SCAN'])
  expect(codes("level = 'x'", 30_000_000)).toEqual([])
  expect(codes("'free text'", 1_000)).toEqual([])
})
