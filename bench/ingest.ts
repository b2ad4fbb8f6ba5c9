import { parseArgs } from 'node:util'
import { type DataFile, type DataKind, dataFile, dataKinds, sampledKinds } from './ingest/data.ts'
import { type Limits, limitsOf } from './ingest/limits.ts'
import { type Taken, type TakenSmall, takeFile, takeSmall } from './ingest/measure.ts'
import { dendro, dendroWithRules, type Lag, type System, victoriaLogs } from './ingest/systems.ts'
import { median, printTable } from './stand/service.ts'

/**
 * Ingestion over HTTP, acknowledged and on disk, compared with VictoriaLogs in the same run and with the limits of the file. Each round starts each
 * system on an empty directory, alternating, and sends bodies of 8 MiB over a few connections from a separate process.
 */
const USAGE = `node bench/ingest.ts [--mb N] [--rounds N] [--connections N] [--kinds json,text,…] [--samples DIR] [--victorialogs PATH] [--rules] [--writers [--seconds N]]
  --mb            size of each file of lines (100); files are kept for the next run
  --kinds         which files: json, text, otlp, wide, kubernetes, irregular, programs, real, nested (all; the last two with --samples)
  --samples       a folder with lines/<program>.txt and payloads/<kind>.ndjson, which nobody here wrote: for the kinds real and nested
  --rounds        how often each system takes each file (3); medians are shown
  --connections   posts under way at once (3)
  --victorialogs  a VictoriaLogs program to measure beside; without it the aims that compare with it are not judged
  --rules         instead: the service without ingest rules and with ten
  --writers       instead: 200 writers of 1 to 100 lines, each waiting for its answer, for --seconds (8)`

const WRITERS = 200

/** Goals for every kind of data: minimum speed, maximum CPU and disk as ratios to VictoriaLogs; `packed` is the maximum disk as a ratio to zstd -9. */
const AIMS = { speed: 1.5, cpu: 0.7, disk: 1, packed: 1, serviceCpuSPerGb: 12 }
/** The speed as a geometric mean of all kinds. */
const MEAN_SPEED_AIM = 2
const PEAK_AIM_MB = 1_000
const TREND_AIM = 0.95
const LAG_AIM_MS = 20
const WRITES_AIM = 3
const SMALL_AIMS = { linesPerS: 100_000, p99Ms: 300 }

const { values: options } = parseArgs({
  options: {
    mb: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '3' },
    kinds: { type: 'string' },
    samples: { type: 'string' },
    victorialogs: { type: 'string' },
    rules: { type: 'boolean', default: false },
    writers: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '8' },
    help: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)
const systems: System[] = options.victorialogs === undefined ? [dendro] : [dendro, victoriaLogs(options.victorialogs)]
const say = (text: string) => process.stdout.write(`${text}\n`)

if (options.help) say(USAGE)
else {
  say(`node bench/ingest.ts ${process.argv.slice(2).join(' ')}\n`)
  if (options.writers) await measureWriters()
  else if (options.rules) await measureRules()
  else await measureKinds()
}

/** The kinds of data that are measured. */
function chosenKinds(): readonly DataKind[] {
  const possible = dataKinds.filter((kind) => options.samples !== undefined || !sampledKinds.includes(kind))
  const chosen = options.kinds?.split(',') ?? possible
  return dataKinds.filter((kind) => chosen.includes(kind))
}

/** What ten ingest rules cost, with everything else that ingestion does. */
async function measureRules(): Promise<void> {
  const rows: string[][] = []
  for (const kind of chosenKinds()) {
    const data = await dataFile(kind, Number(options.mb) * 1e6, options.samples)
    const [without, ruled]: [Taken[], Taken[]] = [[], []]
    for (let round = 0; round < rounds; round += 1) {
      without.push(await takeFile(dendro, data, Number(options.connections)))
      ruled.push(await takeFile(dendroWithRules, data, Number(options.connections)))
    }
    const medians = (of: (taken: Taken) => number) => [median(without.map(of)), median(ruled.map(of))] as const
    const [speed, speedRuled] = medians(({ mbPerS }) => mbPerS)
    const [cpu, cpuRuled] = medians(({ cpuSPerGb }) => cpuSPerGb)
    rows.push([
      kind,
      String(data.lines),
      ...[speed, speedRuled].map((one) => one.toFixed(1)),
      (speedRuled / speed).toFixed(2),
      ...[cpu, cpuRuled].map((one) => one.toFixed(1)),
    ])
  }
  printTable(['', 'lines', 'MB/s', 'with ten rules', 'share of the speed (≥ 0.8)', 'CPU s per GB', 'with ten rules'], rows)
}

async function measureKinds(): Promise<void> {
  const measured: Measured[] = []
  for (const kind of chosenKinds()) measured.push(await measureKind(kind))
  const cpuOf = (isSampled: boolean) =>
    measured.filter(({ kind }) => sampledKinds.includes(kind) === isSampled).map(({ cpuSPerGb }) => cpuSPerGb)
  const [own, sampled] = [cpuOf(false), cpuOf(true)]
  if (own.length > 0 && sampled.length > 0) {
    say(`CPU s per GB of sampled data to that of generated data, medians of the kinds: ${(median(sampled) / median(own)).toFixed(2)}`)
  }
  const speeds = measured.map(({ speed }) => speed).filter((speed) => speed !== undefined)
  if (speeds.length === 0) return
  const mean = Math.exp(speeds.reduce((sum, speed) => sum + Math.log(speed), 0) / speeds.length)
  say(`Speed, ratio to VictoriaLogs, geometric mean of ${speeds.length} kinds: ${mean.toFixed(2)} (≥ ${MEAN_SPEED_AIM})`)
}

type Measured = { kind: DataKind; cpuSPerGb: number; speed: number | undefined }

/** The results of one system, one for each round. */
type Row = { system: System; taken: Taken[] }

async function measureKind(kind: DataKind): Promise<Measured> {
  const data = await dataFile(kind, Number(options.mb) * 1e6, options.samples)
  const limits = await limitsOf(data)
  const rows: Row[] = systems.map((system) => ({ system, taken: [] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { system, taken } of rows) taken.push(await takeFile(system, data, Number(options.connections)))
  }
  say(`## ${kind}: ${data.lines} lines, ${(data.bytes / 1e6).toFixed(1)} MB\n`)
  printTable(
    [
      '',
      'MB/s',
      'lines/s',
      'CPU s per GB',
      'later, for indexes',
      'peak MB',
      'disk MB',
      'disk MB merged',
      'written / disk',
      'settled after s',
      'last/first third',
      'event loop delayed p50 / p99 / max, on the processor p99, ms',
      'what was sent',
    ],
    rows.map((row) => figuresOf(row, data)),
  )
  say('')
  printTable(['limit of the file', 'MB/s', 'CPU s per GB', 'MB', 'Dendro stands at'], limitRows(limits, data, rows))
  say('')
  printTable(['aim', 'wanted', 'found', 'met'], aimsOf(rows, limits))
  say(`\nCPU s per GB by process: ${sharesOf(rows, ({ cpuByName }) => cpuByName)}`)
  say(`peak MB by process: ${sharesOf(rows, ({ peaks }) => peaks)}\n`)
  const [ours, theirs] = rows
  if (!ours) throw new Error('no system was measured')
  const speed = theirs && median(ours.taken.map(({ mbPerS }, round) => mbPerS / (theirs.taken[round]?.mbPerS ?? mbPerS)))
  return { kind, cpuSPerGb: middle(ours, ({ cpuSPerGb }) => cpuSPerGb), speed }
}

function middle({ taken }: Row, of: (taken: Taken) => number): number {
  return median(taken.map(of))
}

function figuresOf(row: Row, data: DataFile): string[] {
  const { system, taken } = row
  return [
    system.name,
    middle(row, ({ mbPerS }) => mbPerS).toFixed(1),
    middle(row, ({ linesPerS }) => linesPerS).toFixed(0),
    middle(row, ({ cpuSPerGb }) => cpuSPerGb).toFixed(1),
    middle(row, ({ lateCpuSPerGb }) => lateCpuSPerGb).toFixed(1),
    Math.max(...taken.map(({ peakMb }) => peakMb)).toFixed(0),
    (middle(row, ({ idleBytes }) => idleBytes) / 1e6).toFixed(1),
    (middle(row, ({ mergedBytes }) => mergedBytes) / 1e6).toFixed(1),
    middle(row, ({ writes }) => writes).toFixed(2),
    middle(row, ({ settledS }) => settledS).toFixed(1) + (taken.every(({ isQuiet }) => isQuiet) ? '' : ' (never quiet)'),
    middle(row, ({ trend }) => trend).toFixed(2),
    lagText(taken),
    system.sent(data),
  ]
}

function limitRows({ fast, small, countS }: Limits, { bytes }: DataFile, [ours]: readonly Row[]): string[][] {
  if (!ours) return []
  const speed = middle(ours, ({ mbPerS }) => mbPerS)
  const cpu = middle(ours, ({ cpuSPerGb }) => cpuSPerGb)
  const disk = middle(ours, ({ mergedBytes }) => mergedBytes)
  const packed = [fast, small].map((one) => {
    const cpuSPerGb = one.cpuS / (bytes / 1e9)
    const distance = `${(cpu / cpuSPerGb).toFixed(2)} of its CPU, ${(disk / one.bytes).toFixed(2)} of its size`
    return [`zstd -${one.level}`, (bytes / 1e6 / one.cpuS).toFixed(0), cpuSPerGb.toFixed(1), (one.bytes / 1e6).toFixed(1), distance]
  })
  if (countS === undefined) return packed
  const countSpeed = bytes / 1e6 / countS
  return [...packed, ['wc -l', countSpeed.toFixed(0), '', '', `${(speed / countSpeed).toFixed(3)} of its speed`]]
}

function aimsOf([ours, theirs]: readonly Row[], { small }: Limits): string[][] {
  if (!ours) return []
  const ratio = (of: (taken: Taken) => number) => median(ours.taken.map((taken, round) => of(taken) / of(theirs?.taken[round] ?? taken)))
  const row = (aim: string, wanted: string, found: number, isMet: boolean, isKnown = theirs !== undefined) =>
    isKnown ? [aim, wanted, found.toFixed(2), isMet ? 'yes' : 'NO'] : [aim, wanted, '', 'not measured']
  const speed = ratio(({ mbPerS }) => mbPerS)
  const disk = ratio(({ mergedBytes }) => mergedBytes)
  const cpu = ratio(({ cpuSPerGb }) => cpuSPerGb)
  const packed = middle(ours, ({ mergedBytes }) => mergedBytes) / small.bytes
  const service = middle(ours, ({ cpuByName }) => cpuByName.get('main.ts') ?? Number.NaN)
  const peakMb = Math.max(...ours.taken.map((taken) => taken.peakMb))
  const trend = middle(ours, (taken) => taken.trend)
  const writes = middle(ours, (taken) => taken.writes)
  const lagMs = middle(ours, ({ lag }) => lag?.ownP99Ms ?? Number.NaN)
  return [
    row('speed, ratio to VictoriaLogs', `≥ ${AIMS.speed}`, speed, speed >= AIMS.speed),
    row('CPU, ratio to VictoriaLogs', `≤ ${AIMS.cpu}`, cpu, cpu <= AIMS.cpu),
    row('disk merged, ratio to VictoriaLogs', `≤ ${AIMS.disk}`, disk, disk <= AIMS.disk),
    row(`disk merged, ratio to zstd -${small.level}`, `≤ ${AIMS.packed}`, packed, packed <= AIMS.packed, true),
    row('CPU s per GB of the service itself', `≤ ${AIMS.serviceCpuSPerGb}`, service, service <= AIMS.serviceCpuSPerGb, true),
    row('peak memory, MB', `< ${PEAK_AIM_MB}`, peakMb, peakMb < PEAK_AIM_MB, true),
    row('written, ratio to the disk in use', `≤ ${WRITES_AIM}`, writes, writes <= WRITES_AIM, true),
    row('a turn of the event loop on the processor, p99, ms', `< ${LAG_AIM_MS}`, lagMs, lagMs < LAG_AIM_MS, !Number.isNaN(lagMs)),
    row('last third of the run to the first', `≥ ${TREND_AIM}`, trend, trend >= TREND_AIM, !Number.isNaN(trend)),
  ]
}

/** The distribution of a figure of the last round over the processes of each system. */
function sharesOf(rows: readonly Row[], of: (taken: Taken) => ReadonlyMap<string, number>): string {
  const shares = rows.map(({ system, taken }) => {
    const figures = [...taken.slice(-1).flatMap((last) => [...of(last)])].sort(([, a], [, b]) => b - a)
    return `${system.name}: ${figures.map(([name, figure]) => `${name} ${figure.toFixed(1)}`).join(', ')}`
  })
  return shares.join('; ')
}

/** The delays of the event loop, the median of all rounds. */
function lagText(taken: readonly { lag: Lag | undefined }[]): string {
  const of = (name: keyof Lag) => median(taken.map(({ lag }) => lag?.[name] ?? Number.NaN)).toFixed(0)
  return taken.every(({ lag }) => lag) ? `${of('p50Ms')} / ${of('p99Ms')} / ${of('maxMs')}, ${of('ownP99Ms')}` : ''
}

async function measureWriters(): Promise<void> {
  const data = await dataFile('json', Number(options.mb) * 1e6)
  const rows = systems.map((system) => ({ system, taken: [] as TakenSmall[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { system, taken } of rows) taken.push(await takeSmall(system, data, WRITERS, Number(options.seconds)))
  }
  say(`## ${WRITERS} writers of 1 to 100 lines for ${options.seconds} s\n`)
  printTable(
    [
      '',
      'lines/s',
      'p50 ms',
      'p99 ms',
      'max ms',
      'refused',
      'event loop delayed p50 / p99 / max, on the processor p99, ms',
      'CPU µs per line',
      'peak MB',
      `aims ≥ ${SMALL_AIMS.linesPerS}/s, p99 ≤ ${SMALL_AIMS.p99Ms} ms`,
    ],
    rows.map(({ system, taken }) => {
      const of = (figure: (one: TakenSmall) => number) => median(taken.map(figure))
      const perS = of(({ measuredLines, measuredMs }) => (measuredLines / measuredMs) * 1e3)
      const p99Ms = of((one) => one.p99Ms)
      const isMet = perS >= SMALL_AIMS.linesPerS && p99Ms <= SMALL_AIMS.p99Ms
      return [
        system.name,
        perS.toFixed(0),
        of((one) => one.p50Ms).toFixed(0),
        p99Ms.toFixed(0),
        of((one) => one.maxMs).toFixed(0),
        of((one) => one.refused).toFixed(0),
        lagText(taken),
        of((one) => one.cpuUs).toFixed(1),
        Math.max(...taken.map(({ peakMb }) => peakMb)).toFixed(0),
        isMet ? 'met' : 'NOT MET',
      ]
    }),
  )
}
