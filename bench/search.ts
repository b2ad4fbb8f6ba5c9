import { parseArgs } from 'node:util'
import { cpuSecondsOf, watchMemory } from './process-tree.ts'
import { openPeer, type Peer } from './search-peer.ts'
import type { BenchmarkQuery } from './search-queries.ts'
import { type Screen, screensOf } from './search-screens.ts'
import { isSearchedKind, queriesOfKind, searchedKinds } from './search-sets.ts'
import { openStand, type Stand } from './search-stand.ts'
import { median, printTable } from './service.ts'

/**
 * Searches over HTTP: each query runs in turn on the service, on its event store as a hand-written statement, and on VictoriaLogs if available. A
 * recorder between service and store measures the share of the store.
 */
const USAGE = `node bench/search.ts [--events N] [--rounds N] [--dir DIR] [--users N] [--only TEXT] [--set KIND] [--victorialogs PATH]
  --events        how many events there are, about (2000000)
  --rounds        how often each query runs (7); medians are shown
  --dir           where the stores lie; filled by the first run and kept for the next
  --users         how many ask at once in the last table (10)
  --only          only queries with this in their name
  --set           the kind of data: json, kubernetes or text (json); screens and users are measured on json
  --victorialogs  a VictoriaLogs program to measure beside`

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '2000000' },
    rounds: { type: 'string', default: '7' },
    dir: { type: 'string' },
    users: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    set: { type: 'string', default: 'json' },
    victorialogs: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)
const OVERHEAD = { share: 0.15, ms: 5 }
const NEWEST_MS = Number(options.events) > 10_000_000 ? 60 : 40
const CONCURRENT_FACTOR = 4
const RATIO = { mean: 2, each: 0.5 }
const FAILED: readonly string[] = ['', '', '', '', '', '', '', '', 'NO']
const say = (text: string) => process.stdout.write(`${text}\n`)

async function measure(): Promise<void> {
  if (!isSearchedKind(options.set)) throw new Error(`--set must be one of ${searchedKinds.join(', ')}`)
  const stand = await openStand(Number(options.events), options.dir, options.set)
  const peer = options.victorialogs === undefined ? undefined : await openPeer(options.victorialogs, stand.data)
  const peakOf = watchMemory(process.pid)
  const queries = queriesOfKind(stand.data, stand.place).filter(({ name }) => name.includes(options.only))
  say(`node bench/search.ts ${process.argv.slice(2).join(' ')}\n\n${stand.data.lines} events, ${rounds} rounds, medians in ms\n`)
  const rows: string[][] = []
  for (const query of queries) {
    // A failure is a result too.
    rows.push(await measureOne(stand, peer, query).catch((failure: Error) => [query.name, failure.message.slice(0, 100), ...FAILED]))
  }
  const screens = options.set === 'json' ? screensOf(stand).filter(({ name }) => name.includes(options.only)) : []
  for (const screen of screens) rows.push(await measureScreen(stand, screen))
  printTable(
    [
      'query',
      'service',
      'of that the store',
      'statements',
      'overhead',
      'CPU',
      'by hand',
      'service / by hand',
      'VictoriaLogs',
      'its CPU',
      'met',
    ],
    rows,
  )
  say('')
  if (ratios.size > 0) sayRatios()
  if (options.set === 'json') await measureUsers(stand, queries)
  const { peaks } = peakOf()
  say(
    `\npeak MB: ${[...peaks]
      .filter(([name]) => name !== 'search.ts')
      .map(([name, mb]) => `${name} ${mb.toFixed(0)}`)
      .join(', ')}`,
  )
  await peer?.close()
  await stand.close()
}

const rangeOf = ({ place: { logId, fromMs, toMs } }: Stand) => ({ from: [logId], from_ts: fromMs, to_ts: toMs })

/** `cpuMs` is that of all processes but this one, so it is comparable on a busy machine. */
type Timed = { ms: number; busyMs: number; statements: number; cpuMs: number }

async function timed(stand: Stand, work: () => Promise<unknown>): Promise<Timed> {
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

/** VictoriaLogs' time divided by ours, by query. */
const ratios = new Map<string, number>()

function sayRatios(): void {
  const logs = [...ratios.values()].map(Math.log)
  const slow = [...ratios].filter(([, ratio]) => ratio < RATIO.each).map(([name, ratio]) => `${name} ${ratio.toFixed(2)}`)
  say(`geometric mean of the ratios to VictoriaLogs: ${Math.exp(mean(logs)).toFixed(2)} (wanted ≥ ${RATIO.mean})`)
  say(`below ${RATIO.each}: ${slow.join(', ') || 'none'}\n`)
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Measures one query in alternating rounds; the first round warms up and does not count. */
async function measureOne(stand: Stand, peer: Peer | undefined, { name, body, byHand, logsQl }: BenchmarkQuery): Promise<string[]> {
  const ours: Timed[] = []
  const hand: number[] = []
  const theirs: Timed[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const own = await timed(stand, () => stand.ask('POST', '/search', { ...rangeOf(stand), ...body }))
    const direct = byHand && (await timed(stand, () => stand.byHand(byHand(stand.slotOf))))
    const other = peer && logsQl !== '' ? await timed(stand, () => peer.ask(logsQl)) : undefined
    if (round === 0) continue
    ours.push(own)
    if (direct) hand.push(direct.ms)
    if (other) theirs.push(other)
  }
  return rowOf(name, ours, hand, theirs)
}

async function measureScreen(stand: Stand, { name, ask }: Screen): Promise<string[]> {
  const ours: Timed[] = []
  for (let round = 0; round <= rounds; round += 1) ours.push(await timed(stand, ask))
  return rowOf(name, ours.slice(1), [], [])
}

function rowOf(name: string, ours: readonly Timed[], hand: readonly number[], theirs: readonly Timed[]): string[] {
  const theirMs = median(theirs.map((one) => one.ms))
  const ms = median(ours.map((one) => one.ms))
  const busyMs = median(ours.map((one) => one.busyMs))
  const overheadMs = median(ours.map((one) => one.ms - one.busyMs))
  if (theirs.length > 0) ratios.set(name, theirMs / ms)
  const isCheap = overheadMs <= Math.max(OVERHEAD.ms, busyMs * OVERHEAD.share)
  const isNew = name !== 'newest 100' || ms < NEWEST_MS
  return [
    name,
    ms.toFixed(1),
    busyMs.toFixed(1),
    String(median(ours.map(({ statements }) => statements))),
    overheadMs.toFixed(1),
    mean(ours.map(({ cpuMs }) => cpuMs)).toFixed(0),
    hand.length === 0 ? '' : median(hand).toFixed(1),
    hand.length === 0 ? '' : (ms / median(hand)).toFixed(2),
    theirs.length === 0 ? '' : `${theirMs.toFixed(1)} (${(theirMs / ms).toFixed(2)})`,
    theirs.length === 0 ? '' : mean(theirs.map(({ cpuMs }) => cpuMs)).toFixed(0),
    isCheap && isNew ? 'yes' : 'NO',
  ]
}

const USER_QUERIES: readonly string[] = ['newest 100', 'newest 100, two values', 'count by level', 'trace id', 'number by minute']

/** Lets one user run a mixture of queries, and then many at once, each with a key of their own and again after the response. */
async function measureUsers(stand: Stand, queries: readonly BenchmarkQuery[]): Promise<void> {
  const mixture = queries.filter(({ name }) => USER_QUERIES.includes(name))
  if (mixture.length === 0) return
  const ask = async ({ body }: BenchmarkQuery, key: string) =>
    (await timed(stand, () => stand.ask('POST', '/search', { ...rangeOf(stand), ...body }, key))).ms
  const user = async (number: number) => {
    const request = { name: `user ${number}`, roles: ['SearchApi'] }
    const { key } = (await stand.ask('POST', '/api-keys', request)) as { key: string }
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) for (const query of mixture) times.push(await ask(query, key))
    return times
  }
  const single = await user(0)
  const each = await Promise.all(Array.from({ length: Number(options.users) }, (_, index) => user(index + 1)))
  const many = each.flat()
  const means = each.map(mean)
  const p95 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN
  const factor = p95(many) / p95(single)
  printTable(
    ['users at once', 'p50 ms', 'p95 ms', 'p95 to that of one', `wanted ≤ ${CONCURRENT_FACTOR}`, 'slowest to fastest user (wanted ≤ 2)'],
    [
      ['1', median(single).toFixed(1), p95(single).toFixed(1), '1', '', ''],
      [
        options.users,
        median(many).toFixed(1),
        p95(many).toFixed(1),
        factor.toFixed(2),
        factor <= CONCURRENT_FACTOR ? 'yes' : 'NO',
        (Math.max(...means) / Math.min(...means)).toFixed(2),
      ],
    ],
  )
}

if (options.help) say(USAGE)
else await measure()
