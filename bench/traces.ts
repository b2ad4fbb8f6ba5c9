import { parseArgs } from 'node:util'
import { type Timed, timed } from './search/timing.ts'
import { median, newDataDir, printTable, removeDataDir, startService } from './stand/service.ts'

/** Spans sent as OpenTelemetry's JSON, then traces, lists, services and the map: the wall time as a caller sees it. */
const USAGE = `node bench/traces.ts [--spans N] [--rounds N] [--wait S]
  --spans   how many spans there are, ten for each trace, over a day (10000000); one trace more has 10,000 of them
  --rounds  how often each request is sent (20); the median and the slowest are shown
  --wait    seconds between the last span and the first request, in which the service builds indexes of settled parts (120)`

const { values: options } = parseArgs({
  options: {
    spans: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '20' },
    wait: { type: 'string', default: '120' },
    help: { type: 'boolean', default: false },
  },
})

const SPANS_OF_TRACE = 10
const TRACES_OF_POST = 200
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Posts are made in advance, so that only sending them counts. */
const POSTS_AT_ONCE = 32
const SENDERS = 4
const LARGE_TRACE_SPANS = 10_000
const LARGE_TRACE = 'f'.repeat(32)
const services = ['gateway', 'shop', 'pay', 'store', 'mail'] as const
const rounds = Number(options.rounds)
const traces = Math.floor(Number(options.spans) / SPANS_OF_TRACE)
const endMs = Date.now() - 60_000

const idOf = (trace: number): string => ((BigInt(trace) + 1n) * 0x9e37_79b9_7f4a_7c15n).toString(16).padStart(32, '0').slice(-32)
const spanIdOf = (trace: number, span: number): string => (trace * SPANS_OF_TRACE + span + 1).toString(16).padStart(16, '0')

/** A root with nine spans below it. Some traces are slow, and some fail. */
function spansOf(trace: number): Map<string, object[]> {
  const startMs = endMs - DAY_MS + Math.floor((trace / traces) * DAY_MS)
  const takesMs = 5 + ((trace * 7_919) % 400) + (trace % 997 === 0 ? 5_000 : 0)
  const found = new Map<string, object[]>()
  for (let span = 0; span < SPANS_OF_TRACE; span += 1) {
    const service = services[span % services.length] ?? services[0]
    const from = startMs + (span * takesMs) / (2 * SPANS_OF_TRACE)
    const list = found.get(service) ?? []
    list.push({
      traceId: idOf(trace),
      spanId: spanIdOf(trace, span),
      ...(span === 0 ? {} : { parentSpanId: spanIdOf(trace, Math.floor((span - 1) / 2)) }),
      name: span === 0 ? `GET /page/${trace % 20}` : `step ${span}`,
      kind: 2,
      startTimeUnixNano: String(BigInt(Math.floor(from * 1_000)) * 1_000n),
      endTimeUnixNano: String(BigInt(Math.floor((from + takesMs / (span + 1)) * 1_000)) * 1_000n),
      attributes: [
        { key: 'http.status_code', value: { intValue: String(trace % 50 === 0 ? 500 : 200) } },
        { key: 'user.id', value: { stringValue: `user-${trace % 5_000}` } },
      ],
      ...(trace % 50 === 0 && span % 3 === 0 ? { status: { code: 2, message: 'failed' } } : {}),
    })
    found.set(service, list)
  }
  return found
}

async function measure(): Promise<void> {
  const dir = await newDataDir()
  const service = await startService(dir)
  const headers = { 'x-service-api-key': service.key, 'content-type': 'application/json' }
  try {
    const sentMs = await send(service.url, headers)
    await new Promise((done) => setTimeout(done, Number(options.wait) * 1_000))
    const ask = async (path: string): Promise<unknown> => {
      const answer = await fetch(service.url + path, { headers })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    }
    const rangeOf = (ms: number) => `from_ts=${endMs - ms}&to_ts=${endMs + 60_000}`
    const [day, hour] = [rangeOf(DAY_MS), rangeOf(HOUR_MS)]
    const timeOf = (trace: number) => endMs - DAY_MS + Math.floor((trace / traces) * DAY_MS)
    const requests: readonly (readonly [string, (round: number) => string])[] = [
      ['a trace by id', (round) => `/traces/${idOf((round * 104_729) % traces)}`],
      [
        'a trace by id, with a rough time',
        (round) => `/traces/${idOf((round * 7_907) % traces)}?timestamp=${timeOf((round * 7_907) % traces)}`,
      ],
      [`a trace of ${LARGE_TRACE_SPANS} spans`, () => `/traces/${LARGE_TRACE}`],
      ['newest 20 of a day', () => `/traces?${day}`],
      ['newest 20 of a day, root spans', () => `/traces?${day}&spans=root`],
      ['slowest 20 of an hour, root spans', () => `/traces?${hour}&spans=root&order=slowest`],
      ['slowest 20 of a day, root spans', () => `/traces?${day}&spans=root&order=slowest`],
      ['slowest 50 of a day, root spans, durations', () => `/traces?${day}&spans=root&order=slowest&durations=true&limit=50`],
      ['failing of a service, a day', () => `/traces?${day}&service=pay&status=error`],
      ['an attribute, a day', (round) => `/traces?${day}&where=${encodeURIComponent(`$user.id = 'user-${round}'`)}`],
      ['longer than 5 s, a day', () => `/traces?${day}&min_duration=5s`],
      ['services and operations, an hour', () => `/traces/operations?${hour}`],
      ['services and operations, a day', () => `/traces/operations?${day}`],
      ['the map, an hour', () => `/traces/calls?${hour}`],
      ['the map, a day', () => `/traces/calls?${day}`],
    ]
    const rows: string[][] = []
    for (const [name, pathOf] of requests) {
      const times: Timed[] = []
      for (let round = 0; round < rounds; round += 1) times.push(await timed(service.pid, () => ask(pathOf(round))))
      const ms = times.map((time) => time.ms)
      const cpuMs = median(times.map((time) => time.cpuMs))
      rows.push([name, ...[median(ms), cpuMs, Math.max(...ms), ms[0] ?? 0].map((value) => value.toFixed(1))])
    }
    process.stdout.write(
      `node bench/traces.ts ${process.argv.slice(2).join(' ')}\n\n${traces * SPANS_OF_TRACE} spans, sent in ${(sentMs / 1_000).toFixed(1)} s: ${Math.round((traces * SPANS_OF_TRACE * 1_000) / sentMs)} spans a second\n\n`,
    )
    printTable(['request', 'ms, median', 'ms of CPU, median', 'ms, slowest', 'ms, first'], rows)
  } finally {
    await service.stop()
    await removeDataDir(dir)
  }
}

/** Sends all spans and returns how long that took, without the time in which posts are made. */
async function send(url: string, headers: Record<string, string>): Promise<number> {
  const post = async (body: string): Promise<void> => {
    const answer = await fetch(`${url}/v1/traces`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`the spans were refused: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  let sentMs = 0
  for (let first = 0; first < traces; ) {
    const bodies: string[] = []
    for (; bodies.length < POSTS_AT_ONCE && first < traces; first += TRACES_OF_POST) bodies.push(bodyOf(first))
    const startedMs = performance.now()
    await Promise.all(
      Array.from({ length: SENDERS }, async () => {
        for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) await post(body)
      }),
    )
    sentMs += performance.now() - startedMs
  }
  await post(largeTrace())
  return sentMs
}

function bodyOf(first: number): string {
  const byService = new Map<string, object[]>()
  for (let trace = first; trace < Math.min(traces, first + TRACES_OF_POST); trace += 1) {
    for (const [service, spans] of spansOf(trace)) {
      const known = byService.get(service)
      if (known) known.push(...spans)
      else byService.set(service, spans)
    }
  }
  return exportOf(byService)
}

const exportOf = (byService: ReadonlyMap<string, readonly object[]>): string =>
  JSON.stringify({
    resourceSpans: [...byService].map(([service, spans]) => ({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeSpans: [{ spans }],
    })),
  })

/** A root with many spans below it, four levels deep. */
function largeTrace(): string {
  const startMs = endMs - HOUR_MS / 2
  const nano = (ms: number) => String(BigInt(Math.floor(ms * 1_000)) * 1_000n)
  const spans = Array.from({ length: LARGE_TRACE_SPANS }, (_, span) => ({
    traceId: LARGE_TRACE,
    spanId: (span + 1).toString(16).padStart(16, 'e'),
    ...(span === 0 ? {} : { parentSpanId: (Math.floor((span - 1) / 10) + 1).toString(16).padStart(16, 'e') }),
    name: `step ${span % 50}`,
    kind: 1,
    startTimeUnixNano: nano(startMs + span),
    endTimeUnixNano: nano(startMs + (span === 0 ? 2 * LARGE_TRACE_SPANS : span + 5)),
    attributes: [{ key: 'batch', value: { intValue: String(span) } }],
  }))
  return exportOf(new Map([['jobs', spans]]))
}

if (options.help) process.stdout.write(`${USAGE}\n`)
else await measure()
