import { deepStrictEqual } from 'node:assert'
import { compileGrok } from '../server/src/parsers/grok.ts'
import { type LineReader, withOniguruma, withRe2, withRegExp } from './parsers/grok-by-library.ts'
import { median, printTable } from './stand/service.ts'

/**
 * Code of our own beside libraries, in CPU time of one thread, taken in turn: node bench/by-hand.ts [rounds]
 * Both sides must give the same result.
 */
const [rounds = 5] = process.argv.slice(2).map(Number)
const WARM_ROUNDS = 2
const ROUND_MS = 50
/** A pattern that backtracking takes exponential time for. */
const HOSTILE = '^(?:%{USERNAME:name},?)+$'

process.stdout.write(`node bench/by-hand.ts ${rounds}\n\n`)
grok()

function grok(): void {
  const numbers = Array.from({ length: 200 }, (_, n) => n)
  const access = (n: number) =>
    `10.0.${n}.7 - ada [10/Oct/2026:13:55:36 -0700] "GET /carts/${n}/items HTTP/1.1" 200 ${n} "http://example.org/${n}" "Mozilla/5.0`
  const cases = [
    {
      name: 'syslog',
      pattern: '%{SYSLOGLINE}',
      lines: numbers.map((n) => `Oct 10 13:55:36 web-${n} sshd[${n + 1}]: Accepted publickey for ada from 10.0.0.${n} port 51234 ssh2`),
    },
    { name: 'access log', pattern: '%{COMBINEDAPACHELOG}', lines: numbers.map((n) => `${access(n)} (X11)"`) },
    { name: 'access log without its last quote', pattern: '%{COMBINEDAPACHELOG}', lines: numbers.map(access) },
    {
      name: 'another format, no match',
      pattern: '%{COMBINEDAPACHELOG}',
      lines: numbers.map((n) => `2026-10-10T13:55:36Z INFO cart ${n} was paid by user ${n} after ${n} retries in the region of the sender`),
    },
    { name: 'hostile, 20 characters', pattern: HOSTILE, lines: [`${'a'.repeat(20)}!`] },
    { name: 'hostile, 200 characters', pattern: HOSTILE, lines: [`${'a'.repeat(200)}!`], isEndless: true },
  ]
  const rows = cases.map(({ name, pattern, lines, isEndless = false }) => {
    const peers = [withRe2(pattern), withOniguruma(pattern), ...(isEndless ? [] : [withRegExp(pattern)])]
    const readers = [ours(pattern), ...peers]
    for (const line of lines) for (const reader of peers) deepStrictEqual(reader(line), readers[0]?.(line), name)
    const perSecond = secondsOf(readers.map((reader) => () => lines.map(reader))).map((seconds) => lines.length / seconds)
    const [own = Number.NaN] = perSecond
    const cells = perSecond.map((rate, at) => (at === 0 ? figure(rate) : `${figure(rate)} (${figure(own / rate)})`))
    return [name, ...cells, ...(isEndless ? ['does not end'] : [])]
  })
  printTable(['GROK lines/s (ratio of ours to it)', 'ours', 're2js', 'vscode-oniguruma', 'RegExp'], rows)
}

function ours(pattern: string): LineReader {
  const compiled = compileGrok(pattern)
  return (line) => {
    const result = compiled.read(line, { steps: 10_000_000 })
    if (result.kind === 'given up') throw new Error('gave up')
    return result.kind === 'match' ? result.pairs.map(([name, text]) => [name, text]) : undefined
  }
}

/** Returns the median CPU seconds of each work. Every round takes each in turn, for at least ROUND_MS. */
function secondsOf(works: readonly (() => unknown)[]): number[] {
  const taken = works.map((): number[] => [])
  for (let round = -WARM_ROUNDS; round < rounds; round += 1) {
    for (const [at, work] of works.entries()) {
      const seconds = secondsPerRun(work)
      if (round >= 0) taken[at]?.push(seconds)
    }
  }
  return taken.map(median)
}

function secondsPerRun(work: () => unknown): number {
  const before = process.threadCpuUsage()
  for (let runs = 1; ; runs += 1) {
    work()
    const { user, system } = process.threadCpuUsage(before)
    if (user + system >= ROUND_MS * 1_000) return (user + system) / runs / 1e6
  }
}

function figure(rate: number): string {
  return rate >= 10 ? Math.round(rate).toLocaleString('en') : String(Number(rate.toPrecision(2)))
}
