import { describe, expect, test } from 'vitest'
import { growLayout } from '../../lines/layout/catalog.ts'
import type { SlotMap } from '../../lines/layout/slots.ts'
import { type ReceivedRecord, recordsOf } from '../batch.ts'
import { PostProcessor } from '../post-processor.ts'
import { parsers } from './receivers.ts'

const DATASET = '00000000-0000-4000-8000-000000000001'

type Fields = Readonly<Record<string, string>>
/** A body with these fields, one record for each. */
type Writer = { receiver: string; path: string; contentType?: string; write(records: readonly Fields[]): string }

const list = (records: readonly Fields[], one: (fields: Fields) => unknown, [start, between, end]: readonly [string, string, string]) =>
  start + records.map((fields) => JSON.stringify(one(fields))).join(between) + end

const writers: Readonly<Record<string, Writer>> = {
  'loki metadata': {
    receiver: 'loki',
    path: '/loki/api/v1/push',
    contentType: 'application/json',
    write: (all) => list(all, (fields) => ['1714521600000000000', 'x', fields], ['{"streams":[{"stream":{},"values":[', ',', ']}]}']),
  },
  'loki labels': {
    receiver: 'loki',
    path: '/loki/api/v1/push',
    contentType: 'application/json',
    write: (all) => list(all, (stream) => ({ stream, values: [['1714521600000000000', 'x']] }), ['{"streams":[', ',', ']}']),
  },
  hec: { receiver: 'hec', path: '/services/collector', write: (all) => list(all, (fields) => ({ event: 'x', fields }), ['', '', '']) },
  datadog: {
    receiver: 'datadog',
    path: '/api/v2/logs',
    write: (all) => list(all, (fields) => ({ message: 'x', ...fields }), ['[', ',', ']']),
  },
  newrelic: {
    receiver: 'newrelic',
    path: '/log/v1',
    write: (all) => list(all, (attributes) => ({ message: 'x', attributes }), ['[{"logs":[', ',', ']}]']),
  },
  logdna: {
    receiver: 'logdna',
    path: '/logs/ingest',
    write: (all) => list(all, (meta) => ({ line: 'x', meta }), ['{"lines":[', ',', ']}']),
  },
  gelf: {
    receiver: 'gelf-http',
    path: '/gelf',
    write: (all) => list(all, (fields) => ({ short_message: 'x', ...fields }), ['[', ',', ']']),
  },
  vercel: { receiver: 'vercel', path: '/vercel', write: (all) => list(all, (fields) => ({ message: 'x', ...fields }), ['[', ',', ']']) },
  journald: {
    receiver: 'journald',
    path: '/upload',
    contentType: 'application/vnd.fdo.journal',
    write: (all) =>
      all
        .map(
          (fields) =>
            `MESSAGE=x\n${Object.entries(fields)
              .map(([name, text]) => `${name}=${text}\n`)
              .join('')}\n`,
        )
        .join(''),
  },
  elasticsearch: {
    receiver: 'elasticsearch',
    path: '/_bulk',
    write: (all) => all.map((fields) => `{"create":{}}\n${JSON.stringify({ message: 'x', ...fields })}\n`).join(''),
  },
}

const requestOf = ({ path, contentType = '', write }: Writer, records: readonly Fields[]) => ({
  path,
  query: {},
  headers: { 'content-type': contentType },
  contentType,
  body: Buffer.from(write(records)),
})

/** Splits the events of a body as a worker does, and returns the number of rows. */
function rowsOf(writer: Writer, records: readonly Fields[]): number {
  const processor = new PostProcessor()
  const request = requestOf(writer, records)
  processor.run(1, { kind: 'parse', receiver: writer.receiver, request, wantsHash: false })
  const split = (map: SlotMap | undefined) => {
    const target = {
      batches: [0],
      orgNumber: 1,
      logId: DATASET,
      map,
      attributes: [],
      rules: undefined,
      parser: undefined,
      lineTime: undefined,
      isLast: true,
    }
    const reply = processor.run(1, { kind: 'shred', atMs: 1_714_521_600_000, origin: '', targets: [target] })
    return 'shredded' in reply ? reply.shredded[0] : undefined
  }
  const found = split(undefined)
  if (found?.kind !== 'keys') throw new Error('a new dataset has slots')
  const stored = split(growLayout(undefined, found, new Map()).map)
  return stored?.kind === 'blocks' ? stored.rows : 0
}

function recordsFrom(writer: Writer, records: readonly Fields[]): readonly ReceivedRecord[] {
  const parser = parsers.find(({ name }) => name === writer.receiver)
  const events = parser?.parse(requestOf(writer, records)).batches[0]?.events
  if (!events) throw new Error('the body has no records')
  return [...recordsOf(events)]
}

describe.each(Object.entries(writers))('%s', (_, writer) => {
  test('stores records with 10,000 different shapes', () => {
    const records = Array.from({ length: 10_000 }, (_one, n): Fields => ({ [`KEY${n}`]: 'a', [`OTHER${n % 97}`]: String(n) }))
    expect(rowsOf(writer, records)).toBe(records.length)
  })

  test('keeps 1,000 of 2,000 keys as fields, and the others in the line or as a count', () => {
    const fields = Object.fromEntries(Array.from({ length: 2_000 }, (_one, n) => [`KEY${n}`, `value-${n}`]))
    const [record] = recordsFrom(writer, [fields])
    if (!record) throw new Error('the record is missing')
    const kept = [...record.keys, ...record.attributes]
    const line = Buffer.from(record.raw).toString()
    const isInLine = line.includes('value-0"') && line.includes('value-1999"')
    const dropped = kept.find(([name]) => name.includes('.dropped_'))?.[1]
    expect([isInLine, dropped]).toEqual(isInLine ? [true, undefined] : [false, '1000'])
    if (!isInLine) expect(kept.filter(([, text]) => text.startsWith('value-'))).toHaveLength(1_000)
  })
})

test('small batches for one dataset, as of datasets beyond the limit, become one block and keep what each batch tells', () => {
  const processor = new PostProcessor()
  const names = Array.from({ length: 500 }, (_, n) => `service-${n}`)
  const body = Buffer.from(
    names
      .map((service, n) =>
        JSON.stringify({ event: { n, message: 'x' }, fields: { service }, index: service, source: `s${n}`, time: 1_714_521_600 + n }),
      )
      .join(''),
  )
  const request = { path: '/services/collector', query: {}, headers: {}, contentType: '', body }
  const parsed = processor.run(1, { kind: 'parse', receiver: 'hec', request, wantsHash: false })
  if (!('batches' in parsed)) throw new Error('the body was not parsed')
  expect(parsed.batches).toHaveLength(names.length)
  const shred = (map: SlotMap | undefined, batches: readonly number[]) => {
    const target = {
      batches,
      orgNumber: 1,
      logId: DATASET,
      map,
      attributes: [],
      rules: undefined,
      parser: undefined,
      lineTime: undefined,
      isLast: true,
    }
    const reply = processor.run(1, { kind: 'shred', atMs: 1_714_521_600_000, origin: '', targets: [target] })
    const [one] = 'shredded' in reply ? reply.shredded : []
    return one ?? fail()
  }
  const all = names.map((_, batch) => batch)
  const found = shred(undefined, all)
  if (found.kind !== 'keys') throw new Error('a new dataset has slots')
  const { map } = growLayout(undefined, found, new Map())
  const together = shred(map, all)
  const apart = all.map((batch) => shred(map, [batch]))
  if (together.kind !== 'blocks') throw new Error('the slots are known')
  expect([together.rows, together.blocks.length]).toEqual([names.length, 1])
  expect(together.blocks[0]?.counts.rawBytes).toBe(
    apart.reduce((sum, one) => sum + (one.kind === 'blocks' ? (one.blocks[0]?.counts.rawBytes ?? 0) : 0), 0),
  )
  const services = together.blocks[0]?.columns.filter(({ bytes }) => names.every((service) => Buffer.from(bytes).includes(service)))
  expect(services).not.toHaveLength(0)
})

function fail(): never {
  throw new Error('the worker did not answer')
}
