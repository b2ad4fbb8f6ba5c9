import type { Random } from '../../server/src/lines/reference/generated-lines.fixture.ts'

/** The number of programs that share the dataset. Each has its own header, sentences and names. */
const PROGRAMS = 30
const SENTENCES = 8
const TRACE_SHARE = 0.02
const BINARY_SHARE = 0.01
const BINARY_BYTES_MAX = 200

type Program = { head: (atMs: number, random: Random) => string; sentences: readonly ((random: Random) => string)[]; unit: string }

const words =
  'block cache commit connection consumer disk entry file flush index job key lease lock log message node offset page partition peer queue read record replica request retry segment session shard snapshot socket stream sync table task thread token topic transfer user volume worker write'.split(
    ' ',
  )
const verbs =
  'accepted acquired closed created dropped expired failed finished moved opened received refused released restored sent started stopped stored updated waited'.split(
    ' ',
  )
const levels = ['INFO', 'INFO', 'INFO', 'INFO', 'DEBUG', 'WARN', 'ERROR']
const hex = (random: Random, digits: number): string => Array.from({ length: digits }, () => random.below(16).toString(16)).join('')

const variables: readonly ((random: Random) => string)[] = [
  (random) => String(random.below(10 ** 6)),
  (random) => hex(random, 12),
  (random) => `10.${random.below(8)}.${random.below(256)}.${random.below(256)}:${1_024 + random.below(60_000)}`,
  (random) => `${random.below(10_000) / 100} ms`,
  (random) => `/data/${random.below(12)}/${random.pick(words)}-${random.below(900)}.log`,
  (random) => `"${random.pick(words)} ${random.pick(words)}"`,
]

/** Generates text lines of thirty programs, with stack traces over many lines and occasional binary data. */
export function programLines(random: Random, startMs: number): () => { line: Buffer; timeMs: number } {
  const programs = Array.from({ length: PROGRAMS }, (_, number) => programOf(random, number))
  let timeMs = startMs
  let waiting: string[] = []
  return () => {
    const trace = waiting.shift()
    if (trace !== undefined) return { line: Buffer.from(trace), timeMs }
    timeMs += random.below(5)
    const program = random.pick(programs)
    const text = program.head(timeMs, random) + random.pick(program.sentences)(random)
    if (random.chance(BINARY_SHARE)) return { line: Buffer.concat([Buffer.from(text), binary(random)]), timeMs }
    if (random.chance(TRACE_SHARE)) waiting = stackTrace(random, program)
    return { line: Buffer.from(text), timeMs }
  }
}

function programOf(random: Random, number: number): Program {
  const unit = `${random.pick(words)}-${random.pick(words)}-${number}`
  const heads: Program['head'][] = [
    (atMs, chance) => `${new Date(atMs).toISOString()} ${chance.pick(levels)} ${unit}: `,
    (atMs, chance) =>
      `${new Date(atMs).toISOString().slice(0, 23).replace('T', ' ').replace('.', ',')} [${chance.pick(levels)}] ${unit}[${chance.below(32_768)}] `,
    (atMs) => `[${new Date(atMs).toISOString()}] ${unit} `,
    (atMs, chance) =>
      `${chance.pick(levels)[0]} ${Math.floor(atMs / 1_000)}.${String(atMs % 1_000).padStart(3, '0')} ${unit}#${chance.below(64)} `,
  ]
  const head = heads[number % heads.length] ?? heads[0]
  if (!head) throw new Error('a program needs a header')
  return { head, unit, sentences: Array.from({ length: SENTENCES }, () => sentenceOf(random)) }
}

function sentenceOf(random: Random): (random: Random) => string {
  const parts = Array.from({ length: 2 + random.below(3) }, () => ({
    words: `${random.pick(words)} ${random.pick(verbs)} ${random.pick(words)}`,
    variable: random.pick(variables),
  }))
  return (chance) => parts.map((part) => `${part.words} ${part.variable(chance)}`).join(', ')
}

const stackTrace = (random: Random, { unit }: Program): string[] => [
  `java.lang.IllegalStateException: ${random.pick(words)} ${random.pick(verbs)} ${hex(random, 8)}`,
  ...Array.from(
    { length: 4 + random.below(20) },
    () => `\tat org.example.${unit.replace(/-/g, '.')}.${random.pick(words)}.${random.pick(verbs)}(Source.java:${random.below(900)})`,
  ),
]

const binary = (random: Random): Buffer =>
  Buffer.from(Array.from({ length: 1 + random.below(BINARY_BYTES_MAX) }, () => random.below(256))).map((byte) =>
    byte === 10 || byte === 13 ? 0 : byte,
  ) as Buffer
