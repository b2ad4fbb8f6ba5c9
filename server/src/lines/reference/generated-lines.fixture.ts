/**
 * Generates lines for tests and measurements from a seed, so that a failing line can be reproduced. Hostile lines try to break the
 * shredder. Families are runs of lines with few shapes, as programs write them.
 */
export type Random = { below(limit: number): number; chance(share: number): boolean; pick<T>(items: readonly T[]): T }

export function randomFrom(seed: number): Random {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: (share) => next() < share,
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
  }
}

/** JSON that keeps the order and repetition of keys. A word is a number, true, false or null as written. */
export type JsonTree = { word: string } | { text: string } | { items: JsonTree[] } | { pairs: [name: string, value: JsonTree][] }

const NAMES = 'a b a.b level msg message timestamp ts time status user id http x y z key.0 body event log n é $a @t'.split(' ')
const ODD_NAMES = [
  '',
  '_',
  '$ingest.original_time',
  'a"b',
  'a\\b',
  'a\nb',
  '\0',
  '\ud800',
  '😀',
  '__proto__',
  'constructor',
  'a b',
  '\x7f',
  '\u0085',
  'x'.repeat(300),
]
const TEXTS = [
  '',
  'ok',
  'info',
  'ERROR',
  'warn',
  'GET /index.html',
  'héllo',
  '日本語',
  '😀😁',
  'say "hi"',
  'C:\\dir\\new',
  'line\nbreak\ttab',
  'a&b<c>',
]
const ODD_TEXTS = [
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00y',
  '\x01s0\x02',
  '\x01',
  '\x1f\x7f',
  '\u2028',
  '\ufeff',
  '\x08\f',
  'null',
  '\ufffd',
  'q'.repeat(700),
]
const WORDS = [
  '0',
  '1',
  '-0',
  '21.0',
  '1.50',
  '1e5',
  '1E+400',
  '12345678901234567890',
  '0.1',
  'true',
  'false',
  'null',
  '-12.5e-3',
  '500',
  '30',
]
const TIMES = [
  '2024-05-01T10:20:30Z',
  '2024-05-01T10:20:30.123Z',
  '2024-05-01 10:20:30,123456+02:00',
  '2024-05-01T10:20:30.1200Z',
  '2024-05-01T10:20:30.12',
  '1999-05-01T10:20:30Z',
  '2024-02-30T10:20:30Z',
  '2023-12-31T23:59:60Z',
  'Wed, 01 May 2024 10:20:30 +0200',
  '1714558830',
  '1714558830.5',
  '1714558830123',
  'yesterday',
]
const NUMBER_TIMES = [
  '1714558830',
  '1714558830123',
  '1714558830123456',
  '1714558830123456789',
  '1714558830.25',
  '17145588301.5',
  '1.7145588e9',
  '12',
  '99999999999999',
]

export function tree(random: Random, depth = 0): JsonTree {
  const kind = random.below(depth > 5 ? 6 : 10)
  if (kind < 3) return { text: random.chance(0.2) ? random.pick(ODD_TEXTS) : random.chance(0.2) ? random.pick(TIMES) : random.pick(TEXTS) }
  if (kind < 6) return { word: random.chance(0.2) ? random.pick(NUMBER_TIMES) : random.pick(WORDS) }
  if (kind < 7) return { items: many(random, 4, () => tree(random, depth + 2)) }
  return object(random, depth + 1)
}

export function object(random: Random, depth = 0): JsonTree & { pairs: [string, JsonTree][] } {
  return {
    pairs: many(random, depth === 0 ? 8 : 4, () => [random.chance(0.1) ? random.pick(ODD_NAMES) : random.pick(NAMES), tree(random, depth)]),
  }
}

const many = <T>(random: Random, limit: number, make: () => T): T[] => Array.from({ length: random.below(limit + 1) }, make)

/** How a program writes JSON. */
export type Style = { space: () => string; encode: (text: string) => string }

const hex = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
const plain = (text: string) => JSON.stringify(text).slice(1, -1)
export const encoders: readonly ((text: string) => string)[] = [
  plain,
  (text) => plain(text).replace(/[^ -~]/g, hex),
  (text) => plain(text).replace(/[<>&\u2028\u2029]/g, hex),
  (text) => plain(text).replaceAll('/', '\\/'),
  (text) => plain(text).replace(/[^ -~]/g, (char) => hex(char).toUpperCase().replace('U', 'u')),
]

export function style(random: Random): Style {
  const spaced = random.chance(0.2)
  const encode = random.chance(0.6) ? plain : random.pick(encoders)
  return { space: () => (spaced && random.chance(0.5) ? random.pick([' ', '  ', '\t', '\r\n']) : ''), encode }
}

export function write(value: JsonTree, { space, encode }: Style): string {
  if ('word' in value) return value.word
  if ('text' in value) return `"${encode(value.text)}"`
  const inner = (body: string[]) => space() + body.join(`${space()},${space()}`) + space()
  if ('items' in value) return `[${inner(value.items.map((item) => write(item, { space, encode })))}]`
  return `{${inner(value.pairs.map(([name, item]) => `"${encode(name)}"${space()}:${space()}${write(item, { space, encode })}`))}}`
}

const SHARDS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\0',
  '\x01',
  '\x02',
  '\x03',
  '\x01s0\x02',
  'null',
  '\\u0000',
  '\\ud83d',
  '\\u00e9',
  '\\x',
  ' ',
  '\n',
  '{"a":',
  '"b":1,',
]

/** Removes, inserts or changes bytes of a line. */
export function damaged(line: Uint8Array, random: Random): Uint8Array {
  const at = random.below(line.length + 1)
  const end = Math.min(line.length, at + (random.chance(0.5) ? 0 : random.below(6)))
  const shard = random.chance(0.2) ? Buffer.of(random.below(256)) : Buffer.from(random.pick(SHARDS))
  if (random.chance(0.2)) return line.subarray(0, at)
  return Buffer.concat([line.subarray(0, at), shard, line.subarray(end)])
}

/** One line of any kind: JSON in any style, damaged JSON, random bytes, or a very large value. */
export function hostileLine(random: Random): Uint8Array {
  const kind = random.below(100)
  if (kind < 3) return Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256)))
  if (kind < 4) return Buffer.from(bigLine(random))
  const line = Buffer.from(random.pick(['', '', '', '', ' ']) + write(object(random), style(random)) + random.pick(['', '', '', ' ', '\r']))
  return kind < 40 ? damaged(line, random) : line
}

export function bigLine(random: Random, size = 40): string {
  const keys = (count: number, value: string) => Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(',')
  return random.pick([
    `{${keys(size * 30, '1')}}`,
    `{${keys(size, 'null')},"message":"x"}`,
    `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`,
    `{"a":${'['.repeat(size)}${']'.repeat(size)}}`,
    '{"a":'.repeat(size),
    `{"${'k'.repeat(size * 30)}":{"a":1,"b":"x"}}`,
    `{"a":"${'\\u0000'.repeat(size)}","b":"${'x'.repeat(size)}"}`,
    `{"a":1${'0'.repeat(size)}.${'3'.repeat(size)}}`,
  ])
}

/** Writes lines of few shapes with varying values and occasional varying keys. */
export function family(random: Random): () => Uint8Array {
  const base = object(random)
  const how = style(random)
  const vary = (value: JsonTree): JsonTree => {
    if ('text' in value) return { text: random.chance(0.5) ? value.text : random.pick(random.chance(0.05) ? ODD_TEXTS : TEXTS) }
    if ('word' in value) return random.chance(0.5) ? value : { word: random.chance(0.02) ? 'nullx' : random.pick(WORDS) }
    if ('items' in value) return { items: value.items.map(vary) }
    return {
      pairs: value.pairs
        .filter(() => random.chance(0.95))
        .map(([name, item]) => [name, random.chance(0.03) ? tree(random, 4) : vary(item)]),
    }
  }
  return () => {
    const line = Buffer.from(write(vary(base), how))
    return random.chance(0.05) ? damaged(line, random) : line
  }
}
