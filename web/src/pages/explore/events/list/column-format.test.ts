import type { Event } from '@dendro/api'
import { expect, test } from 'vitest'
import { columnFormats } from './column-format.ts'

const event = (message_kvs: Record<string, string>): Event => ({ message_kvs, attributes: {} }) as Partial<Event> as Event
const formatOf = (name: string, values: readonly string[]) =>
  columnFormats(
    [name],
    values.map((value) => event({ [name]: value })),
  ).get(name)

test('a column is as wide as its longest value or its name, within bounds', () => {
  expect(formatOf('a', ['1234567890'])?.px).toBe(83)
  expect(formatOf('a_rather_long_name', ['1'])?.px).toBe(156)
  expect(formatOf('a', ['x'.repeat(500)])?.px).toBe(320)
  expect(formatOf('a', ['x'])?.px).toBe(64)
  expect(formatOf('a', [])).toEqual({ px: 160, isNumeric: false })
})

test('a column is numeric when every known value is a number', () => {
  expect(formatOf('status', ['200', '-1.5', '2e9'])?.isNumeric).toBe(true)
  expect(formatOf('status', ['200', 'ok'])?.isNumeric).toBe(false)
  expect(formatOf('toString', [])?.isNumeric).toBe(false)
})
