import { expect, test } from 'vitest'
import { queryOfTags } from './tag-query.ts'
import { parseTraceql } from './traceql.ts'

test('an id of a trace may lack its leading zeros', () => {
  const value = { kind: 'text', text: 'ab'.padStart(32, '0') }
  for (const operator of ['=', '!=']) {
    expect(parseTraceql(`{ trace:id ${operator} "AB" }`).filter).toMatchObject({ key: '$span.trace_id', operator, value })
  }
  expect(parseTraceql('{ trace:id =~ "a\\\\D+" }').filter).toMatchObject({ pattern: '^(?s:a\\D+)$' })
})

test('a duration may have several units', () => {
  expect(parseTraceql('{ duration > 1m30.5s }').filter).toMatchObject({ value: { text: '90500000000' } })
  expect(() => parseTraceql('{ duration > 1m30 }')).toThrow('is no length of time')
})

test.each(['service.name', 'a=b service.name', '=pay', 'a="open', 'status=bad', 'duration=long'])(
  'tags such as %s are refused by name',
  (tags) => {
    expect(() => queryOfTags(tags)).toThrow(/^tags /)
  },
)
