import { watchMemory } from './stand/process-tree.ts'
import { newDataDir, printTable, removeDataDir, startService } from './stand/service.ts'
import { fillWithRequests, newTenant, requestLines, sendRequest } from './stand/tenants.ts'

/**
 * Counts the replies to reads and ingestion when memory is scarce: node bench/memory-mix.ts [--memory 2G] [--events 1000000] [--readers 16] [--seconds 30]
 * Senders send all the time, so that the store merges. Readers of four organizations search, group by many values and sort, each over all events.
 * A read may be refused because of its own cost (400) or the load of its organization (429), but never because the store has no memory (503).
 */
const option = (name: string, fallback: string): string => {
  const at = process.argv.indexOf(`--${name}`)
  return (at < 0 ? undefined : process.argv[at + 1]) ?? fallback
}
const MEMORY = option('memory', '2G')
const EVENTS = Number(option('events', '1000000'))
const READERS = Number(option('readers', '16'))
const SECONDS = Number(option('seconds', '30'))
const TENANTS = 4
const SENDERS = 2
const SENT_LINES = 5_000

/** The number of replies by request and status. */
type ReplyCounts = Map<string, number>

const dataDir = await newDataDir()
const service = await startService(dataDir, { DENDRO_MEMORY: MEMORY })
try {
  const keys = (await Promise.all(Array.from({ length: TENANTS }, (_, n) => newTenant(service, `tenant ${n}`, 1)))).flat()
  for (const key of keys) await fillWithRequests(service, key, EVENTS / TENANTS)
  const stopWatching = watchMemory(service.pid)
  const replies: ReplyCounts = new Map()
  const untilMs = performance.now() + SECONDS * 1_000
  const repeat = async (request: string, send: (n: number) => Promise<{ status: number; body: { details?: string } }>): Promise<void> => {
    for (let n = 0; performance.now() < untilMs; n += 1) {
      const { status, body } = await send(n)
      const reply = `${request}: ${status}${status < 400 ? '' : ` ${body.details}`}`
      replies.set(reply, (replies.get(reply) ?? 0) + 1)
    }
  }
  const reads = [...queries()]
  await Promise.all([
    ...Array.from({ length: SENDERS }, (_, sender) =>
      repeat('events', (n) =>
        sendRequest(service, keys[sender] ?? '', 'POST', '/ingest', requestLines(SENT_LINES, n * SENT_LINES), 'application/x-ndjson'),
      ),
    ),
    ...Array.from({ length: READERS }, (_, reader) => {
      const [request, body] = reads[reader % reads.length] ?? ['', {}]
      return repeat(request, () => sendRequest(service, keys[reader % TENANTS] ?? '', 'POST', '/search', body))
    }),
  ])
  const { peakMb, peaks } = stopWatching()
  printTable(
    ['reply', 'count'],
    [...replies].sort().map(([reply, count]) => [reply, String(count)]),
  )
  printTable(['memory', 'peak MB'], [['all', peakMb.toFixed(0)], ...[...peaks].map(([name, mb]) => [name, mb.toFixed(0)])])
} finally {
  await service.stop()
  await removeDataDir(dataDir)
}

function* queries(): Iterable<[request: string, body: object]> {
  const all = { from_ts: Date.now() - 86_400_000, to_ts: Date.now() + 3_600_000, from_expr: '*' }
  yield ['groups of many values', { ...all, select: ['count(*)', 'p95(ms)'], groups: ['message'], limit: 10 }]
  yield ['unique values', { ...all, select: ['unique(message)', 'p99(ms)'] }]
  yield ['a text in all lines', { ...all, select: ['*'], where: "'user 77 took'", limit: 100 }]
  yield ['the largest', { ...all, select: ['*'], order_by: 'ms', limit: 100 }]
}
