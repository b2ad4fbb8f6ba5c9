import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asListeners } from '../server/src/ingest/listeners/setting.ts'
import { ValueEnd } from '../server/src/ingest/receivers/forward/value-end.ts'
import { parseTime, toNs } from '../server/src/lines/values/time-text.ts'
import { openSenders, type Senders } from './support/senders.ts'
import type { StoredEvent } from './support/stored-events.ts'
import { compareLines, objectIn, type Recorded, type RecordedCall, type RecordedConnection, readRecording, wireLines } from './wire/wire.ts'
import { type LineMeaning, lineMeanings, otherMeanings } from './wire/wire-meaning.ts'
import { type SocketCase, socketSenders } from './wire/wire-socket-senders.ts'

let senders: Senders
let meanings: ReadonlyMap<string, LineMeaning>
beforeAll(async () => {
  senders = await openSenders()
  meanings = await lineMeanings(senders)
})
afterAll(() => senders?.close())

const SHARED_KEY = 'test-shared-key'

test.each(socketSenders.map((sender) => [sender.recording, sender] as const))('the 120 lines of %s arrive', async (collection, sender) => {
  const more = collection.includes('sharedkey') ? `&shared_key=${SHARED_KEY}` : ''
  const [setting] = asListeners(`${sender.listener}://127.0.0.1:0?key=${senders.org.key}&collection=${collection}${more}`)
  if (!setting) throw new Error('the test has no listener')
  const [bound] = await senders.app.app.listeners.open([setting], undefined)
  const records = readRecording<Recorded>(collection)
  for (const record of records) await send(record, bound?.port ?? 0, more !== '')
  if (sender.listener.endsWith('udp'))
    await expect.poll(async () => (await eventsOf(collection)).length).toBeGreaterThanOrEqual(countOf(sender))
  const events = await eventsOf(collection)
  expect(compareLines(events, sender)).toEqual({ missing: [], strange: sender.strange ?? [] })
  const own = events.filter(({ line }) => !sender.isOwn?.(line))
  checkSource(own, sender)
  checkFields(own, sender)
  expect(otherMeanings(own, sender, meanings)).toEqual([])
  expect(await senders.found(collection, sender.dataset)).toBeDefined()
})

const countOf = ({ skipsEmpty, strange }: SocketCase): number => (skipsEmpty ? 119 : 120) + (strange?.length ?? 0)

async function eventsOf(collection: string): Promise<StoredEvent[]> {
  const datasets = (await senders.datasets()).filter((one) => one.collection === collection)
  return (await Promise.all(datasets.map(({ dataset }) => senders.eventsIn(dataset, collection)))).flat()
}

async function send(record: Recorded, port: number, hasHandshake: boolean): Promise<void> {
  if (record.transport === 'udp') return sendDatagrams(record.datagrams_b64, port)
  if (record.transport === 'grpc') return call(record, port)
  if (record.transport !== 'tcp') throw new Error(`a socket cannot replay ${record.transport}`)
  const answer = await (hasHandshake ? sendWithHandshake(record, port) : sendConnection(Buffer.from(record.bytes_b64, 'base64'), port))
  // Only the offer of RELP differs, which names the program.
  if (record.sent_b64 && !hasHandshake) expect(sorted(answer)).toEqual(sorted(Buffer.from(record.sent_b64, 'base64')))
}

const sorted = (answer: Buffer): string[] =>
  answer
    .toString('latin1')
    .split('\n')
    .filter((line) => !/rsp \d+ 200 OK$|relp_|commands=|serverclose/.test(line) || /rsp 6 200 OK$/.test(line))
    .sort()

/** The service closes its side when everything is stored and answered. */
function sendConnection(bytes: Uint8Array, port: number): Promise<Buffer> {
  return new Promise((done, failed) => {
    const parts: Buffer[] = []
    const socket = connect({ host: '127.0.0.1', port }, () => socket.end(bytes))
    socket.on('data', (part) => parts.push(part))
    socket.on('error', failed)
    socket.on('close', () => done(Buffer.concat(parts)))
  })
}

const text = (value: string): Buffer => Buffer.concat([Uint8Array.of(0xd9, Buffer.byteLength(value)), Buffer.from(value)])

/** Answers the nonce of this connection, as the sender answered that of the recording, and sends the rest as recorded. */
function sendWithHandshake({ bytes_b64 }: RecordedConnection, port: number): Promise<Buffer> {
  const bytes = Buffer.from(bytes_b64, 'base64')
  const rest = bytes.subarray(new ValueEnd(bytes.length).find(bytes))
  return new Promise((done, failed) => {
    const parts: Buffer[] = []
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('data', (hello) => {
      const nonce = hello.subarray(15, 31)
      const digest = createHash('sha512').update('salt').update('host-a').update(nonce).update(SHARED_KEY).digest('hex')
      socket.end(Buffer.concat([Uint8Array.of(0x96), ...['PING', 'host-a', 'salt', digest, '', ''].map(text), rest]))
      socket.on('data', (part) => parts.push(part))
    })
    socket.on('error', failed)
    socket.on('close', () => done(Buffer.concat(parts)))
  })
}

async function sendDatagrams(datagrams: readonly string[], port: number): Promise<void> {
  const socket = createSocket('udp4')
  for (const datagram of datagrams) {
    await new Promise<void>((done, failed) =>
      socket.send(Buffer.from(datagram, 'base64'), port, '127.0.0.1', (cause) => (cause ? failed(cause) : done())),
    )
  }
  socket.close()
}

/** Makes a call as recorded, compressed if it was. */
async function call({ service, method, message_b64, wire_message_b64 }: RecordedCall, port: number): Promise<void> {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${service}/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${senders.org.key}`,
    ...(wire_message_b64 ? { 'grpc-encoding': 'gzip' } : {}),
  })
  const message = Buffer.from(wire_message_b64 ?? message_b64, 'base64')
  const head = Buffer.alloc(5)
  head.writeUInt8(wire_message_b64 ? 1 : 0)
  head.writeUInt32BE(message.length, 1)
  const answered = new Promise<[Buffer, unknown]>((done, failed) => {
    const parts: Buffer[] = []
    let status: unknown
    stream.on('trailers', (trailers) => {
      status = trailers['grpc-status']
    })
    stream.on('data', (part: Buffer) => parts.push(part))
    stream.on('error', failed)
    stream.on('end', () => done([Buffer.concat(parts), status]))
  })
  stream.end(Buffer.concat([head, message]))
  const [answer, status] = await answered
  session.close()
  expect([status, answer]).toEqual(['0', Buffer.alloc(5)])
}

/** All recordings were made within this time. */
const RECORDED = [Date.UTC(2026, 10, 22, 12), Date.UTC(2026, 10, 23)].map((ms) => BigInt(ms) * 1_000_000n) as [bigint, bigint]

/** Every event has the time of its sender and the name of its host. */
function checkSource(events: readonly StoredEvent[], { host, time }: SocketCase): void {
  const [from, to] = RECORDED
  if (host !== undefined) expect(new Set(events.map(({ keys }) => keys[host]))).toEqual(new Set(['host-a']))
  expect(new Set(events.map(({ origin }) => origin))).toEqual(new Set(['127.0.0.1']))
  if (time === 'recording') expect(events.filter(({ timeNs }) => timeNs < from || timeNs >= to)).toEqual([])
  if (time !== 'line') return
  const stamps = wireLines.flatMap((line) => objectIn(line)?.timestamp ?? []).filter((stamp) => typeof stamp === 'string')
  const times = new Set(events.map(({ timeNs }) => timeNs))
  expect(stamps.filter((stamp) => !times.has(toNs(parseTime(stamp) ?? { ms: 0, ns: 0 })))).toEqual([])
}

/** The fields of the JSON lines are keys. */
function checkFields(events: readonly StoredEvent[], { field }: SocketCase): void {
  if (field === undefined) return
  const values = (name: string) => new Set(events.flatMap(({ keys }) => keys[field(name)] ?? []))
  expect([...values('order.id')].sort()).toEqual(['7000', '7010', '7020', '7030'])
  expect([...values('http.path')].sort()).toEqual(['/p/16', '/p/26', '/p/36', '/p/6'])
  expect([...values('user.geo.lat')]).toEqual(['47.37'])
}
