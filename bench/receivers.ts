import type { ParsedBody, Receiver } from '../server/src/ingest/batch.ts'
import type { ShredTarget } from '../server/src/ingest/intake/worker-messages.ts'
import { PostProcessor } from '../server/src/ingest/post-processor.ts'
import { elasticsearch } from '../server/src/ingest/receivers/elasticsearch/elasticsearch.ts'
import { encodeProtobuf } from '../server/src/ingest/receivers/otlp/encode.fixture.ts'
import { otlp } from '../server/src/ingest/receivers/otlp/otlp.ts'
import { growLayout } from '../server/src/lines/catalog.ts'
import type { SlotMap } from '../server/src/lines/slots.ts'
import { EVENTS, flatRecord, hex, logsOf, nestedRecord, numbers, sentence, timeMs, words } from './otlp-data.ts'
import { nativePost, type SenderPost, senderPosts } from './sender-posts.ts'
import { median, printTable } from './service.ts'
import { socketPosts } from './socket-posts.ts'

/**
 * First the events of each protocol that a second on the processor turns into blocks for the store, as a ratio to the native protocol with
 * the same events, taken in turn. Then parsing posts of 5 000 events, as a ratio to what JSON.parse needs for the same events as JSON, taken in turn in one run.
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
printTable(
  ['protocol', 'MB', 'events per CPU second', 'native', 'ratio'],
  Object.entries({ ...senderPosts, ...socketPosts })
    .filter(([name]) => isChosen(name))
    .map(([name, post]) => measureWhole(name, post)),
)
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

/** Turns a post into blocks, as a worker does; the slots of its keys are known from the first time. */
function blocksFrom({ receiver, path, contentType, headers = {}, body }: SenderPost): () => void {
  const work = new PostProcessor()
  const run = (map: SlotMap | undefined) => {
    const request = { path, query: {}, headers: { ...headers, 'content-type': contentType }, contentType, body }
    work.run(1, { kind: 'parse', receiver, request, wantsHash: false })
    const reply = work.run(1, { kind: 'shred', atMs: timeMs(EVENTS), origin: '', targets: [targetOf(map)] })
    work.forget(1)
    const [one] = 'shredded' in reply ? reply.shredded : []
    if (one === undefined) throw new Error('a post gave no events')
    return one
  }
  const found = run(undefined)
  if (found.kind !== 'keys') throw new Error('a new dataset has slots')
  const { map } = growLayout(undefined, found, new Map())
  return () => {
    const one = run(map)
    if (one.kind !== 'blocks' || one.rows !== EVENTS) throw new Error('a post gave other events')
  }
}

function measureWhole(name: string, post: SenderPost): string[] {
  const [ours, native] = [blocksFrom(post), blocksFrom(nativePost)]
  const times = { ours: [] as number[], native: [] as number[] }
  for (let round = -WARM_ROUNDS; round < rounds; round += 1) {
    const [ourUs, nativeUs] = [cpuMicroseconds(ours), cpuMicroseconds(native)]
    if (round < 0) continue
    times.ours.push(ourUs)
    times.native.push(nativeUs)
  }
  const ratio = median(times.ours.map((us, round) => (times.native[round] ?? Number.NaN) / us))
  const perSecond = (us: number) => ((EVENTS / us) * 1e6).toFixed(0)
  return [name, (post.body.length / 1e6).toFixed(1), perSecond(median(times.ours)), perSecond(median(times.native)), ratio.toFixed(2)]
}

function cpuMicroseconds(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

function targetOf(map: SlotMap | undefined): ShredTarget {
  return {
    batch: 0,
    orgNumber: 1,
    logId: '00000000-0000-4000-8000-000000000001',
    map,
    attributes: [],
    parser: undefined,
    lineTime: undefined,
    isLast: true,
  }
}
