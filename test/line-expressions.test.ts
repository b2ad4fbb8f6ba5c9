import type { Filter } from '@dendro/language/tree'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Random, randomFrom } from '../server/src/lines/reference/generated-lines.fixture.ts'
import type { MatchableEvent } from '../server/src/query/matchable-event.ts'
import { matcherOf } from '../server/src/query/matcher.ts'
import { parseFilter } from '../server/src/query/query.ts'
import { isNightly } from './support/nightly.ts'
import { lineOf, openReader, type Reader } from './support/reader.ts'
import { openSendersAlone } from './support/senders.ts'

const latin1 = Buffer.from('2026-09-01 12:00:09 INFO caf\xe9 took 350 ms', 'latin1')
/** Headers with values that end with the beginning of a sentence, and odd characters in words. */
const odd = [
  '2026-09-01 12:00:00 took 350 ms',
  'Sep 01 12:00:01 took 350[77]: ms after all',
  'Sep 01 12:00:01 took 350[350]: 350 ms',
  'Sep 01 12:00:02 took app[took]:  ms',
  '10.0.0.1 - - [01/Sep/2026:12:00:03 +0000] "took 350 ms" 350 12 "took 3" "50 ms"',
  '10.0.0.1 - - [01/Sep/2026:12:00:03 +0000] "GET took 350" 200 12 "-" "ms"',
  '2026-09-01T12:00:04.000Z  WARN\ttook 350 ms \u0001 with a control character',
  '2026-09-01T12:00:05.000Z INFO -- größer, took 350 ms 🦊',
  '2026-09-01 12:00:06,000 ERROR [main] Took 400 MS',
  '<34>1 2026-09-01T12:00:07Z host took 350 - - ms took 350 ms',
  'took 350 ms',
  'level=info msg="took 350 ms" took=350 ms',
]
const json = [
  '{"time":"2026-09-01T12:00:08Z","message":"took 350 ms\\nat \\"home\\"","level":"info"}',
  '{"took":"350 ms","message":"took"}',
  '{"message":"gr\\u00f6\\u00dfer took 350 ms","took 350 ms":1}',
]

const datasets = ['text', 'mixed', 'kinds', 'open']
/** Before a merge, a third of the random expressions are tried, and negation on one dataset; nightly all. */

type Maker = (random: Random) => string
const user: Maker = (random) => random.pick(['root', 'admin', 'deploy', 'guest'])
const clock: Maker = (random) => `12:0${random.below(10)}:${10 + random.below(50)}`
const padded = (random: Random) => `${' '.repeat(1 + random.below(4))}${random.below(32_768)}`
const sentences: readonly Maker[] = [
  (random) => `Failed password for ${random.pick(['', 'invalid user '])}${user(random)} from 10.0.0.${random.below(99)} port 22`,
  (random) => `connect() failed (111: Connection refused) while connecting to "http://10.0.0.${random.below(9)}:8080/took"`,
  (random) => `slow write took ${300 + random.below(300)} ms (threshold 300 ms)`,
  (random) => `upstream timed out after ${random.below(900)} ms, connection refused by ${user(random)}`,
  (random) => `port ${random.below(65_536)}: link is ${random.pick(['up', 'down'])}`,
]
/** Headers of programs, many of which differ only in blanks. */
const programs: readonly Maker[] = [
  (random) => `2026-09-01 ${clock(random)},250 ${random.pick(['INFO', 'WARN'])} [worker-${random.below(9)}] storage - `,
  (random) => `Sep 01 ${clock(random)} node-${random.below(9)} sshd[${random.below(999)}]: `,
  (random) => `Sep 01 ${clock(random)} node-${random.below(9)} kernel: [${random.below(999)}.5] `,
  (random) => `2026/09/01 ${clock(random)} [${random.pick(['error', 'notice'])}] 7#7: *${random.below(99)} `,
  (random) => `09-01 ${clock(random)}.125${padded(random)}${padded(random)} ${random.pick(['D', 'I', 'W'])} PowerManager: `,
  (random) => `I0901 ${clock(random)}.123456    ${1_000 + random.below(900)} prober.go:${random.below(400)}] `,
  (random) => `2026-09-01T${clock(random)}.125Z ${random.pick([' INFO', 'DEBUG'])} 7 --- [exec-${random.below(9)}] Service : `,
  (random) => `[2026-09-01 ${clock(random)},125] WARN [Fetcher id=${random.below(9)}] `,
]
const lineOfProgram: Maker = (random) =>
  random.chance(0.15)
    ? `10.0.0.${random.below(9)} - - [01/Sep/2026:${clock(random)} +0000] "GET /items/${random.below(99)} HTTP/1.1" 200 ${random.below(999)} "${random.pick(['-', 'https://shop.example/'])}" "okhttp/4 took 3${random.below(100)} ms"`
    : random.pick(programs)(random) + random.pick(sentences)(random)

const otherPrograms: readonly Maker[] = [
  (random) => `ts=2026-09-01T${clock(random)}Z level=info msg="cache opened ${random.below(99)}" took=${random.below(99)}ms`,
  (random) =>
    `[0.${100 + random.below(900)}s][info][gc] GC(${random.below(9)}) Pause Young (Normal) (G1 Evacuation Pause) 5M->2M(9M) ${random.below(9)}.5ms`,
  (random) =>
    `[Thu Nov 20 ${clock(random)}.125000 2025] [core:error] [pid ${random.below(99)}] [client 10.0.0.1:80] AH00128: file opened ${random.below(9)}`,
  (random) =>
    `2026-09-01T${clock(random)}Z ERROR Fehler beim \xd6ffnen der Datei index ${random.pick(['opened', 'failed'])} lock ${random.below(9)}`,
  (random) => `2026-09-01T${clock(random)}Z INFO Datei block ${random.pick(['opened', 'closed', 'moved'])} lock ${random.below(9)}\r`,
  (random) => `01-09-2026 ${clock(random)}.125 WARN lock: took ${random.below(9)} ms`,
  (random) => `\x1b[32m${clock(random)}\x1b[0m \x1b[1mINFO\x1b[0m job closed took ${random.below(9)}`,
  (random) => `    2026-09-01T${clock(random)}Z DEBUG key: took ${random.below(500)} ms id=${random.below(9)}`,
]

let reader: Reader
const seen = new Map<string, readonly MatchableEvent[]>()
beforeAll(async () => {
  reader = await openReader(await openSendersAlone())
  const random = randomFrom(1)
  const lines = [...Array.from({ length: 160 }, () => lineOfProgram(random)), ...odd]
  const post = async (dataset: string, body: Buffer) => reader.senders.post(body, { headers: { 'x-service-dataset': dataset } })
  await post('text', Buffer.concat([Buffer.from(`${lines.join('\n')}\n`), latin1]))
  await reader.send('mixed', [...lines.slice(0, 40), ...json, ...odd.slice(0, 8)])
  const others = Array.from({ length: 80 }, () => random.pick(otherPrograms)(random))
  await post('kinds', Buffer.from(`${others.join('\n')}\n`, 'latin1'))
  await reader.send('open', ['{"k":"first"}'])
  await reader.openMaps('open', [''])
  await reader.send('open', [...json, ...lines.slice(-20)])
  for (const dataset of datasets) {
    const { events } = await reader.events([dataset], '', { limit: 10_000 })
    seen.set(
      dataset,
      events.map((event) => ({ ...event, raw: lineOf(event), collection: 'default', dataset })),
    )
  }
})
afterAll(() => reader?.close())

/** The events that the matcher keeps and the search does not, or the reverse. A byte that is not UTF-8 is a character for the matcher alone. */
async function differences(dataset: string, where: string, withOddBytes = false): Promise<readonly unknown[]> {
  const { filter } = parseFilter(where)
  const { events } = await reader.events([dataset], '', { limit: 10_000, keys: [], withRaw: false }, { filter })
  const found = new Set(events.map(({ seq }) => seq))
  const matches = matcherOf(filter)
  return (seen.get(dataset) ?? []).flatMap((event) =>
    found.has(event.seq) === matches(event) || (!withOddBytes && event.raw.includes('\ufffd'))
      ? []
      : [{ dataset, where, line: event.raw, store: found.has(event.seq) }],
  )
}

const quoted = (pattern: string): string => `'${pattern.replaceAll("'", "''")}'`

test.each([
  'took [3-5][0-9]{2} ms',
  '(?i)TOOK [3-5][0-9]{2} ms',
  'took +[0-9]+.? ms',
  'took 350.+ms',
  'caf.* took',
  'Failed password for (invalid user )?(root|admin)',
  '(connection refused|timed out) ',
  'took 350 ms$',
  '^took',
  '\\btook\\b',
  'größer, took',
  '\\[77\\]: ms',
  'host took 350',
  '"took 350 ms" 350',
  '12:00:0[0-9]',
  '(?s)ms.at',
  '[^a]took 350',
  'kernel: .*port [0-9]+',
  '(took )+350',
  '[0-9]:[0-9]',
  'Datei [a-z]+ (opened|closed|failed)',
  'Pause Young .Normal',
])('lines match %s in the store as in the matcher', async (pattern) => {
  const found: unknown[] = []
  for (const dataset of ['text', 'kinds']) {
    found.push(...(await differences(dataset, `@raw ~ ${quoted(pattern)}`)))
    if (isNightly || dataset === 'text') found.push(...(await differences(dataset, `NOT (@raw ~* ${quoted(pattern)} OR level = 'WARN')`)))
  }
  expect(found).toEqual([])
})

test.each(['took [3-5][0-9]{2} ms', '(?i)TOOK [3-5][0-9]{2} MS', 'took|caf'])('lines that are not UTF-8 match %s', async (pattern) => {
  expect(await differences('text', `@raw ~ ${quoted(pattern)}`, true)).toEqual([])
})

test.each(["@raw ~ 'took [3-5][0-9]{2} ms'", "@raw !~ '(?i)TOOK (350|400) ms'", "@raw ~ 'took' AND 'took 3' AND @raw ~ '0+ m'"])(
  'lines of text next to lines of JSON and open maps match %s as in the matcher',
  async (where) => {
    const found: unknown[] = []
    for (const dataset of ['mixed', 'open']) found.push(...(await differences(dataset, where)))
    expect(found).toEqual([])
  },
  120_000,
)

test('lines match expressions that are made from their pieces, across all borders', async () => {
  const ofText = [...(seen.get('text') ?? []), ...(seen.get('kinds') ?? [])].map(({ raw }) => raw)
  const all = ofText.filter((raw) => raw.length > 20 && !raw.includes('\ufffd'))
  const patterns = fc.sample(
    fc
      .tuple(fc.constantFrom(...all), fc.nat(), fc.integer({ min: 5, max: 24 }), fc.array(fc.nat(), { maxLength: 3 }))
      .map(([line, at, length, changes]) => patternFrom([...line], at, length, changes)),
    { numRuns: isNightly ? 24 : 8, seed: 20_261_125 },
  )
  const found: unknown[] = []
  for (const pattern of patterns)
    for (const dataset of ['text', 'kinds']) found.push(...(await differences(dataset, `@raw ~ ${quoted(pattern)}`)))
  expect(found).toEqual([])
})

/** A piece of a line as an expression in which some characters are classes, repeated or optional. */
function patternFrom(line: readonly string[], at: number, length: number, changes: readonly number[]): string {
  const start = at % Math.max(1, line.length - length)
  const pieces = line.slice(start, start + length).map((sign) => (/[\p{L}\p{N} ]/u.test(sign) ? sign : `\\${sign}`))
  for (const change of changes) {
    const place = change % pieces.length
    const sign = pieces[place] ?? ''
    const others = [`[${sign}x]`, `${sign}+`, `${sign}?`, '.', `${sign}*`, `(${sign}|x)`, '\\S', '[^x]']
    pieces[place] = others[change % others.length] ?? ''
  }
  return pieces.join('').replaceAll(/\\\p{Cc}/gu, '.')
}

test('lines of text are matched in their values, not rebuilt', async () => {
  const statements = vi.spyOn(reader.senders.app.app.world.events, 'read')
  const filterOf = (where: string): Filter => parseFilter(where).filter
  await reader.events(['text'], '', {}, { filter: filterOf("@raw ~ 'took [3-5][0-9]{2} ms'") })
  const sent = statements.mock.calls.map(([{ body }]) => Buffer.from(body).toString('latin1'))
  // Candidates are tested first, in blocks of the size that is for them.
  expect(statements.mock.calls.some(([{ settings }]) => settings?.short_circuit_function_evaluation === 'disable')).toBe(true)
  expect(sent.some((body) => body.includes('prewhere'))).toBe(true)
  expect(sent.some((body) => body.includes('arrayStringConcat'))).toBe(false)
  statements.mockRestore()
})
