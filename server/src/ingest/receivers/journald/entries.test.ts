import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Failure } from '../../../kernel/errors.ts'
import { type ParsedBody, recordsOf } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { JournalEntries, JournalFields } from './entries.ts'
import { journald } from './journald.ts'

const text = (names: readonly string[]) => fc.constantFrom(...names)
const names = text([
  'MESSAGE',
  'PRIORITY',
  '__REALTIME_TIMESTAMP',
  '__CURSOR',
  '_SYSTEMD_UNIT',
  'SYSLOG_IDENTIFIER',
  '_PID',
  'A',
  'A',
  'B',
  'é',
])
const values = text([
  '6',
  '3',
  '9',
  '',
  'a b',
  'für',
  'a\0b',
  '{"level":"x"}',
  'shop.service',
  '1735689600000123',
  '9999999999999999',
  '0017',
  '17x',
  'x=y',
  '\xff',
])
const sized = (name: string, value: string): Buffer => {
  const bytes = Buffer.from(value, 'latin1')
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(bytes.length))
  return Buffer.concat([Buffer.from(`${name}\n`), length, bytes, Buffer.from('\n')])
}
const fields = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(names, values).map(([name, value]) => Buffer.from(`${name}=${value}\n`)) },
  { weight: 1, arbitrary: fc.tuple(names, fc.constantFrom('a\nb', '\xff\0', '6')).map(([name, value]) => sized(name, value)) },
)
/** Entries of which many have the same names, and some are repeated. */
const bodies = fc
  .array(fc.tuple(fc.array(fields, { maxLength: 5 }), fc.integer({ min: 1, max: 3 })), { maxLength: 4 })
  .map((entries) =>
    Buffer.concat(entries.flatMap(([entry, times]) => Array.from({ length: times }, () => Buffer.concat([...entry, Buffer.from('\n')])))),
  )

/** Reads every field as the first of a body is read. */
function readFirst(body: Uint8Array): ParsedBody {
  const batches = new Batches(body, false)
  const entries = new JournalEntries(body, batches)
  const found = new JournalFields(body)
  entries.begin()
  while (!found.isAtEnd) {
    const field = found.next()
    if (field) entries.add(field)
    else entries.end()
  }
  entries.end()
  return batches.parsed()
}

/** The records by dataset, or the reason why there are none. */
function resultOf(read: () => ParsedBody): unknown {
  try {
    return read().batches.map(({ dataset, events }) => ({
      dataset,
      records: [...recordsOf(events)].map((record) => ({ ...record, raw: Buffer.from(record.raw) })),
    }))
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.message
    throw thrown
  }
}

const contentType = 'application/vnd.fdo.journal'
const parsed = (body: Uint8Array) => resultOf(() => journald.parse({ path: '', query: {}, headers: {}, contentType, body }))

test('an entry like the one before is read like one that is not', () => {
  fc.assert(
    fc.property(bodies, (body) => {
      expect(parsed(body)).toEqual(resultOf(() => readFirst(body)))
    }),
    { numRuns: 2_000 },
  )
})

test('so are bodies with some bytes changed or cut off', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 })
  fc.assert(
    fc.property(bodies, changes, fc.nat(), (whole, places, cut) => {
      const body = Buffer.from(whole.subarray(0, whole.length - (cut % 3 === 0 ? cut % (whole.length + 1) : 0)))
      for (const [at, byte] of places) if (body.length > 0) body[at % body.length] = byte
      expect(parsed(body)).toEqual(resultOf(() => readFirst(body)))
    }),
    { numRuns: 2_000 },
  )
})
