import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, inject, test, vi } from 'vitest'
import { openEventStore } from '../../events/store/events.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemIds } from '../../kernel/ids.ts'
import { openLogger } from '../../kernel/log.ts'
import { ColumnTexts } from '../kernel/column-texts.ts'
import { NO_PERIOD } from '../layout/periods.ts'
import { decideSlots, emptySlotMap } from '../layout/slots.ts'
import { columns, eventsTable, localTable, type TableClass, tableClassNames } from '../layout/table.ts'
import type { Arrival } from '../reference/event.ts'
import { family, hostileLine, randomFrom } from '../reference/generated-lines.fixture.ts'
import { observe } from '../shredder/observe.ts'
import { Shredder } from '../shredder/shred.ts'
import { BlockBuilder } from './block.ts'
import { NativeReader } from './native-rows.fixture.ts'

const arrival: Arrival = {
  at: { ms: Date.UTC(2024, 4, 2), ns: 999_999 },
  attributes: [{ path: '$host', text: 'h1' }],
  origin: '10.0.0.1',
  post: 2n ** 64n - 1n,
}
const ORG = 4_294_967_295

/** Generated log lines with hostile ones among them. */
function linesOf(seed: number): Uint8Array[] {
  const chance = randomFrom(seed)
  const families = [family(chance), family(chance)]
  return Array.from({ length: 300 }, () => (chance.chance(0.3) ? hostileLine(chance) : chance.pick(families)()))
}

function blockOf(tableClass: TableClass, lines: readonly Uint8Array[], logId: string, firstSeq: bigint): Uint8Array<ArrayBuffer> {
  const withOpenMaps = { ...emptySlotMap(tableClass), open: new Set(tableClass === 's' ? [] : ['', 'a.', 'x.']) }
  const map = decideSlots(withOpenMaps, observe(lines.map((bytes) => ({ bytes, arrival }))).observed, new Map())
  const shredder = new Shredder(map, { random: Math.random })
  for (const line of lines) shredder.addLine(line, arrival)
  return shredder.flush({ orgId: ORG, logId, firstSeq })
}

test.each(tableClassNames)('blocks of class %s survive a round trip through the engine', async (tableClass) => {
  const stores = inject('stores')
  const deps = { clock: systemClock, log: openLogger('silent'), ids: systemIds }
  const store = await openEventStore({ url: stores.events, dataDir: stores.dataDir, memoryBytes: 2 ** 30 }, deps)
  const table = eventsTable(tableClass, NO_PERIOD)
  const logId = randomUUID()
  const names = columns(tableClass).map((column) => column.name)
  try {
    const blocks = [blockOf(tableClass, linesOf(1), logId, 2n ** 63n - 600n), blockOf(tableClass, linesOf(2), logId, 2n ** 63n - 300n)]
    const query = `insert into ${localTable(table, store.cluster)} format Native`
    const inserted = await store.writer.exec({ query, values: Readable.from(blocks, { objectMode: false }) })
    await buffer(inserted.stream)
    const read = `select ${names.join(', ')} from ${table} where log_id = {log_id:UUID} order by seq format Native`
    const answer = await store.writer.exec({ query: read, query_params: { log_id: logId } })
    expect(rowsOf(await buffer(answer.stream), names)).toEqual(blocks.flatMap((block) => rowsOf(block, names)))
  } finally {
    await store.close()
  }
})

const emptyOf: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['more', new Map()],
  ['parts', []],
])

/** Reads the blocks in the bytes. A column that a block omits is empty. */
function rowsOf(bytes: Uint8Array, names: readonly string[]): unknown[][] {
  const reader = new NativeReader(bytes)
  const all: unknown[][] = []
  while (!reader.done) {
    const { rows, columns: sent } = reader.block()
    for (let row = 0; row < rows; row += 1) {
      all.push(names.map((name) => sent.get(name)?.[row] ?? emptyOf.get(name) ?? ''))
    }
  }
  return all
}

test('the rows of several days are taken by day, as if each day had come alone', () => {
  const logId = randomUUID()
  const owner = { orgId: ORG, logId }
  const days = [19_840, 19_841, 19_843]
  for (const tableClass of tableClassNames) {
    const lines = [...linesOf(3), Buffer.from('only words')]
    const withOpenMaps = { ...emptySlotMap(tableClass), open: new Set(tableClass === 's' ? [] : ['', 'a.', 'x.']) }
    const map = decideSlots(withOpenMaps, observe(lines.map((bytes) => ({ bytes, arrival }))).observed, new Map())
    // Text lines have no values, so one day has neither overflow values nor parts.
    const dayOf = (line: Uint8Array, index: number) => (line[0] === 0x7b ? (days[index % 2] ?? 0) : 19_843)
    const add = (shredder: Shredder, line: Uint8Array, day: number) =>
      shredder.addLine(line, { ...arrival, attributes: [], time: { ms: day * 86_400_000, ns: 0 } })
    const mixed = new Shredder(map, { random: Math.random })
    for (const [index, line] of lines.entries()) add(mixed, line, dayOf(line, index))
    const taken = mixed.take(owner)
    expect(taken.map(({ day }) => day)).toEqual(days)
    for (const { day, rows, columns: some } of taken) {
      const alone = new Shredder(map, { random: Math.random })
      const own = [...lines.entries()].filter(([index, line]) => dayOf(line, index) === day)
      for (const [, line] of own) add(alone, line, day)
      const [expected] = alone.take(owner)
      expect([...rows]).toEqual(own.map(([index]) => index))
      expect(valuesOf(some, rows.length)).toEqual(valuesOf(expected?.columns ?? [], rows.length))
    }
  }
})

test('a column is read once, whatever the number of days', () => {
  const lines = Array.from({ length: 60 }, (_, n) => Buffer.from(`{"user":"u${n}","path":"/p/${n}","tags":["a",{"n":${n}}]}`))
  const reads = [1, 2, 30].map((days) => {
    const shredder = new Shredder(emptySlotMap('s'), { random: Math.random })
    const filled = vi.spyOn(ColumnTexts.prototype, 'filled')
    for (const [n, line] of lines.entries()) shredder.addLine(line, { ...arrival, time: { ms: (19_840 - (n % days)) * 86_400_000, ns: 0 } })
    expect(shredder.take({ orgId: ORG, logId: randomUUID() }).length).toBe(days)
    const { length } = filled.mock.calls
    filled.mockRestore()
    return length
  })
  expect(reads[0]).toBeGreaterThan(0)
  expect(reads).toEqual([reads[0], reads[0], reads[0]])
})

/** The values of encoded columns by row; a column that is left out is empty. */
function valuesOf(encoded: readonly { name: string; type: string; bytes: Uint8Array }[], rows: number): unknown[][] {
  const text = (value: string) => [Buffer.from([value.length]), Buffer.from(value)]
  const head = [Buffer.from([encoded.length, (rows & 0x7f) | (rows > 0x7f ? 0x80 : 0), ...(rows > 0x7f ? [rows >>> 7] : [])])]
  const bytes = Buffer.concat([...head, ...encoded.flatMap(({ name, type, bytes }) => [...text(name), ...text(type), bytes])])
  return rowsOf(
    bytes,
    columns('l').map(({ name }) => name),
  )
}

test('a time is exact from 1970 to the last nanosecond that the engine knows', () => {
  const builder = new BlockBuilder('s')
  const instants = [
    0n,
    1n,
    999_999n,
    65_535_999_999n,
    65_536_000_000n,
    1_714_558_830_123_456_789n,
    4_294_967_296n * 1_000_000n - 1n,
    2n ** 63n - 1n,
  ]
  for (const total of instants) {
    builder.setTime(Number(total / 1_000_000n), Number(total % 1_000_000n))
    builder.end(builder.shape.indexOf(''), builder.origin.indexOf(''), 'none')
  }
  const block = new NativeReader(builder.encode({ orgId: 1, logId: '00112233-4455-6677-8899-aabbccddeeff', firstSeq: 1n })).block()
  expect(block.columns.get('ts')).toEqual(instants)
  expect(block.columns.get('log_id')?.[0]).toBe('00112233445566778899aabbccddeeff')
  expect(() => builder.encode({ orgId: 1, logId: 'nonsense', firstSeq: 1n })).toThrow('is not a UUID')
})
