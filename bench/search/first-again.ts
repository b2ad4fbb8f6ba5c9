import { printTable } from '../stand/service.ts'
import type { ServiceAsUsed } from './as-used.ts'
import type { Peer } from './peer.ts'
import type { BenchmarkQuery } from './queries.ts'
import { searchOf } from './requests.ts'
import { mean, meanCpuMs, medianMs, percentileMs, type Timed, timed } from './timing.ts'

const RATIO = { mean: 2, each: 0.5 }
const COLUMNS: readonly string[] = [
  'query',
  'warm-up, ms',
  'first, ms',
  'first, p95',
  'again, ms',
  'VictoriaLogs, ms',
  'ratio of first',
  'ratio of again',
  'CPU first',
  'CPU again',
  'CPU of VictoriaLogs',
  'rule, ms',
  'met',
]

/** What people do not notice. Beyond this many events it may take longer. */
const UNNOTICED = { ms: 100, manyEvents: 10_000_000, manyMs: 200 }
/** What the peer answers faster than that has to be unnoticed here too; everything else may take half of the peer's time. */
const FAST_PEER_MS = 50
const PERCENTILE = 0.95

/** The longest time that the 95th percentile of a query in a new range may take. */
function allowedMs(events: number, theirs: readonly Timed[]): number {
  if (events >= UNNOTICED.manyEvents) return UNNOTICED.manyMs
  const peerMs = theirs.length === 0 ? 0 : medianMs(theirs)
  return peerMs < FAST_PEER_MS ? UNNOTICED.ms : peerMs / 2
}

/** VictoriaLogs' time divided by ours, by query. */
type Ratios = { warmUp: Map<string, number>; first: Map<string, number>; again: Map<string, number> }

/**
 * Runs each query in rounds on ranges that nobody has requested: first, again on the same range, and on VictoriaLogs. The warm-up is the round before
 * those that count; it is the only one without results of an earlier round, which may serve a part of later ones.
 */
export async function measureFirstAndAgain(
  used: ServiceAsUsed,
  peer: Peer | undefined,
  { queries, rounds, newestMs, events }: { queries: readonly BenchmarkQuery[]; rounds: number; newestMs: number; events: number },
): Promise<void> {
  const ratios: Ratios = { warmUp: new Map(), first: new Map(), again: new Map() }
  const rows: string[][] = []
  const said: string[] = []
  let met = 0
  for (const query of queries) {
    const measured = await measureQuery(used, peer, query, rounds).catch((failure: Error) => failure)
    // A failure is a result too.
    if (measured instanceof Error) rows.push([query.name, measured.message.slice(0, 100), ...Array<string>(COLUMNS.length - 2).fill('')])
    else {
      const p95 = percentileMs(measured.first, PERCENTILE)
      const allowed = allowedMs(events, measured.theirs)
      if (p95 <= allowed) met += 1
      rows.push([...rowOf(query.name, measured, ratios), allowed.toFixed(0), p95 <= allowed ? 'yes' : '**no**'])
      if (query.name === 'newest 100') said.push(`newest 100, first: ${medianMs(measured.first).toFixed(1)} ms (wanted < ${newestMs})`)
    }
  }
  printTable(COLUMNS, rows)
  said.push(`the 95th percentile of "first" is within the rule for ${met} of ${queries.length} queries`)
  if (ratios.first.size > 0) said.push(meanOf('warm-up', ratios.warmUp), meanOf('first', ratios.first), meanOf('again', ratios.again))
  process.stdout.write(`\n${said.join('\n')}\n`)
}

type Measured = { warmUp: Timed | undefined; first: Timed[]; again: Timed[]; theirs: Timed[] }

async function measureQuery(
  { service, send, place, nextRange }: ServiceAsUsed,
  peer: Peer | undefined,
  { body, logsQl }: BenchmarkQuery,
  rounds: number,
): Promise<Measured> {
  const measured: Measured = { warmUp: undefined, first: [], again: [], theirs: [] }
  for (let round = 0; round <= rounds; round += 1) {
    const range = nextRange()
    const search = () => send('POST', '/search', searchOf(place.logId, range, body))
    const first = await timed(service.pid, search)
    const again = await timed(service.pid, search)
    const theirs = peer && logsQl !== '' ? await timed(peer.pid, () => peer.ask(logsQl, range.byMs)) : undefined
    measured.warmUp ??= first
    if (round === 0) continue
    measured.first.push(first)
    measured.again.push(again)
    if (theirs) measured.theirs.push(theirs)
  }
  return measured
}

function rowOf(name: string, { warmUp, first, again, theirs }: Measured, ratios: Ratios): string[] {
  const cells = [
    name,
    (warmUp?.ms ?? Number.NaN).toFixed(1),
    medianMs(first).toFixed(1),
    percentileMs(first, PERCENTILE).toFixed(1),
    medianMs(again).toFixed(1),
  ]
  const cpu = [meanCpuMs(first).toFixed(1), meanCpuMs(again).toFixed(1)]
  if (theirs.length === 0) return [...cells, '', '', '', ...cpu, '']
  const ratioTo = (ours: readonly Timed[]) => medianMs(theirs) / medianMs(ours)
  ratios.warmUp.set(name, ratioTo(warmUp ? [warmUp] : []))
  ratios.first.set(name, ratioTo(first))
  ratios.again.set(name, ratioTo(again))
  return [...cells, medianMs(theirs).toFixed(1), ratioTo(first).toFixed(2), ratioTo(again).toFixed(2), ...cpu, meanCpuMs(theirs).toFixed(1)]
}

function meanOf(what: string, ratios: ReadonlyMap<string, number>): string {
  const geometricMean = Math.exp(mean([...ratios.values()].map(Math.log)))
  const slow = [...ratios].filter(([, ratio]) => ratio < RATIO.each).map(([name, ratio]) => `${name} ${ratio.toFixed(2)}`)
  return `${what}: geometric mean of the ratios to VictoriaLogs ${geometricMean.toFixed(2)} (wanted ≥ ${RATIO.mean}), below ${RATIO.each}: ${slow.join(', ') || 'none'}`
}
