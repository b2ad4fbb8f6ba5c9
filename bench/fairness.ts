import { newDataDir, printTable, removeDataDir, startService } from './stand/service.ts'
import { fillWithRequests, newTenant, requestLines, sendRequest } from './stand/tenants.ts'

/**
 * Measures how the queries of one organization slow down another: node bench/fairness.ts [--events 1000000] [--queries 40] [--seconds 20]
 * The busy organization runs many concurrent queries over several keys. The other one runs one query after the other. Events are sent all the time.
 * The busy organization is expected to get some replies with 429.
 */
const option = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}
const EVENTS = option('events', 1_000_000)
const QUERIES = option('queries', 40)
const SECONDS = option('seconds', 20)
const KEYS = 6
const PAUSE_MS = 100
const P95_RATIO_MAX = 3

type Measurement = { readonly ms: number[]; readonly statuses: Map<number, number> }

const dataDir = await newDataDir()
const service = await startService(dataDir)
try {
  const busy = await newTenant(service, 'busy', KEYS)
  const quiet = await newTenant(service, 'quiet', 1)
  for (const [key = ''] of [busy, quiet]) await fillWithRequests(service, key, EVENTS)
  const alone = await phase(quiet, [])
  const together = await phase(quiet, busy)
  const rows = [
    ['p95 of the quiet organization, alone', '', `${p95(alone.quiet)} ms`],
    [
      'p95 next to the busy one',
      `≤ ${P95_RATIO_MAX} times`,
      `${p95(together.quiet)} ms, ${(p95(together.quiet) / p95(alone.quiet)).toFixed(2)} times`,
    ],
    ['replies to the quiet organization', 'all 200', formatStatuses(together.quiet)],
    ['replies to ingestion', 'no 503', formatStatuses(together.ingestion)],
    ['replies to the busy organization', '200 and 429', formatStatuses(together.busy)],
  ]
  printTable(['measurement', 'target', 'result'], rows)
} finally {
  await service.stop()
  await removeDataDir(dataDir)
}

/** Groups all events by a key with many values, like a badly built dashboard. */
function heavyQuery() {
  return {
    ...lastDay(),
    from_expr: '*',
    select: ['count(*)', 'p95(ms)'],
    groups: ['message'],
    where: "message LIKE '%7%'",
    limit: 10,
  }
}
function lightQuery() {
  return { ...lastDay(), from_expr: '*', select: ['count(*)'], where: "level = 'error'" }
}
function lastDay() {
  return { from_ts: Date.now() - 86_400_000, to_ts: Date.now() }
}

async function phase(quietKeys: readonly string[], busyKeys: readonly string[]) {
  const untilMs = performance.now() + SECONDS * 1_000
  const newMeasurement = (): Measurement => ({ ms: [], statuses: new Map() })
  const [quiet, busy, ingestion] = [newMeasurement(), newMeasurement(), newMeasurement()]
  const repeat = async (into: Measurement, work: () => Promise<{ status: number }>): Promise<void> => {
    while (performance.now() < untilMs) {
      const startedMs = performance.now()
      const { status } = await work()
      into.ms.push(performance.now() - startedMs)
      into.statuses.set(status, (into.statuses.get(status) ?? 0) + 1)
      await new Promise((resume) => setTimeout(resume, PAUSE_MS))
    }
  }
  const key = quietKeys[0] ?? ''
  await Promise.all([
    repeat(quiet, () => sendRequest(service, key, 'POST', '/search', lightQuery())),
    repeat(ingestion, () => sendRequest(service, key, 'POST', '/ingest', requestLines(100, 0), 'application/x-ndjson')),
    ...Array.from({ length: busyKeys.length === 0 ? 0 : QUERIES }, (_, n) =>
      repeat(busy, () => sendRequest(service, busyKeys[n % busyKeys.length] ?? '', 'POST', '/search', heavyQuery())),
    ),
  ])
  return { quiet, busy, ingestion }
}

function p95({ ms }: Measurement): number {
  const sorted = ms.toSorted((one, other) => one - other)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? Number.NaN)
}

function formatStatuses({ statuses }: Measurement): string {
  return [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
}
