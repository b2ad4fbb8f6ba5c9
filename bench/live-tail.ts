import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cpuSecondsOf, watchMemory } from './stand/process-tree.ts'
import { newDataDir, printTable, removeDataDir, type Service, startService } from './stand/service.ts'

/** Measures how live tails slow down ingestion, and how much memory they need in the service and its stores. */
const USAGE = `node bench/live-tail.ts [--seconds N] [--tails LIST] [--datasets N] [--rounds N]
  --seconds   duration of each phase (20)
  --tails     open streams of each phase (0,6,20)
  --datasets  number of datasets; every stream reads all of them (4)
  --rounds    repetitions of all phases (1)`

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    tails: { type: 'string', default: '0,6,20' },
    datasets: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})
const SECONDS = Number(options.seconds)
const DATASETS = Number(options.datasets)
const SENDERS = 2
const BODY_LINES = 1_000
const WARM_UP_S = 5
/** Time for the service to detect disconnected clients. */
const DISCONNECT_MS = 500
const LOSS_MAX = 0.1
const MEMORY_MB_MAX = 100

type Phase = { tails: number; mbPerS: number; peaks: ReadonlyMap<string, number>; cpuPerMb: number; shown: number }

const SERVICE = 'main.ts'
const ENGINE = 'engine-child.ts'
const META = 'postgres'

async function measure(): Promise<void> {
  const dataDir = await newDataDir()
  const service = await startService(dataDir)
  try {
    await phase(service, 0, WARM_UP_S)
    const phases: Phase[] = []
    const counts = options.tails.split(',').map(Number)
    for (let round = 0; round < Number(options.rounds); round += 1) {
      // Every other round is reversed, so that growth over time does not distort the result.
      for (const tails of round % 2 === 0 ? counts : counts.toReversed()) phases.push(await phase(service, tails, SECONDS))
    }
    report(counts, phases)
  } finally {
    await service.stop()
    await removeDataDir(dataDir)
  }
}

function report(counts: readonly number[], phases: readonly Phase[]): void {
  process.stdout.write(`node bench/live-tail.ts ${process.argv.slice(2).join(' ')}\n\n`)
  const meanOf = (tails: number, select: (one: Phase) => number): number => {
    const own = phases.filter((one) => one.tails === tails)
    return own.reduce((sum, one) => sum + select(one), 0) / own.length
  }
  const [first = 0] = counts
  const rows = counts.map((tails) => {
    const rate = meanOf(tails, ({ mbPerS }) => mbPerS) / meanOf(first, ({ mbPerS }) => mbPerS)
    const peakOf = (count: number, name: string) => meanOf(count, ({ peaks }) => peaks.get(name) ?? 0)
    const increaseOf = (name: string) => peakOf(tails, name) - peakOf(first, name)
    const shownPeak = (name: string) =>
      `${peakOf(tails, name).toFixed(0)} (${increaseOf(name) < 0 ? '' : '+'}${increaseOf(name).toFixed(0)})`
    const cpu = meanOf(tails, ({ cpuPerMb }) => cpuPerMb) / meanOf(first, ({ cpuPerMb }) => cpuPerMb)
    return [
      String(tails),
      meanOf(tails, ({ mbPerS }) => mbPerS).toFixed(2),
      rate.toFixed(2),
      `${meanOf(tails, ({ cpuPerMb }) => cpuPerMb).toFixed(3)} (${cpu.toFixed(2)})`,
      ...[SERVICE, ENGINE, META].map(shownPeak),
      meanOf(tails, ({ shown }) => shown).toFixed(0),
      rate > 1 - LOSS_MAX && increaseOf(SERVICE) < MEMORY_MB_MAX ? 'yes' : 'NO',
    ]
  })
  printTable(
    [
      'streams',
      'MB/s ingested',
      'relative',
      'CPU s per MB (relative)',
      'service peak MB (change)',
      'event store',
      'PostgreSQL',
      'events/s streamed',
      'met',
    ],
    rows,
  )
}

/** Sends events while this many streams are open. */
async function phase(service: Service, tails: number, seconds: number): Promise<Phase> {
  const disconnect = new AbortController()
  let shown = 0
  const streams = Array.from({ length: tails }, () => readStream(service, disconnect.signal, (count) => (shown += count)))
  const cpuBefore = cpuSecondsOf(service.pid).total
  const memory = watchMemory(service.pid)
  const startedMs = performance.now()
  const sent = await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(service, sender, startedMs + seconds * 1_000)))
  const tookS = (performance.now() - startedMs) / 1_000
  const { peaks } = memory()
  const mb = sent.reduce((sum, bytes) => sum + bytes, 0) / 1e6
  const cpuPerMb = (cpuSecondsOf(service.pid).total - cpuBefore) / mb
  disconnect.abort()
  await Promise.all(streams)
  await setTimeout(DISCONNECT_MS)
  return { tails, mbPerS: mb / tookS, peaks, cpuPerMb, shown: shown / tookS }
}

async function readStream({ url, key }: Service, signal: AbortSignal, onShown: (count: number) => void): Promise<void> {
  const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
  const started = await fetch(`${url}/live-tail`, { method: 'POST', headers, body: JSON.stringify({ from_expr: "collection = 'bench'" }) })
  if (started.status !== 201) throw new Error(`POST /live-tail: ${started.status} ${await started.text()}`)
  const { job_id } = (await started.json()) as { job_id: string }
  const reply = await fetch(`${url}/live-tail/stream?job_id=${job_id}`, { headers, signal })
  const text = reply.body?.pipeThrough(new TextDecoderStream())
  if (!reply.ok || !text) throw new Error(`GET /live-tail/stream: ${reply.status}`)
  try {
    for await (const part of text) onShown(part.split('data: ').length - 1)
  } catch (cause) {
    if (!signal.aborted) throw cause
  }
}

async function send({ url, key }: Service, sender: number, untilMs: number): Promise<number> {
  let bytes = 0
  for (let count = 0; performance.now() < untilMs; count += 1) {
    const body = linesOf(count * BODY_LINES)
    const headers = {
      'x-service-api-key': key,
      'content-type': 'application/x-ndjson',
      'x-service-collection': 'bench',
      'x-service-dataset': `set-${(count * SENDERS + sender) % DATASETS}`,
    }
    const reply = await fetch(`${url}/ingest`, { method: 'POST', headers, body })
    await reply.text()
    if (reply.status === 429 || reply.status === 503) continue
    if (!reply.ok) throw new Error(`POST /ingest: ${reply.status}`)
    bytes += body.length
  }
  return bytes
}

const linesOf = (from: number): string =>
  Array.from({ length: BODY_LINES }, (_, n) =>
    JSON.stringify({
      message: `GET /orders/${(from + n) % 9_973} answered after ${(n * 7) % 900} ms`,
      level: n % 9 === 0 ? 'error' : 'info',
      service: `shop-${n % 12}`,
      request: {
        id: `${(from + n).toString(16).padStart(16, '0')}`,
        method: 'GET',
        path: `/orders/${(from + n) % 9_973}`,
        bytes: (n * 31) % 65_536,
      },
      user: { id: (from + n) % 5_000, country: ['DE', 'FR', 'US', 'JP'][n % 4] },
      ms: (n * 7) % 900,
    }),
  ).join('\n')

if (options.help) process.stdout.write(`${USAGE}\n`)
else await measure()
