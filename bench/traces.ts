import { parseArgs } from 'node:util'
import { type Timed, timed } from './search/timing.ts'
import { median, newDataDir, printTable, removeDataDir, startService } from './stand/service.ts'
import { compareWithJaeger } from './traces/peer.ts'
import { DAY_MS, type Day, HOUR_MS, idOf, LARGE_TRACE, LARGE_TRACE_SPANS, SPANS_OF_TRACE, sendSpans, startOf } from './traces/spans.ts'

/** Spans sent as OpenTelemetry's JSON, then traces, lists, services and the map: the wall time as a caller sees it. */
const USAGE = `node bench/traces.ts [--spans N] [--rounds N] [--wait S] [--jaeger PATH]
  --spans   how many spans there are, ten for each trace, over a day (10000000); one trace more has 10,000 of them
  --rounds  how often each request is sent (20); the median and the slowest are shown
  --wait    seconds between the last span and the first request, in which the service builds indexes of settled parts (120)
  --jaeger  instead: the same spans and requests of Jaeger's query API to the service and to a Jaeger program, one after the other`

const { values: options } = parseArgs({
  options: {
    spans: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '20' },
    wait: { type: 'string', default: '120' },
    jaeger: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const rounds = Number(options.rounds)
const traces = Math.floor(Number(options.spans) / SPANS_OF_TRACE)
const endMs = Date.now() - 60_000
const day: Day = { traces, endMs }

const OF_ROOT = '{ rootName = "GET /page/7" && traceDuration > 1s }'

async function measure(): Promise<void> {
  const dir = await newDataDir()
  const service = await startService(dir)
  const headers = { 'x-service-api-key': service.key }
  try {
    const sentMs = await sendSpans(service.url, headers, day)
    await new Promise((done) => setTimeout(done, Number(options.wait) * 1_000))
    const ask = async (path: string): Promise<unknown> => {
      const answer = await fetch(service.url + path, { headers })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    }
    const rangeOf = (ms: number) => `from_ts=${endMs - ms}&to_ts=${endMs + 60_000}`
    const secondsOf = (ms: number) => `start=${Math.floor((endMs - ms) / 1_000)}&end=${Math.ceil(endMs / 1_000)}`
    const [ofDay, ofHour] = [rangeOf(DAY_MS), rangeOf(HOUR_MS)]
    const requests: readonly (readonly [string, (round: number) => string])[] = [
      ['a trace by id', (round) => `/traces/${idOf((round * 104_729) % traces)}`],
      [
        'a trace by id, with a rough time',
        (round) => `/traces/${idOf((round * 7_907) % traces)}?timestamp=${startOf(day, (round * 7_907) % traces)}`,
      ],
      [`a trace of ${LARGE_TRACE_SPANS} spans`, () => `/traces/${LARGE_TRACE}`],
      ['newest 20 of a day', () => `/traces?${ofDay}`],
      ['newest 20 of a day, root spans', () => `/traces?${ofDay}&spans=root`],
      ['slowest 20 of an hour, root spans', () => `/traces?${ofHour}&spans=root&order=slowest`],
      ['slowest 20 of a day, root spans', () => `/traces?${ofDay}&spans=root&order=slowest`],
      ['slowest 50 of a day, root spans, durations', () => `/traces?${ofDay}&spans=root&order=slowest&durations=true&limit=50`],
      ['failing of a service, a day', () => `/traces?${ofDay}&service=pay&status=error`],
      ['an attribute, a day', (round) => `/traces?${ofDay}&where=${encodeURIComponent(`$user.id = 'user-${round}'`)}`],
      ['longer than 5 s, a day', () => `/traces?${ofDay}&min_duration=5s`],
      ['by root and length of traces, a day', () => `/tempo/api/search?${secondsOf(DAY_MS)}&q=${encodeURIComponent(OF_ROOT)}`],
      ['services and operations, an hour', () => `/traces/operations?${ofHour}`],
      ['services and operations, a day', () => `/traces/operations?${ofDay}`],
      ['the map, an hour', () => `/traces/calls?${ofHour}`],
      ['the map, a day', () => `/traces/calls?${ofDay}`],
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
      `${traces * SPANS_OF_TRACE} spans, sent in ${(sentMs / 1_000).toFixed(1)} s: ${Math.round((traces * SPANS_OF_TRACE * 1_000) / sentMs)} spans a second\n\n`,
    )
    printTable(['request', 'ms, median', 'ms of CPU, median', 'ms, slowest', 'ms, first'], rows)
  } finally {
    await service.stop()
    await removeDataDir(dir)
  }
}

if (options.help) process.stdout.write(`${USAGE}\n`)
else {
  process.stdout.write(`node bench/traces.ts ${process.argv.slice(2).join(' ')}\n\n`)
  if (options.jaeger === undefined) await measure()
  else await compareWithJaeger(options.jaeger, day, { rounds, waitMs: Number(options.wait) * 1_000 })
}
