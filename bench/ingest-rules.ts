import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { IngestAction } from '@dendro/api'
import type { AppliedRule } from '../server/src/ingest-rules/ingest-rules.ts'
import { makeLines } from './ingest/shred-data.ts'
import { splitter } from './ingest/split-posts.ts'

/**
 * Measures how ten ingest rules slow the parsing and splitting of posts, in time on the processor:
 *   node bench/ingest-rules.ts [--logs <folder>] [--mb 32]
 * `--logs` names a folder of log files, or of CSV files with a number, the parts of each line, and two columns that describe it.
 */
const { values } = parseArgs({ options: { logs: { type: 'string' }, mb: { type: 'string', default: '32' } } })
const POST_BYTES = 1_000_000
const ROUNDS = 3

const rule = (id: number, where: string, action: IngestAction): AppliedRule => ({ id: String(id), version: 1, where, action })
const redact = (action: Partial<Extract<IngestAction, { type: 'REDACT' }>>): IngestAction => ({
  type: 'REDACT',
  kinds: [],
  expressions: [],
  replacement: '[REDACTED]',
  ...action,
})

const tenRules: readonly AppliedRule[] = [
  rule(1, '', redact({ kinds: ['CARD_NUMBER'] })),
  rule(2, '', redact({ kinds: ['EMAIL'] })),
  rule(3, '', redact({ kinds: ['TOKEN', 'SECRET_KEY'] })),
  rule(4, '', redact({ expressions: [{ pattern: 'password=[^ &"]+', ignore_case: true }] })),
  rule(5, '', redact({ expressions: [{ pattern: 'ssn:? \\d{3}-\\d{2}-\\d{4}', ignore_case: false }] })),
  rule(6, "level = 'debug'", { type: 'DROP' }),
  rule(7, "'healthcheck'", { type: 'DROP' }),
  rule(8, "path = '/metrics' AND status = 200", { type: 'DROP' }),
  rule(9, "service = 'noisy'", { type: 'SAMPLE', keep: 0.1, key: 'trace_id' }),
  rule(10, "level = 'trace' OR logger LIKE 'org.noise.%'", { type: 'SAMPLE', keep: 0.5 }),
]

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

function measure(posts: readonly Buffer[], rules: readonly AppliedRule[] | undefined): number {
  const split = splitter(rules && { rules, collection: 'default', dataset: 'default' })
  // The first post decides about the layout.
  for (const post of posts.slice(0, 2)) split(Buffer.from(post))
  const copies = posts.map((post) => Buffer.from(post))
  const started = process.cpuUsage()
  for (const post of copies) split(post)
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1_000
}

/** The lines of log files; of CSV files the values between the first column, a number, and the last two, which a person has added. */
function logLines(folder: string): Buffer {
  const lines = readdirSync(folder).flatMap((name) => {
    const rows = readFileSync(join(folder, name), 'utf8').split('\n')
    if (!name.endsWith('.csv')) return name.endsWith('.log') ? rows : []
    return rows.slice(1).map((row) => (row.match(/"(?:[^"]|"")*"|[^,]+/g) ?? []).slice(1, -2).join(' '))
  })
  return Buffer.from(lines.filter((line) => line !== '').join('\n'))
}

const bytesMax = Number(values.mb) * 2 ** 20
const data: Record<string, () => Buffer> = {
  service: () => makeLines('service', bytesMax),
  wide: () => makeLines('wide', bytesMax),
  text: () => makeLines('text', bytesMax),
  ...(values.logs === undefined ? {} : { logs: () => logLines(values.logs as string) }),
}

for (const [kind, make] of Object.entries(data)) {
  const bytes = make().subarray(0, bytesMax)
  const lines = bytes.toString('latin1').split('\n').length
  const posts = postsOf(bytes)
  const sets = { none: undefined, ten: tenRules, redaction: tenRules.slice(0, 5), filters: tenRules.slice(5) }
  const best = Object.fromEntries(Object.keys(sets).map((name) => [name, Number.POSITIVE_INFINITY]))
  // Alternately, so that the load of the machine meets all alike.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, rules] of Object.entries(sets)) best[name] = Math.min(best[name] as number, measure(posts, rules))
  }
  const baseMs = best.none as number
  for (const [name, ms] of Object.entries(best)) {
    const perLine = ((ms * 1_000) / lines).toFixed(2)
    process.stdout.write(
      `${kind.padEnd(6)} ${name.padEnd(10)} ${perLine} µs a line, ${(bytes.length / ms / 1_048).toFixed(0)} MB/s, ${(baseMs / ms).toFixed(2)} of the speed without\n`,
    )
  }
}
