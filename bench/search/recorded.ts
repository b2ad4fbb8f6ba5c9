import { cpuSecondsOf } from '../stand/process-tree.ts'
import { median, printTable } from '../stand/service.ts'
import type { BenchmarkQuery } from './queries.ts'
import { searchOf } from './requests.ts'
import { type Screen, type ShownTime, shownAt } from './screens.ts'
import type { Stand } from './stand.ts'
import { meanCpuMs, medianMs, type Timed } from './timing.ts'

const OVERHEAD = { share: 0.15, ms: 5 }
const FAILED: readonly string[] = ['', '', '', '', '', '', 'NO']

/** The stage with the recorder between the service and its event store: what each query sends to the store, and how long the store takes. */
export async function measureRecorded(
  stand: Stand,
  { queries, screens, rounds }: { queries: readonly BenchmarkQuery[]; screens: readonly Screen[]; rounds: number },
): Promise<void> {
  const rows: string[][] = []
  for (const query of queries) {
    // A failure is a result too.
    rows.push(await measureQuery(stand, query, rounds).catch((failure: Error) => [query.name, failure.message.slice(0, 100), ...FAILED]))
  }
  const shown = shownAt(stand.place, 0, 0)
  for (const screen of screens) rows.push(await measureScreen(stand, screen, shown, rounds))
  printTable(['query', 'service', 'of that the store', 'statements', 'overhead', 'CPU', 'by hand', 'service / by hand', 'met'], rows)
}

type Recorded = Timed & { busyMs: number; statements: number }

/** `cpuMs` is that of all processes but this one, so it is comparable on a busy machine. */
async function recorded(stand: Stand, work: () => Promise<unknown>): Promise<Recorded> {
  stand.recorder.take()
  const before = cpuMsOfOthers()
  const startedMs = performance.now()
  await work()
  const ms = performance.now() - startedMs
  return { ms, ...stand.recorder.take(), cpuMs: cpuMsOfOthers() - before }
}

function cpuMsOfOthers(): number {
  const { total, byName } = cpuSecondsOf(process.pid)
  return (total - (byName.get('search.ts') ?? 0)) * 1_000
}

/** Measures one query in alternating rounds; the first round warms up and does not count. */
async function measureQuery(stand: Stand, { name, body, byHand }: BenchmarkQuery, rounds: number): Promise<string[]> {
  const ours: Recorded[] = []
  const hand: Recorded[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const own = await recorded(stand, () => stand.send('POST', '/search', searchOf(stand.place.logId, stand.place, body)))
    const direct = byHand && (await recorded(stand, () => stand.byHand(byHand(stand.slotOf))))
    if (round === 0) continue
    ours.push(own)
    if (direct) hand.push(direct)
  }
  return rowOf(name, ours, hand)
}

async function measureScreen(stand: Stand, { name, load }: Screen, shown: ShownTime, rounds: number): Promise<string[]> {
  const ours: Recorded[] = []
  for (let round = 0; round <= rounds; round += 1) ours.push(await recorded(stand, () => load(stand.send, shown)))
  return rowOf(name, ours.slice(1), [])
}

function rowOf(name: string, ours: readonly Recorded[], hand: readonly Recorded[]): string[] {
  const ms = medianMs(ours)
  const busyMs = median(ours.map((one) => one.busyMs))
  const overheadMs = median(ours.map((one) => one.ms - one.busyMs))
  return [
    name,
    ms.toFixed(1),
    busyMs.toFixed(1),
    String(median(ours.map(({ statements }) => statements))),
    overheadMs.toFixed(1),
    meanCpuMs(ours).toFixed(0),
    hand.length === 0 ? '' : medianMs(hand).toFixed(1),
    hand.length === 0 ? '' : (ms / medianMs(hand)).toFixed(2),
    overheadMs <= Math.max(OVERHEAD.ms, busyMs * OVERHEAD.share) ? 'yes' : 'NO',
  ]
}
