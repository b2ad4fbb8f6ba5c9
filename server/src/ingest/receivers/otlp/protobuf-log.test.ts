import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecordDraft, RecordTable } from '../../../lines/shredder/record-table.ts'
import { TextMemory } from '../../../lines/shredder/text-memory.ts'
import { BodyText } from '../body-text.ts'
import { KeyNames } from '../names.ts'
import { encodeProtobuf } from './encode.fixture.ts'
import { ValueBudget } from './message.ts'
import { readProtobuf } from './protobuf.ts'
import { ProtobufLog } from './protobuf-log.ts'
import { recordByObject } from './record-by-object.fixture.ts'

/** Reads the bytes of a record in place of a draft; undefined for a record that is left to the general reader. */
function atOnce(bytes: Uint8Array) {
  const draft = new RecordDraft(new TextMemory(bytes, false))
  const table = new RecordTable(draft.memory)
  const names = new KeyNames(bytes, new BodyText(bytes), () => undefined)
  if (!new ProtobufLog(bytes, names, new ValueBudget()).read(0, bytes.length, draft)) return undefined
  table.add(draft)
  return table.at(0)
}

/** Reads a record by way of an object; undefined for bytes that are no record. */
function byMessage(bytes: Uint8Array) {
  try {
    return recordByObject(bytes, readProtobuf)
  } catch {
    return undefined
  }
}

const texts = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom('', 'a\0b', 'INFO', 'x'.repeat(50)))
const leaf = fc.oneof(
  texts.map((stringValue) => ({ stringValue })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((int) => ({ intValue: String(int) })),
  fc.nat().map((int) => ({ intValue: String(int) })),
  fc.double().map((doubleValue) => ({ doubleValue: Object.is(doubleValue, -0) ? '-0' : String(doubleValue) })),
  fc.boolean().map((boolValue) => ({ boolValue })),
  fc.constantFrom({}, { arrayValue: { values: [{ intValue: '1' }] } }, { bytesValue: 'AAE=' }),
)
const keys = fc.oneof(texts, fc.constantFrom('level', 'http.status', 'a', 'a', 'trace_id'))
const records = fc.record(
  {
    timeUnixNano: fc.bigInt({ min: 0n, max: 2n ** 63n }).map(String),
    observedTimeUnixNano: fc.constantFrom('0', '1735689600000123456', '7'),
    severityNumber: fc.constantFrom(0, 1, 9, 17, 24, 25, 400),
    severityText: texts,
    body: fc.oneof({ weight: 5, arbitrary: texts.map((stringValue) => ({ stringValue })) }, { weight: 1, arbitrary: leaf }),
    attributes: fc.array(fc.record({ key: keys, value: leaf }), { maxLength: 5 }),
    droppedAttributesCount: fc.constantFrom(0, 3, 70_000),
    flags: fc.constantFrom(0, 1),
    traceId: fc.constantFrom('', '0'.repeat(32), 'ab'.repeat(16), 'abcd'),
    spanId: fc.constantFrom('', '0'.repeat(16), '0123456789abcdef'),
    eventName: texts,
  },
  { requiredKeys: [] },
)

test('a record is read at once as by way of an object', () => {
  fc.assert(
    fc.property(records, (record) => {
      const bytes = encodeProtobuf('LogRecord', record)
      const found = atOnce(bytes)
      if (found) expect(found).toEqual(byMessage(bytes))
    }),
    { numRuns: 2_000 },
  )
})

test('so are records with some bytes changed', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(records, changes, (record, places) => {
      const bytes = Buffer.from(encodeProtobuf('LogRecord', record))
      for (const [at, byte] of places) if (bytes.length > 0) bytes[at % bytes.length] = byte
      const found = atOnce(bytes)
      if (found) expect(found).toEqual(byMessage(bytes))
    }),
    { numRuns: 3_000 },
  )
})

test('the usual record is read at once', () => {
  const usual = {
    timeUnixNano: '1735689600000123456',
    severityNumber: 9,
    severityText: 'INFO',
    body: { stringValue: 'für 17' },
    attributes: [
      { key: 'url.path', value: { stringValue: '/a' } },
      { key: 'took', value: { doubleValue: 1.5 } },
      { key: 'status', value: { intValue: '200' } },
      { key: 'isOk', value: { boolValue: true } },
    ],
    traceId: 'ab'.repeat(16),
  }
  expect(atOnce(encodeProtobuf('LogRecord', usual))).toMatchObject({
    level: 'INFO',
    keys: [
      ['url.path', '/a'],
      ['took', '1.5'],
      ['status', '200'],
      ['isOk', 'true'],
      ['level', 'INFO'],
      ['trace_id', 'ab'.repeat(16)],
    ],
  })
})
