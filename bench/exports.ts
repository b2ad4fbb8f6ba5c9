import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type BenchmarkQuery, queriesFor } from './search/queries.ts'
import { openStand, type Stand } from './search/stand.ts'
import { cpuSecondsOf, watchMemory } from './stand/process-tree.ts'
import { median, printTable } from './stand/service.ts'

/** Exports during searches: the duration of an export of all events, and its effect on concurrent searches. */
const USAGE = `node bench/exports.ts [--events N] [--dir DIR] [--rounds N] [--files LIST] [--share X] [--alone]
  --events  how many events there are, about (2000000)
  --dir     where the stores lie; filled by the first run and kept for the next
  --rounds  how often each query runs with no export under way, before and after each (10)
  --files   what is exported, one after the other: format and compression (ndjson-none,ndjson-zstd,csv-gzip,parquet-zstd)
  --share   how much of the range is exported (1)
  --alone   nobody searches, so that processor time is that of the export`

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '2000000' },
    dir: { type: 'string' },
    rounds: { type: 'string', default: '10' },
    files: { type: 'string', default: 'ndjson-none,ndjson-zstd,csv-gzip,parquet-zstd' },
    share: { type: 'string', default: '1' },
    alone: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)
const RATIO_MAX = 2
const POLL_MS = 500
const USER_QUERIES: readonly string[] = ['newest 100', 'newest 100, two values', 'count by level', 'trace id', 'number by minute']
const say = (text: string) => process.stdout.write(`${text}\n`)

async function measure(): Promise<void> {
  const stand = await openStand(Number(options.events), options.dir)
  say(
    `node bench/exports.ts ${process.argv.slice(2).join(' ')}\n\n${stand.data.lines} events; ${options.alone ? 'nobody searches' : 'one searches all the while'}\n`,
  )
  if (!options.alone) await searches(stand, 2)
  const rows: string[][] = []
  for (const file of options.files.split(',')) rows.push(await measureOne(stand, file))
  printTable(
    [
      'file',
      's',
      'events / s',
      'MB',
      'CPU s of service / engine',
      'service peak MB',
      'p50 ms alone',
      'p50 ms during export',
      'p95 ms alone',
      'p95 ms during export',
      'ratio of p95',
      'met',
    ],
    rows,
  )
  await stand.close()
}

type Export = { export_id: string; status: string; events: number; bytes: number; failure_detail?: string }

async function measureOne(stand: Stand, file: string): Promise<string[]> {
  const [format, compression] = file.split('-')
  const { logId, fromMs, toMs } = stand.place
  const alone = options.alone ? [] : await searches(stand, rounds)
  const cpuBefore = cpuSecondsOf(process.pid)
  const peakOf = watchMemory(stand.service.pid)
  const startedMs = performance.now()
  const order = {
    search_details: { from: [logId], from_ts: fromMs, to_ts: Math.round(fromMs + (toMs - fromMs) * Number(options.share)) },
    format,
    compression,
  }
  let now = (await stand.ask('POST', '/exports', order)) as Export
  const during: number[] = []
  while (now.status !== 'COMPLETE') {
    if (options.alone) await setTimeout(POLL_MS)
    else during.push(...(await searches(stand, 1)))
    now = (await stand.ask('GET', `/exports/${now.export_id}`)) as Export
    if (now.status === 'FAILED') throw new Error(`the export failed: ${now.failure_detail}`)
  }
  const seconds = (performance.now() - startedMs) / 1_000
  const { peaks } = peakOf()
  const cpuAfter = cpuSecondsOf(process.pid)
  const cpuOf = (name: string) => ((cpuAfter.byName.get(name) ?? 0) - (cpuBefore.byName.get(name) ?? 0)).toFixed(1)
  if (!options.alone) alone.push(...(await searches(stand, rounds)))
  await fetch(`${stand.service.url}/exports/${now.export_id}`, {
    method: 'DELETE',
    headers: { 'x-service-api-key': stand.service.key },
  })
  const ratio = p95(during) / p95(alone)
  return [
    file,
    seconds.toFixed(1),
    (now.events / seconds).toFixed(0),
    (now.bytes / 1e6).toFixed(1),
    `${cpuOf('main.ts')} / ${cpuOf('engine-child.ts')}`,
    (peaks.get('main.ts') ?? Number.NaN).toFixed(0),
    median(alone).toFixed(1),
    median(during).toFixed(1),
    p95(alone).toFixed(1),
    p95(during).toFixed(1),
    ratio.toFixed(2),
    ratio <= RATIO_MAX ? 'yes' : 'NO',
  ]
}

const p95 = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN

/** Runs a mixture of queries repeatedly, one after the other, and returns the duration of each. */
async function searches(stand: Stand, times: number): Promise<number[]> {
  const { logId, fromMs, toMs } = stand.place
  const mixture = queriesFor(stand.place).filter(({ name }) => USER_QUERIES.includes(name))
  const took: number[] = []
  const ask = async ({ body }: BenchmarkQuery): Promise<void> => {
    const startedMs = performance.now()
    await stand.ask('POST', '/search', { from: [logId], from_ts: fromMs, to_ts: toMs, ...body })
    took.push(performance.now() - startedMs)
  }
  for (let round = 0; round < times; round += 1) for (const query of mixture) await ask(query)
  return took
}

if (options.help) say(USAGE)
else await measure()
