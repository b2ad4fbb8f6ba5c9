import { setTimeout } from 'node:timers/promises'
import { type Timed, timed } from '../search/timing.ts'
import { cpuSecondsOf, watchMemory } from '../stand/process-tree.ts'
import { median, newDataDir, printTable, removeDataDir } from '../stand/service.ts'
import { DAY_MS, type Day, HOUR_MS, idOf, LARGE_TRACE, LARGE_TRACE_SPANS, SPANS_OF_TRACE, sendSpans, startOf } from './spans.ts'
import { startDendro, startJaeger, type TraceStore } from './stores.ts'

type Settings = { readonly rounds: number; readonly waitMs: number }

/** A request is not repeated once it has taken that long altogether. */
const REQUEST_MS = 60_000

/** Takes and answers the same in both stores, one after the other, and prints the figures of Dendro as ratios to those of Jaeger. */
export async function compareWithJaeger(program: string, day: Day, settings: Settings): Promise<void> {
  const ours = await measure(startDendro, day, settings)
  const theirs = await measure((dir) => startJaeger(program, dir), day, settings)
  const heads = [ours.name, theirs.name, 'ratio']
  const compared = (of: (one: Measured) => number, digits = 1) => {
    const [own, other] = [of(ours), of(theirs)]
    return [own.toFixed(digits), other.toFixed(digits), (own / other).toFixed(2)]
  }
  process.stdout.write(`${day.traces * SPANS_OF_TRACE + LARGE_TRACE_SPANS} spans, sent as OpenTelemetry's JSON\n\n`)
  printTable(
    ['', ...heads],
    [
      ['spans a second', ...compared(({ spansPerS }) => spansPerS, 0)],
      ['µs of CPU for a span', ...compared(({ cpuUs }) => cpuUs)],
      ['MB of spans on disk', ...compared(({ diskMb }) => diskMb)],
      ['MB of memory at most', ...compared(({ peakMb }) => peakMb, 0)],
    ],
  )
  process.stdout.write('\n')
  printTable(
    [
      'request of the query API',
      ...heads.map((head) => `ms, median: ${head}`),
      ...heads.map((head) => `ms of CPU: ${head}`),
      'traces or names found',
    ],
    requests(day).map(({ name }, at) => {
      const of = (one: Measured) => one.answered[at]
      const medianOf = (figure: 'ms' | 'cpuMs') => compared((one) => median(of(one)?.times.map((time) => time[figure]) ?? []))
      return [name, ...medianOf('ms'), ...medianOf('cpuMs'), [ours, theirs].map((one) => of(one)?.found).join(' / ')]
    }),
  )
}

type Answered = { readonly times: readonly Timed[]; readonly found: string }
type Measured = {
  readonly name: string
  readonly spansPerS: number
  readonly cpuUs: number
  readonly diskMb: number
  readonly peakMb: number
  readonly answered: readonly Answered[]
}

async function measure(start: (dir: string) => Promise<TraceStore>, day: Day, settings: Settings): Promise<Measured> {
  const dir = await newDataDir()
  try {
    const store = await start(dir)
    return await measureStore(store, day, settings).finally(store.stop)
  } finally {
    await removeDataDir(dir)
  }
}

async function measureStore(store: TraceStore, day: Day, { rounds, waitMs }: Settings): Promise<Measured> {
  const { name, pid } = store
  const peakSoFar = watchMemory(pid)
  try {
    const before = cpuSecondsOf(pid).total
    const sentMs = await sendSpans(store.sendUrl, store.headers, day)
    await setTimeout(waitMs)
    const spans = day.traces * SPANS_OF_TRACE
    const cpuUs = ((cpuSecondsOf(pid).total - before) * 1e6) / spans
    const diskMb = (await store.diskBytes()) / 1e6
    const answered: Answered[] = []
    // A request that one store cannot answer leaves the other figures.
    for (const { pathOf } of requests(day)) {
      answered.push(await answer(store, pathOf, rounds).catch((cause: unknown) => ({ times: [], found: `failed: ${String(cause)}` })))
    }
    return { name, spansPerS: (spans * 1_000) / sentMs, cpuUs, diskMb, peakMb: peakSoFar().peakMb, answered }
  } finally {
    peakSoFar()
  }
}

async function answer({ pid, queryUrl, headers }: TraceStore, pathOf: (round: number) => string, rounds: number): Promise<Answered> {
  const times: Timed[] = []
  let last = ''
  for (let round = 0, takenMs = 0; round < rounds && takenMs < REQUEST_MS; round += 1) {
    const path = pathOf(round)
    const taken = await timed(pid, async () => {
      const reply = await fetch(queryUrl + path, { headers })
      last = await reply.text()
      if (!reply.ok) throw new Error(`${queryUrl}${path}: ${reply.status} ${last}`)
    })
    times.push(taken)
    takenMs += taken.ms
  }
  const { data } = JSON.parse(last) as { data: { spans?: unknown[] }[] | null }
  const spans = data?.reduce((sum, trace) => sum + (trace.spans?.length ?? 0), 0) ?? 0
  return { times, found: spans > 0 ? `${data?.length} of ${spans} spans` : String(data?.length ?? 0) }
}

type Request = { readonly name: string; readonly pathOf: (round: number) => string }

function requests(day: Day): readonly Request[] {
  const us = (ms: number) => ms * 1_000
  // The range moves, because the service remembers answers.
  const ofDay = (round: number) => `start=${us(day.endMs - DAY_MS - 60_000 + round)}&end=${us(day.endMs + 60_000 + round)}&limit=20`
  const around = (trace: number) => `start=${us(startOf(day, trace) - HOUR_MS / 2)}&end=${us(startOf(day, trace) + HOUR_MS / 2)}`
  const traceOf = (round: number, factor: number) => (round * factor) % day.traces
  const tagged = (tags: object) => `tags=${encodeURIComponent(JSON.stringify(tags))}`
  const find = (name: string, conditions: (round: number) => string): Request => ({
    name: `${name}, a day`,
    pathOf: (round) => `/api/traces?service=gateway&${ofDay(round)}${conditions(round)}`,
  })
  return [
    { name: 'a trace by id', pathOf: (round) => `/api/traces/${idOf(traceOf(round, 104_729))}` },
    {
      name: 'a trace by id, with a rough time',
      pathOf: (round) => `/api/traces/${idOf(traceOf(round, 7_907))}?${around(traceOf(round, 7_907))}`,
    },
    { name: `a trace of ${LARGE_TRACE_SPANS} spans`, pathOf: () => `/api/traces/${LARGE_TRACE}` },
    find('newest 20 of a service', () => ''),
    find('newest 20 of an operation', (round) => `&operation=${encodeURIComponent(`GET /page/${round % 20}`)}`),
    find('failing of a service', () => `&${tagged({ error: 'true' })}`),
    find('an attribute', (round) => `&${tagged({ 'user.id': `user-${round}` })}`),
    find('longer than 5 s', () => '&minDuration=5s'),
    { name: 'services', pathOf: () => '/api/services' },
    { name: 'operations of a service', pathOf: () => '/api/services/gateway/operations' },
    { name: 'the map, a day', pathOf: (round) => `/api/dependencies?endTs=${day.endMs + 60_000 + round}&lookback=${DAY_MS}` },
  ]
}
