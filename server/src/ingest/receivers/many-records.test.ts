import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../kernel/errors.ts'
import { type ParsedBody, type Receiver, recordsOf } from '../batch.ts'
import { datadog } from './datadog/datadog.ts'
import { elasticsearch } from './elasticsearch/elasticsearch.ts'
import { firehose } from './firehose/firehose.ts'
import { gelf } from './gelf/gelf.ts'
import { gelfHttp } from './gelf/gelf-http.ts'
import { hec } from './hec/hec.ts'
import { logdna } from './logdna/logdna.ts'
import { MessageBody } from './messages.ts'
import { newrelic } from './newrelic/newrelic.ts'
import { vercel } from './vercel/vercel.ts'

type Subject = {
  receiver: Pick<Receiver, 'parse'>
  path: string
  query: Record<string, string>
  /** The members that the protocol knows. */
  members: readonly string[]
  body: (records: readonly Buffer[]) => Buffer
}

const joined =
  (start: string, between: string, end: string) =>
  (records: readonly Buffer[]): Buffer =>
    Buffer.concat([Buffer.from(start), ...records.flatMap((one, at) => [Buffer.from(at === 0 ? '' : between), one]), Buffer.from(end)])

function messages(records: readonly Buffer[]): Buffer {
  const body = new MessageBody()
  for (const record of records) body.add(record, { address: '10.0.0.1', attributes: [] })
  return Buffer.from(body.bytes())
}

/** The log events of a subscription, with a line end in half of the posts. */
function delivery(events: readonly Buffer[]): Buffer {
  const end = events.length % 2 === 0 ? ']}' : ']}\n'
  const message = joined('{"messageType":"DATA_MESSAGE","logGroup":"g","logEvents":[', ',', end)(events)
  return Buffer.from(JSON.stringify({ requestId: 'r', records: [{ data: gzipSync(message).toString('base64') }] }))
}

const hecMembers = ['event', 'time', 'host', 'source', 'sourcetype', 'index', 'fields', 'level']
const gelfMembers = ['version', 'host', 'short_message', 'full_message', 'timestamp', 'level', '_service', '_container_name', '_a']
const subjects: Readonly<Record<string, Subject>> = {
  HEC: { receiver: hec, path: '/services/collector', query: { host: 'h', index: 'i' }, members: hecMembers, body: joined('', '', '') },
  Datadog: {
    receiver: datadog,
    path: '/api/v2/logs',
    query: { ddtags: 'env:test', hostname: 'h' },
    members: ['message', 'status', 'timestamp', 'date', 'ddtags', 'hostname', 'service', 'ddsource', 'a'],
    body: joined('[', ',', ']'),
  },
  'New Relic': {
    receiver: newrelic,
    path: '/log/v1',
    query: {},
    members: ['message', 'timestamp', 'attributes', 'level', 'hostname', 'service', 'app', 'a'],
    body: joined('[{"common":{"attributes":{"service.name":"shop"},"timestamp":1735689600000},"logs":[', ',', ']}]'),
  },
  LogDNA: {
    receiver: logdna,
    path: '/logs/ingest',
    query: { hostname: 'h', now: '1735689600' },
    members: ['line', 'timestamp', 'level', 'app', 'env', 'file', 'host', 'meta'],
    body: joined('{"lines":[', ',', ']}'),
  },
  GELF: { receiver: gelfHttp, path: '/gelf', query: {}, members: gelfMembers, body: joined('[', ',', ']') },
  'GELF on sockets': { receiver: gelf, path: '', query: {}, members: gelfMembers, body: messages },
  Firehose: { receiver: firehose, path: '/firehose', query: {}, members: ['id', 'message', 'timestamp'], body: delivery },
  'bulk documents': {
    receiver: elasticsearch,
    path: '/_bulk',
    query: {},
    members: ['message', '@timestamp', 'log', 'host', 'level', 'a'],
    body: (records) => Buffer.concat(records.flatMap((one) => [Buffer.from('{"create":{"_index":"i"}}\n'), one, Buffer.from('\n')])),
  },
  Vercel: {
    receiver: vercel,
    path: '/vercel',
    query: {},
    members: ['message', 'timestamp', 'level', 'id', 'projectName', 'projectId', 'source', 'a'],
    body: joined('[', ',', ']'),
  },
}

const values = [
  '"info"',
  '"warn"',
  '""',
  '"web-1"',
  '"web-2"',
  '"/shop"',
  '"env:prod,team:a"',
  '"a \\"b\\" c\\n"',
  '"\\ud83d"',
  `"${'long text '.repeat(9)}é"`,
  '1735689600000',
  '1735689600.125',
  '"2026-11-20T10:00:00.123Z"',
  '" 1735689600 "',
  '"yesterday"',
  '6',
  '-1.5e3',
  'true',
  'null',
  '[1,{"a":"b"}]',
  '{}',
  '{"a":"x","level":"error","b":{"c":null,"d":17}}',
  '{"message":"took 17 ms","status":200}',
]
type Member = [key: string, value: string]
const NOT_TEXT = Buffer.from([0x22, 0x61, 0xff, 0x00, 0x22])

/** Records of one sender: mostly with the same members, sometimes with others, in another order or with other spacing. */
function recordsWith(names: readonly string[]): fc.Arbitrary<Buffer[]> {
  const member = fc.tuple(fc.constantFrom(...names, 'odd\\u0020key', ''), fc.constantFrom(...values))
  const changes = fc.record({
    kind: fc.constantFrom('value', 'value', 'value', 'none', 'drop', 'add', 'order', 'space', 'bytes'),
    at: fc.nat(20),
    member,
  })
  return fc.tuple(fc.array(member, { maxLength: 9 }), fc.array(changes, { minLength: 1, maxLength: 10 })).map(([base, all]) =>
    all.map(({ kind, at, member: [key, value] }) => {
      const members = base.map((one): Member => [...one])
      const place = at % Math.max(1, members.length)
      const [found] = members.slice(place)
      if (kind === 'value' && found) found[1] = value
      else if (kind === 'drop') members.splice(place, 1)
      else if (kind === 'add') members.push([key, value])
      else if (kind === 'order') members.push(...members.splice(0, place))
      const parts = members.map(([name, text]) => Buffer.from(`"${name}"${kind === 'space' ? ': ' : ':'}${text}`))
      if (kind === 'bytes') parts.push(Buffer.concat([Buffer.from(`"${key}":`), NOT_TEXT]))
      return joined('{', ',', '}')(parts)
    }),
  )
}

function parsed({ receiver, path, query, body }: Subject, records: readonly Buffer[]): ParsedBody | string {
  try {
    return receiver.parse({ path, query, headers: {}, contentType: 'application/json', body: body(records) })
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return `${thrown.status}`
  }
}

/** The events by dataset, and what was rejected. */
function eventsOf(all: readonly (ParsedBody | string)[]): unknown {
  const events: Record<string, unknown[]> = {}
  const rejected: string[] = []
  let total = 0
  for (const one of all) {
    if (typeof one === 'string') return one
    total += one.total
    rejected.push(...one.rejected.map(({ reason }) => reason))
    for (const { collection, dataset, events: some } of one.batches) {
      const place = JSON.stringify([collection, dataset])
      events[place] ??= []
      for (const { raw, ...rest } of recordsOf(some)) events[place].push({ ...rest, raw: Buffer.from(raw).toString('latin1') })
    }
  }
  return { events, rejected, total }
}

describe.each(Object.entries(subjects))('posts of %s', (name, subject) => {
  test('have the same events as posts of one record each, which are read key by key', () => {
    fc.assert(
      fc.property(recordsWith(subject.members), (records) => {
        const alone = records.map((record) => parsed(subject, [record]))
        // Only blank events are refused in a post of nothing else.
        fc.pre(
          name !== 'HEC' || alone.every((one) => typeof one === 'string' || !one.rejected.some(({ reason }) => reason.includes('blank'))),
        )
        expect(eventsOf([parsed(subject, records)])).toEqual(eventsOf(alone))
      }),
      { numRuns: 300 },
    )
  })
})
