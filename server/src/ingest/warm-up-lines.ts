/**
 * Posts of lines in the forms that programs write, in which nothing repeats as it does in a log of one program. They only serve to have the code compiled
 * that reads lines; nothing else depends on what they say.
 */

/** Numbers from a seed, so that every start does the same work. */
function numbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >> 8) % limit
  }
}

type Next = (limit: number) => number

const WORDS = 'request worker closed session cache timeout user retry payment index order queue node started failed upstream'.split(' ')
const LEVELS = ['info', 'INFO', 'warn', 'ERROR', 'debug', 'notice']
const HEX_DIGITS = 8

const pick = <T>(next: Next, items: readonly T[]): T => items[next(items.length)] as T
const hex = (next: Next): string =>
  next(2 ** 23)
    .toString(16)
    .padStart(HEX_DIGITS, '0')
const words = (next: Next, count: number): string => Array.from({ length: count }, () => pick(next, WORDS)).join(' ')
const address = (next: Next): string => `10.${next(256)}.${next(256)}.${next(256)}`

/** The times of lines differ by seconds, from a fixed day on. */
const timeOf = (at: number, next: Next): string => new Date(Date.UTC(2025, 0, 2) + at * 1_000 + next(1_000)).toISOString()

type MakeLine = (at: number, next: Next) => string

const syslog: MakeLine = (at, next) =>
  `Jan  2 ${timeOf(at, next).slice(11, 19)} ${pick(next, WORDS)}-${next(9)} ${pick(next, WORDS)}[${next(30_000)}]: ${words(next, 4)} for ${address(next)} port ${next(60_000)}`
const access: MakeLine = (at, next) =>
  `${address(next)} - - [02/Jan/2025:${timeOf(at, next).slice(11, 19)} +0000] "GET /${words(next, 2).replace(' ', '/')}?id=${next(9_999)} HTTP/1.1" ${200 + next(300)} ${next(90_000)} "-" "curl/8.${next(9)}"`
const plain: MakeLine = (at, next) =>
  `${timeOf(at, next)} ${pick(next, LEVELS)} [${pick(next, WORDS)}-${next(16)}] ${words(next, 5)} in ${next(900)} ms, id ${hex(next)}${hex(next)}`
const bracketed: MakeLine = (at, next) =>
  `[${timeOf(at, next).slice(0, 19).replace('T', ' ')}] [${pick(next, LEVELS)}] ${words(next, 6)}: ${next(1_000)}`
const pairs: MakeLine = (at, next) =>
  `time=${timeOf(at, next)} level=${pick(next, LEVELS)} msg="${words(next, 4)} \\"${pick(next, WORDS)}\\"" user=${next(5_000)} took=${next(900)}ms`
const frame: MakeLine = (_, next) => `\tat org.${pick(next, WORDS)}.${pick(next, WORDS)}.run(${pick(next, WORDS)}.java:${next(900)})`

const event: MakeLine = (at, next) =>
  JSON.stringify({
    timestamp: timeOf(at, next),
    level: pick(next, LEVELS),
    service: pick(next, WORDS),
    message: `${words(next, 5)} ${next(100_000)}`,
    trace_id: hex(next) + hex(next) + hex(next) + hex(next),
    status: 200 + next(300),
    duration: next(100_000) / 100,
    ok: next(2) === 0,
    ...(next(3) === 0 ? { ip: address(next), user: { id: next(9_999), name: `é${hex(next)}` } } : {}),
  })
const inner: MakeLine = (at, next) =>
  JSON.stringify({ ts: timeOf(at, next), lvl: pick(next, LEVELS), msg: words(next, 4), n: next(99), data: { k: hex(next) } })

const texts = [syslog, access, plain, bracketed, pairs, frame]
const wrapped: MakeLine = (at, next) =>
  JSON.stringify({
    log: `${pick(next, [...texts, inner, inner])(at, next)}\n`,
    stream: pick(next, ['stdout', 'stderr']),
    app: pick(next, WORDS),
    host: `node-${next(24)}`,
    '@timestamp': timeOf(at, next),
  })

/** An object of other names each time, with lists and objects in it. */
const nested: MakeLine = (at, next) => {
  const value = (depth: number): unknown => {
    const kind = next(depth > 3 ? 5 : 8)
    if (kind < 2) return words(next, 1 + next(4))
    if (kind === 2) return next(100_000)
    if (kind === 3) return pick(next, [true, false, null])
    if (kind === 4) return `https://${pick(next, WORDS)}.example/${hex(next)}`
    if (kind === 5) return Array.from({ length: next(4) }, () => value(depth + 1))
    return Object.fromEntries(Array.from({ length: 2 + next(5) }, () => [pick(next, WORDS), value(depth + 1)]))
  }
  const names = Array.from({ length: 8 }, () => `${pick(next, WORDS)}_${next(40)}`)
  return JSON.stringify({
    '@timestamp': timeOf(at, next),
    action: pick(next, WORDS),
    ...Object.fromEntries(names.map((name) => [name, value(0)])),
  })
}

/** The lines of one dataset each. */
const datasets: readonly MakeLine[] = [event, wrapped, (at, next) => pick(next, texts)(at, next), nested]

/** More hardly makes the first post faster. */
const ROUNDS = 4
const BYTES = 64 * 1024

/** Posts for each of a few datasets, which take turns so that no form is read long before the next. */
export function* warmUpPosts(rounds = ROUNDS, bytes = BYTES): Generator<{ readonly dataset: number; readonly body: Buffer }> {
  let at = 0
  for (let round = 0; round < rounds; round += 1) {
    for (const [dataset, makeLine] of datasets.entries()) {
      const next = numbers(1 + round * datasets.length + dataset)
      const lines: string[] = []
      for (let size = 0; size < bytes; at += 1) {
        const line = makeLine(at, next)
        lines.push(line)
        size += line.length + 1
      }
      yield { dataset, body: Buffer.from(`${lines.join('\n')}\n`) }
    }
  }
}
