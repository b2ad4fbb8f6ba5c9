import { watchMemory } from './process-tree.ts'
import { newDataDir, printTable, removeDataDir, startService } from './service.ts'
import { ask, fillWithRequests, newTenant, requestLines } from './tenants.ts'

/**
 * Measures what reads and events are answered where memory is scarce: node bench/memory-mix.ts [--memory 2G] [--events 1000000] [--readers 16] [--seconds 30]
 * Senders send all the time, so that the store merges, and readers of four organizations search, group by many values and sort, each over all events.
 * A read may be refused for what it takes itself (400) or for what its organization does (429), but never because the store has no memory (503).
 */
const given = (name: string, otherwise: string): string => {
  const at = process.argv.indexOf(`--${name}`)
  return (at < 0 ? undefined : process.argv[at + 1]) ?? otherwise
}
const MEMORY = given('memory', '2G')
const EVENTS = Number(given('events', '1000000'))
const READERS = Number(given('readers', '16'))
const SECONDS = Number(given('seconds', '30'))
const TENANTS = 4
const SENDERS = 2
const SENT_LINES = 5_000

/** Counted is how often there was each answer, by the kind of request. */
type Counted = Map<string, number>

const dataDir = await newDataDir()
const service = await startService(dataDir, { DENDRO_MEMORY: MEMORY })
try {
  const keys = (await Promise.all(Array.from({ length: TENANTS }, (_, n) => newTenant(service, `tenant ${n}`, 1)))).flat()
  for (const key of keys) await fillWithRequests(service, key, EVENTS / TENANTS)
  const stopWatching = watchMemory(service.pid)
  const counted: Counted = new Map()
  const untilMs = performance.now() + SECONDS * 1_000
  const repeat = async (what: string, send: (n: number) => Promise<{ status: number; body: { details?: string } }>): Promise<void> => {
    for (let n = 0; performance.now() < untilMs; n += 1) {
      const { status, body } = await send(n)
      const answer = `${what}: ${status}${status < 400 ? '' : ` ${body.details}`}`
      counted.set(answer, (counted.get(answer) ?? 0) + 1)
    }
  }
  const reads = [...queries()]
  await Promise.all([
    ...Array.from({ length: SENDERS }, (_, sender) =>
      repeat('events', (n) =>
        ask(service, keys[sender] ?? '', 'POST', '/ingest', requestLines(SENT_LINES, n * SENT_LINES), 'application/x-ndjson'),
      ),
    ),
    ...Array.from({ length: READERS }, (_, reader) => {
      const [what, body] = reads[reader % reads.length] ?? ['', {}]
      return repeat(what, () => ask(service, keys[reader % TENANTS] ?? '', 'POST', '/search', body))
    }),
  ])
  const { peakMb, peaks } = stopWatching()
  printTable(
    ['answer', 'times'],
    [...counted].sort().map(([answer, times]) => [answer, String(times)]),
  )
  printTable(['memory', 'peak MB'], [['all', peakMb.toFixed(0)], ...[...peaks].map(([name, mb]) => [name, mb.toFixed(0)])])
} finally {
  await service.stop()
  await removeDataDir(dataDir)
}

function* queries(): Iterable<[what: string, body: object]> {
  const all = { from_ts: Date.now() - 86_400_000, to_ts: Date.now() + 3_600_000, from_expr: '*' }
  yield ['groups of many values', { ...all, select: ['count(*)', 'p95(ms)'], groups: ['message'], limit: 10 }]
  yield ['unique values', { ...all, select: ['unique(message)', 'p99(ms)'] }]
  yield ['a text in all lines', { ...all, select: ['*'], where: "'user 77 took'", limit: 100 }]
  yield ['the largest', { ...all, select: ['*'], order_by: 'ms', limit: 100 }]
}
