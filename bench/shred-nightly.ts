import { compareTexts, compareWrappedLines } from '../server/src/ingest/intake/text-lines.fixture.ts'
import { compareFamilies, compareHostileLines } from '../server/src/lines/reference/equals-reference.fixture.ts'

/**
 * The shredder held to the reference on as many lines as are asked for, a quarter of them hostile, and a quarter each JSON, text and text in JSON as programs and shippers write them. Every case has a seed,
 * which is printed when it fails, and which alone makes it again.
 * node bench/shred-nightly.ts [lines] [first seed]
 */
const [lines = 1_000_000, firstSeed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number)
const HOSTILE_LINES = 20
const BLOCKS = 4
const FAMILY_LINES = 40
const SAY_EVERY_MS = 10_000

const startedMs = performance.now()
let saidMs = startedMs
let done = 0
for (let seed = firstSeed; done < lines; seed += 1) {
  try {
    for (let part = 0; part < (BLOCKS * FAMILY_LINES) / HOSTILE_LINES; part += 1) compareHostileLines(seed * 8 + part, HOSTILE_LINES)
    compareFamilies(seed, BLOCKS, FAMILY_LINES)
    compareTexts(seed, BLOCKS, FAMILY_LINES)
    compareWrappedLines(seed, BLOCKS, FAMILY_LINES)
  } catch (cause) {
    throw new Error(`the shredder and the reference differ at seed ${seed}: node bench/shred-nightly.ts 1 ${seed}`, { cause })
  }
  done += 4 * BLOCKS * FAMILY_LINES
  if (performance.now() - saidMs > SAY_EVERY_MS) {
    saidMs = performance.now()
    process.stdout.write(`${done} lines\n`)
  }
}
const seconds = (performance.now() - startedMs) / 1_000
process.stdout.write(`${done} lines from seed ${firstSeed}: all rows equal, ${seconds.toFixed(0)} s\n`)
