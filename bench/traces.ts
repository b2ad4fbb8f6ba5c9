import { parseArgs } from 'node:util'
import { median, newDataDir, printTable, removeDataDir, startService } from './stand/service.ts'

/** One trace by its id, and lists of traces: the wall time as a caller sees it. */
const USAGE = `node bench/traces.ts [--spans N] [--rounds N]
  --spans   how many spans there are, ten for each trace, over an hour (100000)
  --rounds  how often each request is sent (20); the median and the slowest are shown`

const { values: options } = parseArgs({
  options: {
    spans: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
})

const SPANS_OF_TRACE = 10
const TRACES_OF_POST = 200
const HOUR_MS = 3_600_000
const services = ['gateway', 'shop', 'pay', 'store', 'mail'] as const
const rounds = Number(options.rounds)
const traces = Math.floor(Number(options.spans) / SPANS_OF_TRACE)
const endMs = Date.now() - 60_000

const idOf = (trace: number): string => ((BigInt(trace) + 1n) * 0x9e37_79b9_7f4a_7c15n).toString(16).padStart(32, '0').slice(-32)
const spanIdOf = (trace: number, span: number): string => (trace * SPANS_OF_TRACE + span + 1).toString(16).padStart(16, '0')

/** A root with nine spans below it. Some traces are slow, and some fail. */
function spansOf(trace: number): Map<string, object[]> {
  const startMs = endMs - HOUR_MS + Math.floor((trace / traces) * HOUR_MS)
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
    const ask = async (path: string): Promise<unknown> => {
      const answer = await fetch(service.url + path, { headers })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    }
    const range = `from_ts=${endMs - HOUR_MS}&to_ts=${endMs + 60_000}`
    const requests: readonly (readonly [string, (round: number) => string])[] = [
      ['by id', (round) => `/traces/${idOf((round * 104_729) % traces)}`],
      [
        'by id, with a rough time',
        (round) =>
          `/traces/${idOf((round * 7_907) % traces)}?timestamp=${endMs - HOUR_MS + Math.floor((((round * 7_907) % traces) / traces) * HOUR_MS)}`,
      ],
      ['newest 20', () => `/traces?${range}`],
      ['newest 20, root spans', () => `/traces?${range}&spans=root`],
      ['slowest 20, root spans', () => `/traces?${range}&spans=root&order=slowest`],
      ['slowest 50, root spans, durations', () => `/traces?${range}&spans=root&order=slowest&durations=true&limit=50`],
      ['failing of a service', () => `/traces?${range}&service=pay&status=error`],
      ['an attribute', (round) => `/traces?${range}&where=${encodeURIComponent(`$user.id = 'user-${round}'`)}`],
      ['longer than 5 s', () => `/traces?${range}&min_duration=5s`],
    ]
    const rows: string[][] = []
    for (const [name, pathOf] of requests) {
      const times: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        const startedMs = performance.now()
        await ask(pathOf(round))
        times.push(performance.now() - startedMs)
      }
      rows.push([name, median(times).toFixed(1), Math.max(...times).toFixed(1), (times[0] ?? 0).toFixed(1)])
    }
    process.stdout.write(
      `node bench/traces.ts ${process.argv.slice(2).join(' ')}\n\n${traces * SPANS_OF_TRACE} spans, sent in ${(sentMs / 1_000).toFixed(1)} s\n\n`,
    )
    printTable(['request', 'ms, median', 'ms, slowest', 'ms, first'], rows)
  } finally {
    await service.stop()
    await removeDataDir(dir)
  }
}

/** Sends all spans and returns how long that took. */
async function send(url: string, headers: Record<string, string>): Promise<number> {
  const startedMs = performance.now()
  for (let first = 0; first < traces; first += TRACES_OF_POST) {
    const byService = new Map<string, object[]>()
    for (let trace = first; trace < Math.min(traces, first + TRACES_OF_POST); trace += 1) {
      for (const [service, spans] of spansOf(trace)) byService.set(service, [...(byService.get(service) ?? []), ...spans])
    }
    const resourceSpans = [...byService].map(([service, spans]) => ({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeSpans: [{ spans }],
    }))
    const answer = await fetch(`${url}/v1/traces`, { method: 'POST', headers, body: JSON.stringify({ resourceSpans }) })
    if (!answer.ok) throw new Error(`the spans were refused: ${answer.status} ${await answer.text()}`)
  }
  return performance.now() - startedMs
}

if (options.help) process.stdout.write(`${USAGE}\n`)
else await measure()
