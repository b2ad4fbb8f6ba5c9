import { newDataDir, printTable, removeDataDir, startService } from './service.ts'
import { ask, fillWithRequests, newTenant, requestLines } from './tenants.ts'

/**
 * Measures what one organization's queries cost another: node bench/fairness.ts [--events 1000000] [--queries 40] [--seconds 20]
 * The busy organization asks with so many queries at once, over several keys; the other one asks one after the other, and events are sent all the
 * time. A refusal with 429 is what the busy one is meant to get.
 */
const given = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const EVENTS = given('events', 1_000_000)
const QUERIES = given('queries', 40)
const SECONDS = given('seconds', 20)
const KEYS = 6
const PAUSE_MS = 100
const P95_RATIO_MAX = 3

type Measured = { readonly ms: number[]; readonly statuses: Map<number, number> }

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
    ['answers to the quiet organization', 'all 200', shown(together.quiet)],
    ['answers to ingestion', 'no 503', shown(together.ingestion)],
    ['answers to the busy organization', '200 and 429', shown(together.busy)],
  ]
  printTable(['what', 'aim', 'found'], rows)
} finally {
  await service.stop()
  await removeDataDir(dataDir)
}

/** heavy groups by a key of many values over everything, as a badly built dashboard does. */
function heavy() {
  return {
    ...range(),
    from_expr: '*',
    select: ['count(*)', 'p95(ms)'],
    groups: ['message'],
    where: "message LIKE '%7%'",
    limit: 10,
  }
}
function light() {
  return { ...range(), from_expr: '*', select: ['count(*)'], where: "level = 'error'" }
}
function range() {
  return { from_ts: Date.now() - 86_400_000, to_ts: Date.now() }
}

async function phase(quietKeys: readonly string[], busyKeys: readonly string[]) {
  const untilMs = performance.now() + SECONDS * 1_000
  const measured = (): Measured => ({ ms: [], statuses: new Map() })
  const [quiet, busy, ingestion] = [measured(), measured(), measured()]
  const repeat = async (into: Measured, work: () => Promise<{ status: number }>): Promise<void> => {
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
    repeat(quiet, () => ask(service, key, 'POST', '/search', light())),
    repeat(ingestion, () => ask(service, key, 'POST', '/ingest', requestLines(100, 0), 'application/x-ndjson')),
    ...Array.from({ length: busyKeys.length === 0 ? 0 : QUERIES }, (_, n) =>
      repeat(busy, () => ask(service, busyKeys[n % busyKeys.length] ?? '', 'POST', '/search', heavy())),
    ),
  ])
  return { quiet, busy, ingestion }
}

function p95({ ms }: Measured): number {
  const sorted = ms.toSorted((one, other) => one - other)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? Number.NaN)
}

function shown({ statuses }: Measured): string {
  return [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
}
