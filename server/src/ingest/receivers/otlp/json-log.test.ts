import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Failure } from '../../../kernel/errors.ts'
import { KEY_BYTES_MAX } from '../../../lines/reference/walk.ts'
import { RecordDraft, RecordTable } from '../../../lines/shredder/record-table.ts'
import { TextMemory } from '../../../lines/shredder/text-memory.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader } from '../json/reader.ts'
import { KeyNames } from '../names.ts'
import { readJson } from './json.ts'
import { JsonLog } from './json-log.ts'
import { ValueBudget } from './message.ts'
import { recordByObject } from './record-by-object.fixture.ts'

const NOT_READ = 'left to the general reader'

/** Reads the records of an array in place of a draft. The records of one body teach their steps to the next ones. */
function atOnce(bytes: Uint8Array, isText: boolean) {
  const reader = new JsonReader(bytes)
  const text = new BodyText(bytes)
  const draft = new RecordDraft(new TextMemory(bytes, isText))
  const table = new RecordTable(draft.memory)
  const logs = new JsonLog(reader, text, new KeyNames(bytes, text, () => undefined), new ValueBudget())
  const found: { end: number; record: unknown }[] = []
  reader.openArray()
  while (reader.element()) {
    reader.peek()
    const { at } = reader
    const isRead = logs.read(draft)
    const { at: end } = reader
    if (isRead) {
      table.add(draft)
      found.push({ end, record: undefined })
    } else {
      expect(end).toBe(at)
      reader.skip()
      found.push({ end: reader.at, record: NOT_READ })
    }
  }
  let read = 0
  return found.map(({ end, record }) => ({ end, record: record ?? table.at(read++) }))
}

/** Reads a record by way of an object; a reason for a record that cannot be read. */
function byMessage(bytes: Uint8Array) {
  const reader = new JsonReader(bytes)
  const found: { end: number; record: unknown }[] = []
  reader.openArray()
  while (reader.element()) {
    reader.skip()
    found.push({ end: reader.stop, record: recordIn(bytes.subarray(reader.start, reader.stop)) })
  }
  return found
}

function recordIn(bytes: Uint8Array): unknown {
  try {
    return recordByObject(bytes, readJson)
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.message
    throw thrown
  }
}

const quoted = fc
  .oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom('', 'a\0b', 'INFO', 'x'.repeat(50), '5', '\u0001"\\'))
  .map((text) => JSON.stringify(text))
const written = fc.oneof(
  { weight: 4, arbitrary: quoted },
  {
    weight: 2,
    arbitrary: fc.constantFrom('null', 'true', '0', '7', '-1', '1.50', '1e400', '{}', '[]', '[null]', '{"a":1}', '"\\u0041"', '"\\ud800"'),
  },
  { weight: 1, arbitrary: fc.constantFrom('NaN', '01', '5.0') },
)
/** Mostly what programs write. */
const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: odd })
const spaces = fc.constantFrom('', '', '', ' ', '\n  ')
type Member = readonly [name: string, value: string]
/** Writes members, some of them twice or with spaces between. */
const objectOf = (members: fc.Arbitrary<Member[]>): fc.Arbitrary<string> =>
  fc.tuple(members, spaces).map(([all, space]) => `{${all.map(([name, value]) => `${space}"${name}":${space}${value}`).join(',')}${space}}`)

const kinds = ['stringValue', 'intValue', 'doubleValue', 'boolValue', 'bytesValue', 'arrayValue', 'kvlistValue', 'x', 'value.stringValue']
const scalars = ['{"intValue":"200"}', '{"doubleValue":1.5}', '{"boolValue":true}', '{"intValue":5}', '{"bytesValue":"AAE="}']
const oddValues = ['{}', 'null', '{"stringValue":null}', '{"kvlistValue":{"values":[{"key":"a","value":{"intValue":"1"}}]}}', '5']
const value = mostly(
  fc.oneof(
    quoted.map((text) => `{"stringValue":${text}}`),
    fc.constantFrom(...scalars),
  ),
  fc.oneof(objectOf(fc.array(fc.tuple(fc.constantFrom(...kinds), written), { maxLength: 2 })), fc.constantFrom(...oddValues)),
)
const textBody = mostly(
  quoted.map((text) => `{"stringValue":${text}}`),
  value,
)
const names = mostly(
  fc.constantFrom('"level"', '"a.b"', '"a"', '"trace_id"', '"http.status"', '"f\\u00fcr"'),
  fc.oneof(quoted, written, fc.constant(JSON.stringify('k'.repeat(KEY_BYTES_MAX + 1)))),
)
const usualAttribute = fc.tuple(names, value).map(([key, one]): Member[] => [
  ['key', key],
  ['value', one],
])
const anyMembers = fc.array(
  fc.oneof(
    names.map((key): Member => ['key', key]),
    value.map((one): Member => ['value', one]),
    written.map((one): Member => ['other', one]),
  ),
  { maxLength: 3 },
)
const attributes = fc.array(objectOf(mostly(usualAttribute, anyMembers)), { maxLength: 4 }).map((all) => `[${all.join(',')}]`)
const times = mostly(
  fc.oneof(
    fc.constantFrom('"0"', '1735689600000123456', '"7"', 'null'),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((ns) => `"${ns}"`),
  ),
  fc.oneof(fc.constantFrom('"000001"', '0', '1.7e18', '"-5"', '""'), written),
)
const numbers = mostly(
  fc.constantFrom('0', '9', '17', '"9"', '25', '400', '70000', 'null'),
  fc.oneof(fc.constantFrom('-1', '"SEVERITY_NUMBER_INFO"', '1.5', '007', '12345678901234567890'), written),
)
const ids = (digits: number) =>
  mostly(
    fc.constantFrom('""', `"${'0'.repeat(digits)}"`, `"${'ab'.repeat(digits / 2)}"`),
    fc.oneof(fc.constantFrom(`"${'AB'.repeat(digits / 2)}"`, '"abcd"', '1'.repeat(digits)), written),
  )
const usualMembers: fc.Arbitrary<Member>[] = [
  times.map((one): Member => ['timeUnixNano', one]),
  times.map((one): Member => ['observedTimeUnixNano', one]),
  numbers.map((one): Member => ['severityNumber', one]),
  quoted.map((one): Member => ['severityText', one]),
  attributes.map((one): Member => ['attributes', one]),
  numbers.map((one): Member => ['droppedAttributesCount', one]),
  numbers.map((one): Member => ['flags', one]),
  ids(32).map((one): Member => ['traceId', one]),
  ids(16).map((one): Member => ['spanId', one]),
  quoted.map((one): Member => ['eventName', one]),
]
const memberNames = ['timeUnixNano', 'severityNumber', 'severityText', 'body', 'attributes', 'flags', 'traceId', 'eventName', 'more']
const oddMember = fc.tuple(fc.constantFrom(...memberNames), written)
const body = fc.tuple(fc.constantFrom('body'), textBody)
const usualRecord = fc
  .tuple(body, fc.subarray(usualMembers), fc.nat(usualMembers.length))
  .chain(([first, some, at]) => fc.tuple(...some.slice(0, at), fc.constant(first), ...some.slice(at)))
const oddRecord = fc
  .tuple(usualRecord, fc.array(fc.oneof(oddMember, body, ...usualMembers), { maxLength: 2 }))
  .map(([usual, more]) => [...usual, ...more])
const record = objectOf(fc.oneof({ weight: 3, arbitrary: usualRecord }, { weight: 1, arbitrary: oddRecord }))
/** The first of several are repeated, so that the steps between their values are known. */
const bodies = fc
  .tuple(
    fc.array(fc.oneof({ weight: 8, arbitrary: record }, { weight: 1, arbitrary: written }), { minLength: 1, maxLength: 4 }),
    fc.boolean(),
  )
  .map(([all, isRepeated]) => Buffer.from(`[${(isRepeated ? [...all, ...all] : all).join(',')}]`))

function agree(bytes: Uint8Array, isText: boolean): void {
  let expected: ReturnType<typeof byMessage> | undefined
  try {
    expected = byMessage(bytes)
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Failure)
  }
  if (!expected) {
    // The array is broken: its records are read up to there, and the general reader refuses the body.
    expect(() => atOnce(bytes, isText)).toThrow(Failure)
    return
  }
  const found = atOnce(bytes, isText)
  expect(found.map(({ end }) => end)).toEqual(expected.map(({ end }) => end))
  for (const [at, { record }] of found.entries()) if (record !== NOT_READ) expect(record).toEqual(expected[at]?.record)
}

test('records are read at once as by way of an object', () => {
  fc.assert(
    fc.property(bodies, fc.boolean(), (bytes, isText) => agree(bytes, isText)),
    { numRuns: 1_500 },
  )
})

test('so are records with some bytes changed', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"{}[],:\\n0')))), {
    minLength: 1,
    maxLength: 3,
  })
  fc.assert(
    fc.property(bodies, changes, fc.boolean(), (bytes, places, isText) => {
      const changed = Buffer.from(bytes)
      for (const [at, byte] of places) changed[1 + (at % (changed.length - 1))] = byte
      agree(changed, isText)
    }),
    { numRuns: 1_500 },
  )
})

const usual = {
  timeUnixNano: '1735689600000123456',
  observedTimeUnixNano: '1735689600000999999',
  severityNumber: 9,
  severityText: 'Info',
  body: { stringValue: 'für "17"' },
  attributes: [
    { key: 'url.path', value: { stringValue: '/a' } },
    { key: 'said', value: { stringValue: 'a\tb' } },
    { key: 'took', value: { doubleValue: 1.5 } },
    { key: 'status', value: { intValue: '200' } },
    { key: 'isOk', value: { boolValue: true } },
  ],
  droppedAttributesCount: 2,
  flags: 1,
  traceId: 'ab'.repeat(16),
  spanId: '',
}

test.each([0, 2])('usual records, indented by %i spaces, are read at once', (indent) => {
  const found = atOnce(Buffer.from(JSON.stringify([usual, usual, usual], undefined, indent)), true)
  for (const { record } of found) {
    expect(record).toMatchObject({
      raw: Buffer.from('für "17"'),
      time: { ms: 1_735_689_600_000, ns: 123_456 },
      level: 'INFO',
      keys: [
        ['url.path', '/a'],
        ['said', 'a\tb'],
        ['took', '1.5'],
        ['status', '200'],
        ['isOk', 'true'],
        ['level', 'Info'],
        ['trace_id', 'ab'.repeat(16)],
      ],
      attributes: [
        ['$otel.observed_time', '1735689600000999999'],
        ['$otel.flags', '1'],
        ['$otel.dropped_attributes', '2'],
      ],
    })
  }
  expect(found).toHaveLength(3)
})

test('the values of a record that is left to the general reader count once', () => {
  const allowance = new ValueBudget()
  const bytes = Buffer.from(JSON.stringify({ attributes: [{ key: 'a', value: { intValue: 1 } }], body: { arrayValue: {} } }))
  const text = new BodyText(bytes)
  const logs = new JsonLog(new JsonReader(bytes), text, new KeyNames(bytes, text, () => undefined), allowance)
  const before = allowance.left
  expect(logs.read(new RecordDraft(new TextMemory(bytes, true)))).toBe(false)
  expect(allowance.left).toBe(before)
})
