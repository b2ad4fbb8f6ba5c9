import { gunzipSync, gzipSync } from 'node:zlib'
import type { ParsedBody, Receiver } from '../server/src/ingest/batch.ts'
import type { ShredTarget } from '../server/src/ingest/intake/worker-messages.ts'
import { PostProcessor } from '../server/src/ingest/post-processor.ts'
import { elasticsearch } from '../server/src/ingest/receivers/elasticsearch/elasticsearch.ts'
import { encodeProtobuf } from '../server/src/ingest/receivers/otlp/encode.fixture.ts'
import { otlp } from '../server/src/ingest/receivers/otlp/otlp.ts'
import { type DatasetLayout, growLayout } from '../server/src/lines/layout/catalog.ts'
import type { SlotMap } from '../server/src/lines/layout/slots.ts'
import { otherPosts } from './ingest/other-posts.ts'
import { EVENTS, flatRecord, hex, logsOf, nestedRecord, numbers, sentence, timeMs, words } from './ingest/otlp-data.ts'
import { nativePost, type SenderPost, senderPosts } from './ingest/sender-posts.ts'
import { socketPosts } from './ingest/socket-posts.ts'
import { median, printTable } from './stand/service.ts'

/**
 * First the events of each protocol that a second on the processor turns into blocks for the store, as a ratio to the native protocol with the same events,
 * taken in turn; then lines of other programs. Last parsing posts of 5 000 events, as a ratio to what JSON.parse needs for the same events, taken in turn.
 * node bench/receivers.ts [rounds] [protocol…]
 */
const [roundsText = '9', ...chosen] = process.argv.slice(2)
const rounds = Number(roundsText)
const isChosen = (name: string): boolean => chosen.length === 0 || chosen.includes(name)
/** With fewer rounds the first protocols are measured before they are compiled. */
const WARM_ROUNDS = 20

type Subject = { name: string; receiver: Receiver; path: string; contentType: string; body: Buffer; peer: () => void }

const beatDocument = (n: number) => ({
  '@timestamp': new Date(timeMs(n)).toISOString(),
  message: `${sentence(n)} id=${n} "${words[n % 9]}"`,
  log: { level: 'info', offset: n * 120, file: { path: '/var/log/app.log' } },
  host: { name: `web-${n % 5}`, ip: ['10.0.0.1', 'fe80::1'] },
  agent: { type: 'filebeat', version: '8.12.0', id: hex(1, 32) },
  service: { name: 'shop' },
  trace: { id: hex(n, 32) },
  http: { response: { status_code: 200, bytes: n } },
  ecs: { version: '8.0.0' },
})
const plainDocument = (n: number) => ({
  time: timeMs(n),
  level: 'info',
  status: 200,
  path: `/api/carts/${n}`,
  user: { id: n, name: sentence(n) },
})
const bulkOf = (document: (n: number) => unknown) =>
  numbers.map((n) => `{"create":{"_index":"web-2025.01.01"}}\n${JSON.stringify(document(n))}\n`).join('')

function parseLines(body: Buffer): void {
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf(0x0a, at)
    JSON.parse(body.toString('utf8', at, end))
    at = end + 1
  }
}

const request = logsOf(flatRecord)
const json = Buffer.from(JSON.stringify(request))
const nested = logsOf(nestedRecord)
const nestedJson = Buffer.from(JSON.stringify(nested))
const beats = Buffer.from(bulkOf(beatDocument))
const plain = Buffer.from(bulkOf(plainDocument))
const parseWhole = () => void JSON.parse(json.toString('utf8'))
const subjects: readonly Subject[] = [
  {
    name: 'otlp protobuf',
    receiver: otlp,
    path: '/v1/logs',
    contentType: 'application/x-protobuf',
    body: encodeProtobuf('Logs', request),
    peer: parseWhole,
  },
  {
    name: 'otlp protobuf, nested bodies',
    receiver: otlp,
    path: '/v1/logs',
    contentType: 'application/x-protobuf',
    body: encodeProtobuf('Logs', nested),
    peer: () => void JSON.parse(nestedJson.toString('utf8')),
  },
  { name: 'otlp JSON', receiver: otlp, path: '/v1/logs', contentType: 'application/json', body: json, peer: parseWhole },
  {
    name: 'bulk, messages',
    receiver: elasticsearch,
    path: '/_bulk',
    contentType: 'application/x-ndjson',
    body: beats,
    peer: () => parseLines(beats),
  },
  {
    name: 'bulk, documents',
    receiver: elasticsearch,
    path: '/_bulk',
    contentType: 'application/x-ndjson',
    body: plain,
    peer: () => parseLines(plain),
  },
]

process.stdout.write(`node bench/receivers.ts ${process.argv.slice(2).join(' ')}\n\n`)
const wholeHead = ['protocol', 'MB', 'events per CPU second', 'native', 'ratio', 'to native with the same compression']
const measureAll = (posts: Readonly<Record<string, SenderPost>>) =>
  Object.entries(posts)
    .filter(([name]) => isChosen(name))
    .map(([name, post]) => measureWhole(name, post))
printTable(wholeHead, measureAll({ ...senderPosts, ...socketPosts }))
printTable(wholeHead, measureAll(otherPosts))
printTable(['post', 'MB', 'MB/s', 'events/s', 'JSON.parse events/s', 'ratio'], subjects.filter(({ name }) => isChosen(name)).map(measure))

function measure({ name, receiver, path, contentType, body, peer }: Subject): string[] {
  const ours = () => check(receiver.parse({ path, query: {}, headers: {}, contentType, body }))
  const times = { ours: [] as number[], peer: [] as number[] }
  for (let round = -WARM_ROUNDS; round < rounds; round += 1) {
    const [ourMs, peerMs] = [timed(ours), timed(peer)]
    if (round < 0) continue
    times.ours.push(ourMs)
    times.peer.push(peerMs)
  }
  const [ourMs, peerMs] = [median(times.ours), median(times.peer)]
  const ratio = median(times.ours.map((ms, round) => (times.peer[round] ?? Number.NaN) / ms))
  const perSecond = (ms: number) => ((EVENTS / ms) * 1_000).toFixed(0)
  const mb = body.length / 1e6
  return [name, mb.toFixed(1), ((mb / ourMs) * 1_000).toFixed(0), perSecond(ourMs), perSecond(peerMs), ratio.toFixed(2)]
}

function check({ total, rejected }: ParsedBody): void {
  if (total !== EVENTS || rejected.length > 0) throw new Error(`read ${total} events, ${rejected.length} rejected`)
}

function timed(work: () => void): number {
  const startedMs = performance.now()
  work()
  return performance.now() - startedMs
}

/** Turns a post into blocks, as a worker does. The keys of its datasets have the slots that the service gives them with the first post. */
function blocksFrom({ receiver, path, contentType, headers = {}, body: own }: SenderPost, bodyOf = () => own): () => void {
  const work = new PostProcessor()
  const layouts: (DatasetLayout | undefined)[] = []
  const run = (isLast: boolean) => {
    const body = bodyOf()
    const request = { path, query: {}, headers: { ...headers, 'content-type': contentType }, contentType, body }
    const parsed = work.run(1, { kind: 'parse', receiver, request, wantsHash: false })
    const batches = 'batches' in parsed ? parsed.batches : []
    const targets = batches.map((_, batch) => targetOf(batch, layouts[batch]?.map, isLast))
    const reply = work.run(1, { kind: 'shred', atMs: timeMs(EVENTS), origin: '', targets })
    work.forget(1)
    return 'shredded' in reply ? reply.shredded : []
  }
  for (let isNew = true; isNew; ) {
    isNew = false
    for (const [batch, found] of run(false).entries()) {
      if (found.kind !== 'keys') continue
      layouts[batch] = growLayout(layouts[batch], found, new Map())
      // Lines of text tell their keys only when they are split, so they take a round more than objects.
      isNew = true
    }
  }
  return () => {
    const rows = run(true).map((one) => (one.kind === 'blocks' ? one.rows : 0))
    if (rows.reduce((sum, more) => sum + more, 0) !== EVENTS) throw new Error('a post gave other events')
  }
}

function measureWhole(name: string, post: SenderPost): string[] {
  const [ours, native, packed] = [blocksFrom(post), blocksFrom(nativePost), post.gzip && blocksFrom(nativePost, packedNative(post.gzip))]
  const times = { ours: [] as number[], native: [] as number[], packed: [] as number[] }
  for (let round = -WARM_ROUNDS; round < rounds; round += 1) {
    const [ourUs, nativeUs, packedUs] = [cpuMicroseconds(ours), cpuMicroseconds(native), packed ? cpuMicroseconds(packed) : Number.NaN]
    if (round < 0) continue
    times.ours.push(ourUs)
    times.native.push(nativeUs)
    times.packed.push(packedUs)
  }
  const ratioTo = (others: readonly number[]) => median(times.ours.map((us, round) => (others[round] ?? Number.NaN) / us)).toFixed(2)
  const perSecond = (us: number) => ((EVENTS / us) * 1e6).toFixed(0)
  const mb = (post.body.length / 1e6).toFixed(1)
  const rates = [perSecond(median(times.ours)), perSecond(median(times.native))]
  return [name, mb, ...rates, ratioTo(times.native), post.gzip ? ratioTo(times.packed) : '']
}

/** Decompresses the native events each time, from one gzip or from one for each. */
function packedNative(gzip: 'each' | 'all'): () => Buffer {
  const { body } = nativePost
  const events = gzip === 'all' ? [body] : body.toString('utf8').match(/.*\n/g)
  const packed = (events ?? []).map((part) => gzipSync(part))
  // A small buffer for the output is much faster for small texts.
  const options = { chunkSize: gzip === 'all' ? 2 ** 20 : 1_024 }
  return () => Buffer.concat(packed.map((part) => gunzipSync(part, options)))
}

function cpuMicroseconds(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

function targetOf(batch: number, map: SlotMap | undefined, isLast: boolean): ShredTarget {
  return {
    batches: [batch],
    orgNumber: 1,
    logId: `00000000-0000-4000-8000-${String(batch).padStart(12, '0')}`,
    map,
    attributes: [],
    rules: undefined,
    parser: undefined,
    lineTime: undefined,
    isLast,
  }
}
