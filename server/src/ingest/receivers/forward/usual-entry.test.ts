import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Failure } from '../../../kernel/errors.ts'
import { RecordDraft, RecordTable } from '../../../lines/shredder/record-table.ts'
import { TextMemory } from '../../../lines/shredder/text-memory.ts'
import { MsgpackReader } from './msgpack.ts'
import { ForwardRecords } from './record.ts'
import { UsualEntries } from './usual-entry.ts'

type Read = { end: number; container: string | undefined; record: ReturnType<RecordTable['at']> }

/** Reads successive entries by way of objects, each alone; undefined for one that cannot be read, and from it on. */
function byObjects(bytes: Uint8Array): (Read | undefined)[] {
  const found: (Read | undefined)[] = []
  for (let at = 0; at < bytes.length; ) {
    const reader = new MsgpackReader(bytes, at)
    try {
      reader.next()
      const { record, container } = new ForwardRecords(reader).entry()
      const draft = new RecordDraft(new TextMemory(bytes, false))
      draft.copy(record)
      at = reader.at
      found.push({ end: at, container, record: recordIn(draft) })
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return [...found, undefined]
    }
  }
  return found
}

function recordIn(draft: RecordDraft): Read['record'] {
  const table = new RecordTable(draft.memory)
  table.add(draft)
  const record = table.at(0)
  return { ...record, raw: Buffer.from(record.raw) }
}

/** Reads entries with one reader, in the body or in other memory of the post; `left` counts those that are left to the general reader. */
function atOnce(bytes: Buffer, isInBody: boolean): { found: (Read | undefined)[]; left: number } {
  const memory = new TextMemory(isInBody ? bytes : Buffer.from('body'), false)
  const base = isInBody ? 0 : memory.putBytes(Buffer.from('before')) && memory.putBytes(bytes)
  const draft = new RecordDraft(memory)
  const usual = new UsualEntries({ bytes, base }, new ForwardRecords(new MsgpackReader(bytes)).names, draft)
  const found: (Read | undefined)[] = []
  let [left, at] = [0, 0]
  for (const general of byObjects(bytes)) {
    if (usual.readEntry(at, bytes.length)) found.push({ end: usual.at, container: usual.container, record: recordIn(draft) })
    else {
      found.push(general)
      left += 1
    }
    at = general?.end ?? bytes.length
  }
  return { found, left }
}

const many = (first: number, count: number, parts: readonly Buffer[]): Buffer => Buffer.concat([Buffer.of(first | count), ...parts])
function sized(heads: readonly [small: number, middle: number, large: number], bytes: Uint8Array, width: number): Buffer {
  const head = [Buffer.of(heads[0], bytes.length), Buffer.of(heads[1], 0, bytes.length), Buffer.of(heads[2], 0, 0, 0, bytes.length)][
    width
  ] as Buffer
  return Buffer.concat([head, bytes])
}
const short = (text: string): Buffer => many(0xa0, Buffer.byteLength(text), [Buffer.from(text)])
const integers = [0n, 1n, 127n, 128n, 2n ** 32n - 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]

const contents = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', 'a', 'a\0b', 'für 日', '\uFEFFx', 'line\n', 'line\r\n', '\n', '{"a":1}', 'x'.repeat(80)) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 10 }) },
)
const texts = fc.oneof(
  { weight: 4, arbitrary: contents.filter((text) => Buffer.byteLength(text) < 32).map(short) },
  { weight: 2, arbitrary: fc.tuple(contents, fc.nat(2)).map(([text, width]) => sized([0xd9, 0xda, 0xdb], Buffer.from(text), width)) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.uint8Array({ maxLength: 12 }), fc.nat(2)).map(([bytes, width]) => sized([0xc4, 0xc5, 0xc6], bytes, width)),
  },
)
const fixedOf = (head: number, bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((of) => Buffer.of(head, ...of))
const wide = (head: number, value: bigint): Buffer => {
  const bytes = Buffer.alloc(9, head)
  bytes.writeBigUInt64BE(value, 1)
  return bytes
}
const double = (value: number): Buffer => {
  const bytes = Buffer.alloc(9, 0xcb)
  bytes.writeDoubleBE(value, 1)
  return bytes
}
const numbers = fc.oneof(
  fc.nat(127).map((value) => Buffer.of(value)),
  fc.integer({ min: 0xe0, max: 0xff }).map((value) => Buffer.of(value)),
  fc.constantFrom(0xcc, 0xd0).chain((head) => fixedOf(head, 1)),
  fc.constantFrom(0xcd, 0xd1).chain((head) => fixedOf(head, 2)),
  fc.constantFrom(0xca, 0xce, 0xd2).chain((head) => fixedOf(head, 4)),
  fc.constantFrom(0xcf, 0xd3).chain((head) => fixedOf(head, 8)),
  fc.tuple(fc.constantFrom(0xcf, 0xd3), fc.constantFrom(...integers)).map(([head, value]) => wide(head, value)),
  fc.oneof(fc.double(), fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, 1e21, 0.1)).map(double),
)
const odd = fc.constantFrom(
  Buffer.of(0xd4, 1, 2),
  Buffer.of(0xc7, 2, 5, 1, 2),
  Buffer.of(0x92, 1, 0xa1, 0x79),
  Buffer.of(0xc1),
  Buffer.of(0xdd, 0xff, 0xff, 0xff, 0xff),
  Buffer.concat([Buffer.alloc(120, Buffer.of(0x81, 0xa1, 0x61)), Buffer.of(1)]),
)
const names = fc
  .constantFrom('log', 'message', 'MESSAGE', 'a', 'a', 'b.c', 'level', 'kubernetes', 'container_name', 'source', 'é', '', 'x\0')
  .map(short)
const { value: values } = fc.letrec<{ value: Buffer; map: Buffer }>((tie) => ({
  value: fc.oneof(
    { weight: 12, arbitrary: texts },
    { weight: 6, arbitrary: numbers },
    { weight: 3, arbitrary: fc.constantFrom(Buffer.of(0xc0), Buffer.of(0xc2), Buffer.of(0xc3)) },
    { weight: 2, arbitrary: tie('map') },
    { weight: 1, arbitrary: odd },
  ),
  map: fc
    .array(fc.tuple(names, tie('value')), { maxLength: 3 })
    .map((members) =>
      members.length % 2 === 0
        ? many(0x80, members.length, members.flat())
        : Buffer.concat([Buffer.of(0xde, 0, members.length), ...members.flat()]),
    ),
}))
const seconds = Buffer.of(0xce, 0x6a, 0x90, 0, 0)
const eventTime = Buffer.of(0xd7, 0, 0x6a, 0x90, 0, 0, 0x3b, 0x9a, 0xc9, 0xff)
const times = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(seconds, eventTime, many(0x90, 2, [eventTime, Buffer.of(0x80)])) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      many(0x90, 2, [seconds, Buffer.of(0x81, 0xa1, 0x66, 1)]),
      Buffer.of(0),
      Buffer.of(0xce, 0, 0, 0, 0),
      Buffer.of(0xc0),
      Buffer.of(0xd7, 1, 0, 0, 0, 0, 0, 0, 0, 0),
      double(1_756_286_080.25),
    ),
  },
)
const records = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: fc.constantFrom('log', 'message', 'MESSAGE').map(short) }, names),
    texts,
    fc.array(fc.tuple(names, values), { maxLength: 5 }),
    fc.nat(2),
  )
  .map(([line, text, members, width]) => {
    const parts = [...members.slice(0, 2).flat(), line, text, ...members.slice(2).flat()]
    const count = members.length + 1
    const head = [Buffer.of(0x80 | count), Buffer.of(0xde, 0, count), Buffer.of(0xdf, 0, 0, 0, count)][width] as Buffer
    return Buffer.concat([head, ...parts])
  })
const entry = fc.tuple(times, records).map((parts) => many(0x90, 2, parts))
/** Some records follow one another with the same names, as those of one program do. */
const entries = fc
  .array(fc.tuple(entry, fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 4 })
  .map((all) => Buffer.concat(all.flatMap(([one, times]) => Array.from({ length: times }, () => one))))

test('entries are read at once as by way of objects', () => {
  let [read, left] = [0, 0]
  fc.assert(
    fc.property(entries, fc.boolean(), (bytes, isInBody) => {
      const once = atOnce(bytes, isInBody)
      read += once.found.length
      left += once.left
      expect(once.found).toEqual(byObjects(bytes))
    }),
    { numRuns: 3_000 },
  )
  expect(left / read).toBeLessThan(0.7)
})

test('so are entries with some bytes changed or cut off', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(entries, changes, fc.nat(), fc.boolean(), (whole, places, cut, isInBody) => {
      const bytes = Buffer.from(whole.subarray(0, whole.length - (cut % 3 === 0 ? cut % whole.length : 0)))
      for (const [at, byte] of places) bytes[at % bytes.length] = byte
      expect(atOnce(bytes, isInBody).found).toEqual(byObjects(bytes))
    }),
    { numRuns: 3_000 },
  )
})

test('a usual entry is read at once', () => {
  const members = [
    [short('log'), short('für 17\n')],
    [short('took'), double(1.5)],
    [short('big'), wide(0xcf, 2n ** 64n - 1n)],
    [short('none'), Buffer.of(0xc0)],
    [short('kubernetes'), many(0x80, 1, [short('container_name'), short('cart')])],
  ]
  const bytes = many(0x90, 2, [eventTime, many(0x80, members.length, members.flat())])
  expect(atOnce(bytes, true)).toEqual({
    left: 0,
    found: [
      {
        end: bytes.length,
        container: 'cart',
        record: {
          raw: Buffer.from('für 17'),
          time: { ms: 0x6a900000 * 1_000 + 999, ns: 999_999 },
          level: undefined,
          keys: [
            ['took', '1.5'],
            ['big', '18446744073709551615'],
          ],
          attributes: [['$kubernetes.container_name', 'cart']],
        },
      },
    ],
  })
})
