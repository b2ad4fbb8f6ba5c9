import { compileRegex } from '@dendro/language/regex'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { neededTexts } from '../../query/required-literals.ts'
import { regexMatches } from '../fields/comparisons.ts'
import { findLineFacts } from '../plan/line-shapes.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { contextOf } from '../plan/table-read.ts'
import { tableReadsFor, withFacts } from '../plan/table-reads.ts'
import { run, startQueryRun } from '../run/run.ts'
import { joined, name, sql } from '../sql/sql.ts'
import { mayContainAll } from './candidate-words.ts'
import { type LineSources, rawLine } from './rebuild-line.ts'

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
})
afterAll(() => reader?.close())

/** The word at the beginning of values, after escapes of every encoding, in names, literals and arrays, and in lines that are stored raw. */
const lines: readonly string[] = [
  '{"labels":{"app":"fail 1"},"took":1}',
  '{"labels":{"app":"a\\u001ffail 2","fail 12":"v"},"took":2}',
  '{"labels":{"zone":"x\\nfail 3"},"took":3}',
  '{"labels":{"zone":"nfail 4 \\"quoted\\" C:\\\\logs"},"took":4}',
  '{"labels":{"failure":"\\u00e9fail 5"},"took":5}',
  '{"labels":{"app":"\\u003cfail 6\\u003e"},"took":6}',
  '{"labels":{"app":"é fail 7"},"took_fail":7}',
  '{"labels":{"list":["fail 8","b"]},"took":8}',
  '{"labels":{"app":"v"},"labels":"fail 9"}',
  '{"labels":{"app":"v"},"took":10}',
  '{"labels":{"app":""},"note":"fail\\t11\\rof it"}',
  'a text that may fail 13 times',
]
const patterns: readonly string[] = [
  'fail [0-9]',
  'FAIL [0-9]',
  '(?i)FAIL [0-9]+',
  'nfail [0-9]',
  '1ffail',
  'u001ffail [0-9]',
  'e9fail [0-9]',
  '003cfail',
  '"fail [0-9]"',
  'took_fail":[0-9]',
  'failure":',
  '^a text that .* times$',
  'quoted.. C:',
  'app":"","note',
  'fail.t11.rof',
]

test.each([
  ['closed', []],
  ['open', ['labels.']],
])(
  'a regular expression is tested in every line that may match: %s maps',
  async (dataset, open) => {
    await reader.send(dataset, ['{"labels":{"app":"first"},"took":0}'])
    if (open.length > 0) await reader.openMaps(dataset, open)
    await reader.send(dataset, lines)
    for (const pattern of patterns.filter((_, nth) => nth % 4 === 0)) {
      const regex = compileRegex({ pattern, ignoreCase: false })
      const expected = lines.filter((line) => regex.test(line))
      expect((await reader.lines([dataset], `@raw ~ '${pattern}'`)).sort(), pattern).toEqual(expected.sort())
    }
    const query = await reader.query([dataset])
    const { events } = reader.senders.app.app.world
    const queryRun = startQueryRun(query)
    const tables = tableReadsFor(query.sources, ['@raw'])
    const facts = await findLineFacts(events, queryRun, tables, { bounds: query.bounds })
    const shaped = tables.map((tableRead, index) => withFacts(tableRead, facts[index]))
    const found: string[] = []
    let [selected, all] = [0, 0]
    for (const tableRead of shaped) {
      const { lines: known } = contextOf(tableRead)
      const { columns, hasParts } = known
      const unknown: LineSources = { columns, hasParts }
      for (const sources of [known, unknown]) {
        const tested = patterns.flatMap((pattern) => {
          const candidates = mayContainAll(neededTexts(pattern, false), sources)
          return candidates ? [{ isMatch: regexMatches({ pattern, ignoreCase: false })(sql`line`), candidates }] : []
        })
        const matches = joined(tested.map(({ isMatch }) => sql`toUInt8(${isMatch})`))
        const candidates = joined(tested.map(({ candidates: one }) => sql`toUInt8(${one})`))
        const rows = await run(
          events,
          queryRun,
          sql`select toUInt64(arraySum(candidates)), toUInt64(arraySum((isMatch, isCandidate) -> isMatch and not isCandidate, [${matches}], candidates)), line
            from (select toString(${rawLine(sources)}) as line, [${candidates}] as candidates from ${name(tableRead.table)} where ${scopeOf(tableRead, query.bounds)})`,
        )
        while (rows.next()) {
          const [ofLine, missed, line] = [Number(rows.uint64()), rows.uint64(), rows.text()]
          expect(missed, line).toBe(0n)
          found.push(line)
          selected += ofLine
          all += tested.length
        }
      }
    }
    expect(new Set(found)).toEqual(new Set([...lines, '{"labels":{"app":"first"},"took":0}']))
    // Candidates are of use: they leave out most lines.
    expect(selected).toBeGreaterThan(0)
    expect(selected).toBeLessThan(all * 0.7)
  },
  300_000,
)
