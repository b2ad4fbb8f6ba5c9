import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AppliedRule } from '../server/src/ingest-rules/ingest-rules.ts'
import { NO_SOURCES } from '../server/src/ingest-rules/rule-run.ts'
import { randomFrom } from '../server/src/lines/reference/generated-lines.fixture.ts'
import { ruleDrafts } from './ingest/rule-drafts.ts'
import { sampledLines, sampledPayloads } from './ingest/sampled-data.ts'
import { makeLines } from './ingest/shred-data.ts'
import { ARRIVED_MS, splitter } from './ingest/split-posts.ts'
import { median } from './stand/service.ts'

/**
 * Measures how ten ingest rules slow the parsing and splitting of posts, in time on the processor:
 *   node bench/ingest-rules.ts [--logs <folder>] [--samples <folder>] [--kinds service,text,…] [--mb 32] [--rounds 3]
 * `--logs` names a folder of log files, or of CSV files with a number, the parts of each line, and two columns that describe it. Its lines are repeated
 * to the size of the others, since a service does not start again for every megabyte. `--samples` names a folder as sampled-data.ts reads it.
 * The sets of rules take turns; shown are the medians of all rounds.
 */
const { values } = parseArgs({
  options: {
    logs: { type: 'string' },
    samples: { type: 'string' },
    kinds: { type: 'string' },
    mb: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '3' },
  },
})
const POST_BYTES = 1_000_000

const tenRules: readonly AppliedRule[] = ruleDrafts.map((draft, at) => ({ id: String(at + 1), position: at + 1, version: 1, ...draft }))

/** Whole posts of lines. */
function postsOf(bytes: Buffer): Buffer[] {
  const posts: Buffer[] = []
  for (let start = 0; start < bytes.length; ) {
    const cut = start + POST_BYTES >= bytes.length ? bytes.length : bytes.lastIndexOf(10, start + POST_BYTES) + 1
    posts.push(bytes.subarray(start, cut))
    start = cut
  }
  return posts
}

type Split = ReturnType<typeof splitter>

function splitterWith(rules: readonly AppliedRule[] | undefined, posts: readonly Buffer[]): Split {
  const split = splitter(rules && { rules, sources: NO_SOURCES, collection: 'default', dataset: 'default' })
  // The first post decides about the layout.
  for (const post of posts.slice(0, 2)) split(Buffer.from(post))
  return split
}

function measure(posts: readonly Buffer[], split: Split): number {
  const copies = posts.map((post) => Buffer.from(post))
  const started = process.threadCpuUsage()
  for (const post of copies) split(post)
  const { user, system } = process.threadCpuUsage(started)
  return (user + system) / 1_000
}

/** The lines of log files; of CSV files the values between the first column, a number, and the last two, which a person has added. */
function logLines(folder: string): Buffer {
  const lines = readdirSync(folder).flatMap((name) => {
    const rows = readFileSync(join(folder, name), 'utf8').split('\n')
    if (!name.endsWith('.csv')) return name.endsWith('.log') ? rows : []
    return rows.slice(1).map((row) => (row.match(/"(?:[^"]|"")*"|[^,]+/g) ?? []).slice(1, -2).join(' '))
  })
  const once = Buffer.from(`${lines.filter((line) => line !== '').join('\n')}\n`)
  return Buffer.concat(Array.from({ length: Math.ceil(bytesMax / once.length) }, () => once))
}

function sampled(next: () => { readonly line: string }): Buffer {
  const lines: string[] = []
  for (let bytes = 0; bytes < bytesMax; ) {
    const { line } = next()
    lines.push(line)
    bytes += Buffer.byteLength(line) + 1
  }
  return Buffer.from(`${lines.join('\n')}\n`)
}

const bytesMax = Number(values.mb) * 2 ** 20
const { samples } = values
const data: Record<string, () => Buffer> = {
  service: () => makeLines('service', bytesMax),
  wide: () => makeLines('wide', bytesMax),
  text: () => makeLines('text', bytesMax),
  ...(values.logs === undefined ? {} : { logs: () => logLines(values.logs as string) }),
  ...(samples !== undefined && {
    real: () => sampled(sampledLines(samples, randomFrom(1), ARRIVED_MS)),
    nested: () => sampled(sampledPayloads(samples, randomFrom(1), ARRIVED_MS)),
  }),
}

for (const [kind, make] of Object.entries(data)) {
  if (values.kinds !== undefined && !values.kinds.split(',').includes(kind)) continue
  const bytes = make().subarray(0, bytesMax)
  const lines = bytes.toString('latin1').split('\n').length
  const posts = postsOf(bytes)
  const sets = Object.entries({ none: undefined, ten: tenRules, redaction: tenRules.slice(0, 5), filters: tenRules.slice(5) }).map(
    ([name, rules]) => ({ name, split: splitterWith(rules, posts), figures: [] as number[] }),
  )
  // Alternately, so that the load of the machine meets all alike.
  for (let round = 0; round < Number(values.rounds); round += 1) for (const { split, figures } of sets) figures.push(measure(posts, split))
  const baseMs = median(sets[0]?.figures ?? [])
  for (const { name, figures } of sets) {
    const ms = median(figures)
    const perLine = ((ms * 1_000) / lines).toFixed(2)
    process.stdout.write(
      `${kind.padEnd(7)} ${name.padEnd(10)} ${perLine} µs a line, ${(ms / 1e3 / (bytes.length / 1e9)).toFixed(1)} CPU s/GB, ${(baseMs / ms).toFixed(2)} of the speed without\n`,
    )
  }
}
