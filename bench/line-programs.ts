import { parseArgs } from 'node:util'
import { warmUp } from '../server/src/ingest/warm-up.ts'
import { randomFrom } from '../server/src/lines/reference/generated-lines.fixture.ts'
import { programNames, programSamples, sampledLines, sampledPayloads } from './ingest/sampled-data.ts'
import { ARRIVED_MS, splitter } from './ingest/split-posts.ts'
import { median, printTable } from './stand/service.ts'

/**
 * CPU seconds for each GB of sampled lines (`sampled-data.ts`) that a worker turns into blocks, in one thread: all programs mixed, nested objects, and
 * then each program alone, as quantiles over the programs. "First" is the first post after the start of the process, with what the layout of the dataset learns
 * from it; `--prepared` reads the lines first that a worker of the service reads when it starts.
 */
const USAGE = 'node bench/line-programs.ts --samples DIR [--posts N] [--prepared]'
const POST_BYTES = 4 * 2 ** 20
const PROGRAM_BYTES = 400_000
const ROUNDS = 3
const DAY_MS = 86_400_000
const QUANTILES = [0.1, 0.5, 0.75, 0.9, 1]
/** The worst kind to the median kind. */
const WORST_AIM = 3
const FIRST_AIM = 2

const { values: options } = parseArgs({
  options: { samples: { type: 'string' }, posts: { type: 'string', default: '10' }, prepared: { type: 'boolean', default: false } },
})
if (options.samples === undefined) process.stdout.write(`${USAGE}\n`)
else measure(options.samples)

function measure(samples: string): void {
  if (options.prepared) for (const _ of warmUp());
  const mixed = sampledLines(samples, randomFrom(1), ARRIVED_MS - DAY_MS)
  const nested = sampledPayloads(samples, randomFrom(1), ARRIVED_MS - DAY_MS)
  const split = splitter()
  const rows = [seriesRow('all programs, wrapped', split, () => mixed().line), seriesRow('nested objects', splitter(), () => nested().line)]
  process.stdout.write(`node bench/line-programs.ts ${process.argv.slice(2).join(' ')}\n\n`)
  printTable(['lines', 'first 4 MB, CPU s/GB', 'later, CPU s/GB', `first / later (≤ ${FIRST_AIM})`], rows)
  const kinds = programNames(samples).map((name) => ({ name, cpu: cpuOfProgram(samples, name, split) }))
  kinds.sort((a, b) => a.cpu - b.cpu)
  const at = (quantile: number) => kinds[Math.min(kinds.length - 1, Math.floor(quantile * kinds.length))]
  const worst = kinds.at(-1)
  const middle = at(0.5)?.cpu ?? Number.NaN
  process.stdout.write('\n')
  printTable(
    ['programs', ...QUANTILES.map((quantile) => `${quantile * 100} %`), `worst / median (≤ ${WORST_AIM})`],
    [
      [
        `${kinds.length}`,
        ...QUANTILES.map((quantile) => (at(quantile)?.cpu ?? Number.NaN).toFixed(1)),
        ((worst?.cpu ?? 0) / middle).toFixed(1),
      ],
    ],
  )
  process.stdout.write(
    `\nThe slowest: ${kinds
      .slice(-8)
      .map(({ name, cpu }) => `${name} ${cpu.toFixed(0)}`)
      .join(', ')}\n`,
  )
}

type Split = (body: Buffer) => unknown

function seriesRow(name: string, split: Split, next: () => string): string[] {
  const figures = Array.from({ length: Number(options.posts) }, () => cpuOf(split, bodyOf(next, POST_BYTES)))
  const [first = Number.NaN, ...later] = figures
  return [name, first.toFixed(1), median(later).toFixed(1), (first / median(later)).toFixed(1)]
}

function cpuOfProgram(samples: string, name: string, split: Split): number {
  const next = programSamples(samples, name, randomFrom(1), ARRIVED_MS)
  return Math.min(...Array.from({ length: ROUNDS }, () => cpuOf(split, bodyOf(next, PROGRAM_BYTES))))
}

function bodyOf(next: () => string, bytesMin: number): Buffer {
  const lines: string[] = []
  for (let bytes = 0; bytes < bytesMin; ) {
    const line = next()
    lines.push(line)
    bytes += line.length + 1
  }
  return Buffer.from(`${lines.join('\n')}\n`)
}

function cpuOf(split: Split, body: Buffer): number {
  const { length } = body
  const before = process.threadCpuUsage()
  split(body)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e6 / (length / 1e9)
}
