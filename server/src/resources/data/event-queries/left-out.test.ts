import { printFilter } from '@dendro/language/print'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../../test/support/reader.ts'
import { parseFilter } from '../../../query/query.ts'
import { countExcluded, excludedBy, exclusionWarnings, suspectsIn } from './left-out.ts'

const filterOf = (where: string) => parseFilter(where).filter
const leftOutIn = (where: string) => {
  const filter = filterOf(where)
  return suspectsIn(filter).map((suspect) => printFilter(excludedBy(filter, suspect)))
}

test.each([
  ["status = '500'", 'NUMERIC_TEXT'],
  ["status = '5xx'", undefined],
  ['status = 500', undefined],
  ["status != '500'", 'MISSING_EXCLUDED'],
  ["level NOT IN ('info', 'debug')", 'MISSING_EXCLUDED'],
  ["level IN ('info', 'debug')", undefined],
  ["id = '90071992547409931234'", undefined],
  ["@status != 'error'", undefined],
  ["level NOT LIKE 'in%'", undefined],
])('%s: %s', (where, code) => {
  expect(suspectsIn(filterOf(where)).map((suspect) => suspect.code)).toEqual(code === undefined ? [] : [code])
})

describe('events that a condition alone leaves out', () => {
  test('meets all the others that must hold', () => {
    expect(leftOutIn("service = 'web' AND level != 'info'")).toEqual(["service = 'web' AND level IS NULL AND NOT level != 'info'"])
  })

  test('is, within alternatives, whatever only it keeps from being found', () => {
    expect(leftOutIn("a = 'x' OR level != 'info'")).toEqual([
      "(a = 'x' OR (level != 'info' OR level IS NULL)) AND NOT (a = 'x' OR level != 'info')",
    ])
  })
})

describe('of events', () => {
  let reader: Reader
  beforeAll(async () => {
    reader = await openReader()
    await reader.send('web', [
      '{"status":500,"level":"error"}',
      '{"status":"500","level":"info"}',
      '{"status":500.0}',
      '{"status":5e2,"service":"web"}',
      '{"service":"web"}',
      'a line without keys',
    ])
    await reader.send(
      'wide',
      Array.from({ length: 20 }, (_, index) => `{"k${index}":1,"level":"info","status":200}`),
    )
  })
  afterAll(() => reader?.close())

  const warningsOf = async (where: string, found: number, datasets = ['web', 'wide']) => {
    const filter = filterOf(where)
    const query = await reader.query(datasets, where)
    return exclusionWarnings(await countExcluded(reader.senders.app.app.world.events, { ...query, filter }, filter), found)
  }

  test('a number compared as text causes a warning when the key has other spellings of it', async () => {
    expect(await warningsOf("status = '500'", 2)).toEqual([
      {
        field: 'where',
        code: 'NUMERIC_TEXT',
        position: 0,
        length: 14,
        message: 'status has this number in other spellings too, which a quoted number does not match',
        hint: 'write status = 500 to compare numbers',
        fix: { position: 0, length: 14, text: 'status = 500' },
      },
    ])
    expect(await warningsOf("status = '200'", 20)).toEqual([])
    expect(await warningsOf("status = '500' AND level = 'error'", 1)).toEqual([])
  })

  test('events without the key are counted, and cause a warning when they are many', async () => {
    expect(await warningsOf("status = 500 AND level != 'info'", 1)).toEqual([
      {
        field: 'where',
        code: 'MISSING_EXCLUDED',
        position: 17,
        length: 15,
        message: '2 events lack level and are left out',
        hint: "write NOT level = 'info' to find them too",
        fix: { position: 17, length: 15, text: "NOT level = 'info'" },
      },
    ])
    expect(await warningsOf("service = 'web' AND level NOT IN ('info', 'debug')", 0)).toMatchObject([
      { message: '2 events lack level and are left out', fix: { text: "NOT level IN ('info', 'debug')" } },
    ])
    expect(await warningsOf("level != 'info'", 100)).toEqual([])
    expect((await warningsOf("level != 'info' OR status = 500", 4)).map(({ message }) => message)).toEqual([
      '2 events lack level and are left out',
    ])
    expect(await warningsOf("NOT level != 'info'", 21)).toEqual([])
  })

  test('nothing is said where counting would cost too much', async () => {
    const where = "level != 'info'"
    const query = await reader.query(['web', 'wide'], where)
    const narrow = { ...query, budget: { ...query.budget, rows: 3 } }
    expect(await countExcluded(reader.senders.app.app.world.events, narrow, query.filter)).toEqual([])
  })
})
