import { growLayout } from '../server/src/lines/layout/catalog.ts'
import type { SlotMap } from '../server/src/lines/layout/slots.ts'
import type { Arrival } from '../server/src/lines/reference/event.ts'
import { shred } from '../server/src/lines/reference/reference.ts'
import { observe } from '../server/src/lines/shredder/observe.ts'
import { Shredder } from '../server/src/lines/shredder/shred.ts'
import { makeLines, makers } from './ingest/shred-data.ts'
import { median, printTable } from './stand/service.ts'

/**
 * Megabytes of lines that one core shreds in a second, beside what the platform itself offers, taken in turn in one run and counted in time on the
 * processor. `scan` only looks for the ends of lines; `JSON` parses every line and writes it again.
 * node bench/shred.ts [megabytes] [rounds] [kinds]
 */
const [megabytes = 16, rounds = 5] = process.argv.slice(2, 4).map(Number)
const kinds = process.argv[4]?.split(',') ?? Object.keys(makers)
/** REFERENCE_SHARE of the lines are enough for the slow ones. */
const REFERENCE_SHARE = 0.1
const BLOCK_BYTES = 8 * 2 ** 20
const OBSERVED_BYTES = 2 ** 20

const arrival: Arrival = { at: { ms: Date.UTC(2025, 10, 21), ns: 0 }, attributes: [], origin: '10.0.0.1', post: 0n }
const numbers = { orgId: 1, logId: '00000000-0000-4000-8000-000000000001', firstSeq: 1n }

function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start)
    yield bytes.subarray(start, end)
    start = end + 1
  }
}

function slotsFor(bytes: Buffer): SlotMap {
  const { observed, open } = observe(
    linesOf(bytes.subarray(0, bytes.lastIndexOf(10, OBSERVED_BYTES) + 1)).map((line) => ({ bytes: line, arrival })),
  )
  return growLayout(undefined, { observed, open }, new Map()).map
}

function blocksOf(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.lastIndexOf(10, start + BLOCK_BYTES) + 1
    blocks.push(bytes.subarray(start, end))
    start = end
  }
  return blocks
}

/** Based on CPU time, which other programs affect less than wall time. */
function megabytesPerSecond(bytes: number, work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return bytes / (user + system)
}

function measure(kind: string): string[] {
  const bytes = makeLines(kind, megabytes * 1e6)
  const few = bytes.subarray(0, bytes.indexOf(10, bytes.length * REFERENCE_SHARE) + 1)
  const map = slotsFor(bytes)
  const shredder = new Shredder(map, { random: Math.random })
  let sent = 0
  const ways: Record<string, () => number> = {
    scan: () => megabytesPerSecond(bytes.length, () => [...linesOf(bytes)].length),
    JSON: () => megabytesPerSecond(few.length, () => linesOf(few).forEach((line) => void jsonAgain(line))),
    reference: () => megabytesPerSecond(few.length, () => linesOf(few).forEach((line) => void shred(line, map, arrival))),
    fast: () =>
      megabytesPerSecond(bytes.length, () => {
        for (const block of blocksOf(bytes)) {
          shredder.addLines(block, arrival)
          sent = shredder.flush(numbers).length
        }
      }),
  }
  const figures: Record<string, number[]> = { scan: [], JSON: [], reference: [], fast: [] }
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, work] of Object.entries(ways)) {
      const figure = work()
      if (round > 0) figures[name]?.push(figure)
    }
  }
  const speed = (name: string) => median(figures[name] ?? [])
  return [
    kind,
    ...['scan', 'JSON', 'reference', 'fast'].map((name) => speed(name).toFixed(speed(name) < 100 ? 1 : 0)),
    (speed('fast') / speed('JSON')).toFixed(2),
    (speed('fast') / speed('reference')).toFixed(1),
    `${map.tableClass} ${map.slots.size}`,
    `${shredder.ledger.size} / ${shredder.oddLines} / ${shredder.ledger.failures}`,
    (sent / 1e6).toFixed(1),
  ]
}

function jsonAgain(line: Buffer): number {
  const text = line.toString('utf8')
  return text.startsWith('{') ? JSON.stringify(JSON.parse(text)).length : JSON.stringify(text).length
}

const rows = kinds.map(measure)
process.stdout.write(`node bench/shred.ts ${megabytes} ${rounds}\n\n`)
printTable(
  [
    'lines',
    'scan MB/s',
    'JSON MB/s',
    'reference MB/s',
    'fast MB/s',
    'fast/JSON',
    'fast/ref',
    'class slots',
    'shapes/odd/failed',
    'last block MB',
  ],
  rows,
)
