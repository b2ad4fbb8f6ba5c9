import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { formatTime, fromNs } from '../../lines/values/time-text.ts'
import { BinaryRows } from '../run/row-binary.ts'
import { encodeStatement } from '../sql/request-body.ts'
import { bindStatement, param, type SqlFragment, sql } from '../sql/sql.ts'
import { timeTextAs } from './event-time.ts'

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
})
afterAll(() => reader?.close())

async function textOf(statement: SqlFragment): Promise<string> {
  const { body, contentType } = encodeStatement(bindStatement(statement), 'RowBinary')
  const signal = AbortSignal.timeout(30_000)
  const { bytes, rows } = await reader.senders.app.app.world.events.read({
    body,
    contentType,
    queryId: crypto.randomUUID(),
    signal,
    settings: {},
    resultBytesMax: 2 ** 20,
  })
  return new BinaryRows(bytes, rows).text()
}

const layouts = [...'isbByYakgwW']
const formats = layouts.flatMap((layout) =>
  ['T.3Z', ' ,6+02:00', ' .0', ' .9 -0530', ' .*', 'T.*+01:00[Europe/Berlin]', ' .1 EST'].map((rest) => layout + rest),
)

test.each(['2026-09-01T02:03:04.050607080Z', '2026-12-24T23:59:59.000000000Z', '2027-01-01T00:00:00.120000000Z'])(
  'the store writes %s in every format as formatTime does',
  async (iso) => {
    const ns = BigInt(Date.parse(`${iso.slice(0, 19)}Z`)) * 1_000_000n + BigInt(iso.slice(20, 29))
    const texts = formats.concat(['ns', 'nm', 'nu', 'nn']).map((format) => [format, timeTextAs(format)] as const)
    for (const [format, text] of texts) {
      const stored = await textOf(sql`select ${text} from (select fromUnixTimestamp64Nano(${param.int64(ns)}, 'UTC') as ts)`)
      expect([format, stored]).toEqual([format, formatTime(fromNs(ns), format)])
    }
  },
  60_000,
)
