import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cpuSecondsOf, watchMemory } from './process-tree.ts'
import { newDataDir, printTable, removeDataDir, type Service, startService } from './service.ts'

/** Live tails beside ingestion: what they cost it, and what they take in the memory of the service and of its stores. */
const USAGE = `node bench/live-tail.ts [--seconds N] [--tails LIST] [--datasets N] [--rounds N]
  --seconds   how long events are sent in each phase (20)
  --tails     how many streams watch in each phase (0,6,20)
  --datasets  over how many datasets the events are spread; every stream watches all (4)
  --rounds    how often all phases are measured, in turn (1)`

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
/** LEAVE_MS is for the service to notice that those who watched have gone. */
const LEAVE_MS = 500
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
      // Every other round goes backwards, so that growth over time does not count against the streams.
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
  const meanOf = (tails: number, amountOf: (one: Phase) => number): number => {
    const own = phases.filter((one) => one.tails === tails)
    return own.reduce((sum, one) => sum + amountOf(one), 0) / own.length
  }
  const [first = 0] = counts
  const rows = counts.map((tails) => {
    const rate = meanOf(tails, ({ mbPerS }) => mbPerS) / meanOf(first, ({ mbPerS }) => mbPerS)
    const peakOf = (count: number, name: string) => meanOf(count, ({ peaks }) => peaks.get(name) ?? 0)
    const moreOf = (name: string) => peakOf(tails, name) - peakOf(first, name)
    const shownPeak = (name: string) => `${peakOf(tails, name).toFixed(0)} (${moreOf(name) < 0 ? '' : '+'}${moreOf(name).toFixed(0)})`
    const cpu = meanOf(tails, ({ cpuPerMb }) => cpuPerMb) / meanOf(first, ({ cpuPerMb }) => cpuPerMb)
    return [
      String(tails),
      meanOf(tails, ({ mbPerS }) => mbPerS).toFixed(2),
      rate.toFixed(2),
      `${meanOf(tails, ({ cpuPerMb }) => cpuPerMb).toFixed(3)} (${cpu.toFixed(2)})`,
      ...[SERVICE, ENGINE, META].map(shownPeak),
      meanOf(tails, ({ shown }) => shown).toFixed(0),
      rate > 1 - LOSS_MAX && moreOf(SERVICE) < MEMORY_MB_MAX ? 'yes' : 'NO',
    ]
  })
  printTable(
    [
      'streams',
      'MB/s ingested',
      'to none',
      'CPU s per MB (to none)',
      'service peak MB (to none)',
      'event store',
      'PostgreSQL',
      'events/s shown to all',
      'met',
    ],
    rows,
  )
}

/** Sends events for a while with so many open streams. */
async function phase(service: Service, tails: number, seconds: number): Promise<Phase> {
  const leaving = new AbortController()
  let shown = 0
  const watching = Array.from({ length: tails }, () => watch(service, leaving.signal, (count) => (shown += count)))
  const cpuBefore = cpuSecondsOf(service.pid).total
  const memory = watchMemory(service.pid)
  const startedMs = performance.now()
  const sent = await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(service, sender, startedMs + seconds * 1_000)))
  const tookS = (performance.now() - startedMs) / 1_000
  const { peaks } = memory()
  const mb = sent.reduce((sum, bytes) => sum + bytes, 0) / 1e6
  const cpuPerMb = (cpuSecondsOf(service.pid).total - cpuBefore) / mb
  leaving.abort()
  await Promise.all(watching)
  await setTimeout(LEAVE_MS)
  return { tails, mbPerS: mb / tookS, peaks, cpuPerMb, shown: shown / tookS }
}

async function watch({ url, key }: Service, signal: AbortSignal, onShown: (count: number) => void): Promise<void> {
  const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
  const started = await fetch(`${url}/live-tail`, { method: 'POST', headers, body: JSON.stringify({ from_expr: "collection = 'bench'" }) })
  if (started.status !== 201) throw new Error(`POST /live-tail: ${started.status} ${await started.text()}`)
  const { job_id } = (await started.json()) as { job_id: string }
  const answer = await fetch(`${url}/live-tail/stream?job_id=${job_id}`, { headers, signal })
  const text = answer.body?.pipeThrough(new TextDecoderStream())
  if (!answer.ok || !text) throw new Error(`GET /live-tail/stream: ${answer.status}`)
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
