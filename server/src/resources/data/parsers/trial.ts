import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField } from '../../../kernel/errors.ts'
import { nextStep } from '../../../kernel/steps.ts'
import { builtIns, type LineFormat } from '../../../parsers/built-in.ts'
import type { ParserResult } from '../../../parsers/compiled.ts'
import { compilePattern, typeOfPattern } from '../../../parsers/parsers.ts'
import type { World } from '../../../world.ts'
import { findDataset } from '../datasets/datasets.ts'
import { visibleParsers } from './listing.ts'
import { recentLines } from './recent-lines.ts'

type PatternTest = BodyOf<typeof contract.parsers.test>
type DetectionRequest = BodyOf<typeof contract.parsers.detect>
type Metrics = ReplyOf<typeof contract.parsers.test>['metrics']
type Candidate = ReplyOf<typeof contract.parsers.detect>['candidates'][number]

/** Reads a line in a format that needs no parser; undefined if the line does not match. */
export type FormReader = (form: LineFormat, text: string, at: { ms: number; ns: number }) => Iterable<readonly [string, string]> | undefined
type LineReader = (line: string, fuel: { steps: number }) => ParserResult

/** TRIAL_STEPS bounds the cost of a call; after TURN_MS the event loop gets a turn. */
const TRIAL_STEPS = 20_000_000
const LINE_STEPS = 250_000
const LINE_CHARS_MAX = 32_768
const YIELD_AFTER_MS = 5

/** Tries a pattern on lines; an invalid pattern is rejected with the position of the error. */
export async function testPattern({ pattern, type, lines }: PatternTest): Promise<ReplyOf<typeof contract.parsers.test>> {
  const compiled = compilePattern(type ?? typeOfPattern(pattern), pattern)
  const reads = await readAll((line, fuel) => compiled.read(line, fuel), lines, { steps: TRIAL_STEPS })
  const results = reads.map((read, index) => ({
    raw: lines[index] ?? '',
    matched: read.kind === 'match',
    key_values: Object.fromEntries(read.kind === 'match' ? read.pairs : []),
  }))
  return { metrics: metricsOf(reads), results }
}

/**
 * Tries the built-in formats and the organization's parsers on lines, and recommends the one that matches most lines and yields the most keys.
 * Coverage is the share of characters that end up in values.
 */
export async function detectParser(
  world: Pick<World, 'meta' | 'clock' | 'deployment' | 'events' | 'admission'>,
  actor: Actor,
  { lines: given, log_id }: DetectionRequest,
  { readForm, signal }: { readForm: FormReader; signal: AbortSignal },
): Promise<ReplyOf<typeof contract.parsers.detect>> {
  if ((given === undefined) === (log_id === undefined)) throw badField('lines', 'or log_id is required, but not both', 'ONE_OF')
  const lines = given ?? (await recentLines(world, actor, await findDataset(world, actor, log_id ?? ''), signal))
  const at = { ms: world.clock.nowMs(), ns: 0 }
  const own = await visibleParsers(world, actor)
  const readers: { id: string; read: LineReader }[] = [
    ...builtIns.map(({ id, form }) => ({ id, read: formReader(form, at, readForm) })),
    ...own.map(({ id, type, pattern }) => {
      const compiled = compilePattern(type, pattern)
      return { id, read: (line: string, fuel: { steps: number }) => compiled.read(line, fuel) }
    }),
  ]
  const tank = { steps: TRIAL_STEPS }
  const ranked: (Candidate & { keys: number })[] = []
  for (const { id, read } of readers) {
    const reads = await readAll(read, lines, tank)
    const metrics = metricsOf(reads)
    if (metrics.matched_lines > 0) ranked.push({ parser_id: id, coverage: coverageOf(reads, lines), metrics, keys: keysIn(reads) })
  }
  ranked.sort((a, b) => b.metrics.matched_lines - a.metrics.matched_lines || b.keys - a.keys)
  return {
    recommended_parser_id: ranked[0]?.parser_id ?? '',
    candidates: ranked.map(({ keys: _, ...candidate }) => candidate),
  }
}

const formReader =
  (form: LineFormat, at: { ms: number; ns: number }, readForm: FormReader): LineReader =>
  (line, fuel) => {
    fuel.steps -= line.length
    const pairs = readForm(form, line, at)
    return pairs === undefined ? { kind: 'no match' } : { kind: 'match', pairs: [...pairs] }
  }

/** Yields to the event loop in between; when the step budget is used up, the remaining lines are skipped. */
async function readAll(read: LineReader, lines: readonly string[], tank: { steps: number }): Promise<ParserResult[]> {
  const reads: ParserResult[] = []
  let yieldAtMs = performance.now() + YIELD_AFTER_MS
  for (const line of lines) {
    const fuel = { steps: Math.min(LINE_STEPS, tank.steps) }
    const given = fuel.steps
    reads.push(given <= 0 ? { kind: 'given up' } : read(line.slice(0, LINE_CHARS_MAX), fuel))
    tank.steps -= given - fuel.steps
    if (performance.now() < yieldAtMs) continue
    await nextStep()
    yieldAtMs = performance.now() + YIELD_AFTER_MS
  }
  return reads
}

function metricsOf(reads: readonly ParserResult[]): Metrics {
  const matched = reads.filter(({ kind }) => kind === 'match').length
  return {
    total_lines: reads.length,
    matched_lines: matched,
    error_lines: reads.filter(({ kind }) => kind === 'given up').length,
    match_ratio: reads.length === 0 ? 0 : matched / reads.length,
  }
}

const pairsIn = (reads: readonly ParserResult[]) => reads.flatMap((read) => (read.kind === 'match' ? read.pairs : []))
const keysIn = (reads: readonly ParserResult[]): number => pairsIn(reads).length

function coverageOf(reads: readonly ParserResult[], lines: readonly string[]): number {
  const chars = lines.reduce((sum, line) => sum + line.length, 0)
  const held = pairsIn(reads).reduce((sum, [, text]) => sum + text.length, 0)
  return chars === 0 ? 0 : Math.min(1, held / chars)
}
