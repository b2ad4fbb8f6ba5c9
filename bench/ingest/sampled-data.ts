import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../server/src/lines/reference/generated-lines.fixture.ts'

/**
 * Data made of samples that nobody here wrote, so that the benches cannot be fitted to their own generators. The samples are not part of the repository:
 * a folder given by `--samples` holds `lines/<program>.txt`, real log lines of one program each, and `payloads/<kind>.ndjson`, nested JSON objects.
 * The test suites of log parsers have such lines of hundreds of programs, and those of webhook libraries such objects.
 *
 * Numbers and ids of a sample are varied, or a few thousand samples would compress to nothing. Times are left as they are: they stay valid, and the
 * event time comes from the wrapping.
 */
type Line = { line: string; timeMs: number }

const RUN_LINES_MAX = 12
const MS_PER_LINE = 5

/** Lines of all programs in short runs, each wrapped as a shipper of containers sends it. */
export function sampledLines(samples: string, random: Random, startMs: number): () => Line {
  const programs = programNames(samples).map((name) => ({ name, lines: linesOf(join(samples, 'lines', name)) }))
  let timeMs = startMs
  let program = random.pick(programs)
  let host = 'node-1'
  let left = 0
  return () => {
    if (left === 0) {
      program = random.pick(programs)
      host = `node-${1 + random.below(24)}`
      left = 1 + random.below(RUN_LINES_MAX)
    }
    left -= 1
    timeMs += random.below(MS_PER_LINE)
    return { line: wrapped(varied(random.pick(program.lines), random), program.name, host, timeMs, random), timeMs }
  }
}

/** Nested JSON objects with a time. */
export function sampledPayloads(samples: string, random: Random, startMs: number): () => Line {
  const folder = join(samples, 'payloads')
  const payloads = readdirSync(folder).flatMap((file) => linesOf(join(folder, file)))
  let timeMs = startMs
  return () => {
    timeMs += random.below(MS_PER_LINE)
    return { line: `{"@timestamp":"${new Date(timeMs).toISOString()}",${varied(random.pick(payloads), random).slice(1)}`, timeMs }
  }
}

/** The files of lines, one a program. */
export const programNames = (samples: string): string[] => readdirSync(join(samples, 'lines')).sort()

/** Lines of one program, wrapped as a shipper of containers sends them. */
export function programSamples(samples: string, name: string, random: Random, timeMs: number): () => string {
  const lines = linesOf(join(samples, 'lines', name))
  return () => wrapped(varied(random.pick(lines), random), name, 'node-1', timeMs, random)
}

const wrapped = (log: string, program: string, host: string, timeMs: number, random: Random): string =>
  JSON.stringify({
    log,
    stream: random.chance(0.2) ? 'stderr' : 'stdout',
    app: program.replace(/\.txt$/, ''),
    host,
    '@timestamp': new Date(timeMs).toISOString(),
  })

const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')

const VARIABLE = /(\b\d{1,3}\.\d{1,3}\.\d{1,3}\.)\d{1,3}\b|\b[0-9a-f]{8,}\b|\b\d{4,}\b/g
/** A year, a date without separators, or seconds since 1970 and their fractions. */
const TIME = /^(?:(?:19|20)\d\d(?:\d{4})?(?:\d{6})?|1\d{9}(?:\d{3}){0,3})$/
const HEX_DIGITS = '0123456789abcdef'

/** Varies the last bytes of addresses, ids of eight hexadecimal digits and more, and numbers of four digits and more that are no times. */
const varied = (line: string, random: Random): string =>
  line.replace(VARIABLE, (text, network: string | undefined) => {
    if (network !== undefined) return network + String(1 + random.below(254))
    if (TIME.test(text)) return text
    const base = /[a-f]/.test(text) ? 16 : 10
    // The first digit stays, so that a number keeps its length.
    return [...text].map((digit, at) => (at === 0 ? digit : HEX_DIGITS[random.below(base)])).join('')
  })
