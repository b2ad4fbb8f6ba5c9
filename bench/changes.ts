import { parseArgs } from 'node:util'
import type { ChangesReply } from '@dendro/api'
import { openStand, type Stand } from './search/stand.ts'
import { cpuSecondsOf } from './stand/process-tree.ts'
import { median, printTable } from './stand/service.ts'

/** What changed: the newer half of the events against the older half, the wall time and the CPU time of event engine and service. */
const USAGE = `node bench/changes.ts [--events N] [--rounds N] [--dir DIR]
  --events  how many events there are, about; each range has half of them (4000000)
  --rounds  how often each comparison runs (5); the median and the best are shown
  --dir     where the stores lie; filled by the first run and kept for the next`

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '4000000' },
    rounds: { type: 'string', default: '5' },
    dir: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const TARGET_MS = 1_000
const rounds = Number(options.rounds)
const comparisons = [
  { name: 'all events', where: undefined },
  { name: 'one level', where: "level = 'error'" },
  { name: 'free text without a match', where: 'timeout' },
] as const

async function measure(): Promise<void> {
  const stand = await openStand(Number(options.events), options.dir)
  const rows: string[][] = []
  for (const comparison of comparisons) rows.push(await measureOne(stand, comparison))
  process.stdout.write(`node bench/changes.ts ${process.argv.slice(2).join(' ')}\n\n`)
  printTable(
    [
      'compared',
      'events',
      'baseline',
      'keys',
      'findings',
      'MB read',
      'ms, median',
      'ms, best',
      'target ms',
      'met',
      'CPU ms of engine / service',
    ],
    rows,
  )
  await stand.close()
}

async function measureOne({ ask, place }: Stand, { name, where }: (typeof comparisons)[number]): Promise<string[]> {
  const { logId, fromMs, toMs } = place
  const middleMs = Math.round((fromMs + toMs) / 2)
  const body = {
    from: [logId],
    from_ts: middleMs,
    to_ts: toMs,
    baseline: { from_ts: fromMs, to_ts: middleMs },
    ...(where === undefined ? {} : { where }),
  }
  const compare = async () => (await ask('POST', '/changes', body)) as ChangesReply
  const found = await compare()
  const times: number[] = []
  const before = cpuSecondsOf(process.pid)
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now()
    await compare()
    times.push(performance.now() - startedMs)
  }
  const after = cpuSecondsOf(process.pid)
  const cpuMs = (program: string) => ((1_000 * ((after.byName.get(program) ?? 0) - (before.byName.get(program) ?? 0))) / rounds).toFixed(0)
  const middle = median(times)
  return [
    name,
    String(found.range.count),
    String(found.baseline.count),
    String(found.compared.length),
    String(found.findings_total),
    (Number(found.cost.bytes) / 1e6).toFixed(0),
    middle.toFixed(0),
    Math.min(...times).toFixed(0),
    String(TARGET_MS),
    middle <= TARGET_MS ? 'yes' : 'NO',
    `${cpuMs('engine-child.ts')} / ${cpuMs('main.ts')}`,
  ]
}

if (options.help) process.stdout.write(`${USAGE}\n`)
else await measure()
