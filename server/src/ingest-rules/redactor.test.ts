import { type RedactedKind, redactedKinds } from '@dendro/api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readValues } from '../lines/reference/reference.ts'
import { searchFor } from '../lines/search/literal-search.ts'
import { Redactor } from './redactor.ts'
import { SearchedText } from './searched-text.ts'

const redactor = (kinds: readonly RedactedKind[], expressions: { pattern: string; ignore_case: boolean }[] = []): Redactor =>
  new Redactor({ type: 'REDACT', kinds: [...kinds], expressions, replacement: '#' })

const line = (by: Redactor, text: string): string => Buffer.from(by.line(Buffer.from(text)).line).toString('utf8')

describe('card numbers', () => {
  test.each([
    ['4111111111111111', '#'],
    ['a 4111-1111-1111-1111, b', 'a #, b'],
    ['1764000000 4111 1111 1111 1111', '1764000000 #'],
    ['amex 3782 822463 10005.', 'amex #.'],
    ['mastercard=5555555555554444', 'mastercard=#'],
    ['2223003122003222', '#'],
    ['4111111111111112', '4111111111111112'],
    ['1764286200123456789', '1764286200123456789'],
    ['0.4111111111111111', '0.4111111111111111'],
    ['id4111111111111111', 'id4111111111111111'],
    ['41111111111111110000000', '41111111111111110000000'],
    ['4111  1111  1111  1111', '4111  1111  1111  1111'],
    ['4222 2222 2222 2', '#'],
    ['4111 11 1111111111', '4111 11 1111111111'],
    ['2026-11-27 22:50:01 1234-5678', '2026-11-27 22:50:01 1234-5678'],
  ])('%s', (text, redacted) => {
    expect(redactor(['CARD_NUMBER']).text(text)).toBe(redacted)
  })
})

describe('e-mail addresses', () => {
  test.each([
    ['ann.lee+x@mail.example.org', '#'],
    ['user=ann@example.org, <bob@example.org>', 'user=#, <#>'],
    ['mailto:ann@example.org.', 'mailto:#.'],
    ['jürgen@exämple.org', '#'],
    ['a@b@example.org', 'a@#'],
    ["to mary.o'neil@example.org, d'Arc@example.org", 'to #, #'],
    ["mail='ann@example.org' N'ann@example.org' '@example.org o''@example.org", "mail='#' N'#' '@example.org o''@example.org"],
    ['root@host @example.org a@ b@c a@b.1', 'root@host @example.org a@ b@c a@b.1'],
  ])('%s', (text, redacted) => {
    expect(redactor(['EMAIL']).text(text)).toBe(redacted)
  })
})

const WEB_TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'

describe('tokens', () => {
  test.each([
    ['Authorization: Bearer abc.DEF-123~x/y+z==', 'Authorization: Bearer #'],
    ['basic dXNlcjpwYXNz', 'basic #'],
    ['Basic Authentication failed', 'Basic Authentication failed'],
    ['Basic dXNlcjpwYXNzd29yZDE=', 'Basic #'],
    [`jwt=${WEB_TOKEN};`, 'jwt=#;'],
    ['the bearer accepted it, token refreshed', 'the bearer accepted it, token refreshed'],
    ['eyJ.eyJ.', 'eyJ.eyJ.'],
  ])('%s', (text, redacted) => {
    expect(redactor(['TOKEN']).text(text)).toBe(redacted)
  })
})

describe('secret keys', () => {
  test.each([
    ['key AKIAIOSFODNN7EXAMPLE.', 'key #.'],
    ['AKIAIOSFODNN7EXAMPLEX', 'AKIAIOSFODNN7EXAMPLEX'],
    [`xghp_${'a'.repeat(36)} ghp_${'a'.repeat(36)}`, `xghp_${'a'.repeat(36)} #`],
    [`aws_secret_access_key = ${'aB3/'.repeat(10)}`, 'aws_secret_access_key = #'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest', '#\nrest'],
    ['-----BEGIN PRIVATE KEY----- cut', '#'],
    ['-----BEGIN CERTIFICATE-----', '-----BEGIN CERTIFICATE-----'],
  ])('%s', (text, redacted) => {
    expect(redactor(['SECRET_KEY']).text(text)).toBe(redacted)
  })

  test('a secret that its key names in a JSON line', () => {
    const secret = 'aB3/'.repeat(10)
    expect(line(redactor(['SECRET_KEY']), `{"aws_secret_access_key":"${secret}"}`)).toBe('{"aws_secret_access_key":"#"}')
  })
})

test.each<[string, RedactedKind, string, string]>([
  ['a card at the beginning of a line', 'CARD_NUMBER', 'paid by\n4111 1111 1111 1111', 'paid by\n#'],
  ['a token behind a tab', 'TOKEN', 'Authorization: Bearer\tabc.DEF-123~x/y+z==', 'Authorization: Bearer\t#'],
  ['an address at the beginning of a line', 'EMAIL', 'from\r\nann@example.org', 'from\r\n#'],
  ['a key at the beginning of a line', 'SECRET_KEY', 'key\nAKIAIOSFODNN7EXAMPLE', 'key\n#'],
])('%s is found behind an escape, also in JSON within a text', (_, kind, text, redacted) => {
  const by = redactor([kind])
  const inner = (value: string) => JSON.stringify({ inner: value })
  for (const write of [(value: string) => value, inner, (value: string) => inner(inner(value))]) {
    const json = Buffer.from(JSON.stringify({ message: write(text) }))
    const search = searchFor([by.hint.literals ?? []])
    expect(search?.lists(json)).not.toBe(0)
    expect(by.hint.test(new SearchedText(json.toString()))).toBe(true)
    expect(line(by, json.toString())).not.toContain(text.split(/\s/).at(-1))
  }
  expect(JSON.parse(line(by, JSON.stringify({ message: text })))).toEqual({ message: redacted })
})

const SECRET = 'ann@example.org'
/** Ways to write a text: as it is, with escapes of JSON, and as a value of JSON inside a text. */
const written = fc
  .tuple(fc.constantFrom(SECRET, `by ${SECRET}.`, `x\n${SECRET}`), fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), fc.nat(2))
  .map(([text, escapes, depth]) => {
    let body = [...text]
      .map((char, at) => (escapes[at] ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : JSON.stringify(char).slice(1, -1)))
      .join('')
    for (let level = 0; level < depth; level += 1) body = JSON.stringify(`{"inner":"${body}"}`).slice(1, -1)
    return body
  })
const plainText = fc.string({ unit: fc.constantFrom('a', '1', ' ', 'é', ':', '.') })
const values = fc.oneof(
  written.map((body) => `"${body}"`),
  plainText.map((text) => JSON.stringify(text)),
  fc.constantFrom('1', '4111111111111111', 'true', 'null', '[]', '{}'),
)
const objects = fc
  .array(fc.tuple(fc.oneof(written, plainText), values), { maxLength: 5 })
  .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(', ')}}`)

const arrival = { at: { ms: Date.UTC(2026, 10, 27), ns: 0 }, attributes: [], origin: '', post: 0n }

test('no value of a redacted JSON line contains the secret, the line stays JSON, and other values stay', () => {
  const by = redactor(redactedKinds)
  fc.assert(
    fc.property(objects, (json) => {
      const after = line(by, json)
      expect(() => JSON.parse(after)).not.toThrow()
      expect(`${after} ${[...readValues(Buffer.from(after), arrival, {}).leaves].join()}`).not.toContain(SECRET)
      expect(after).not.toContain('4111111111111111')
      expect(line(by, after)).toBe(after)
    }),
  )
})

test('a line without anything to replace is the same object, whatever it contains', () => {
  const by = redactor(redactedKinds, [{ pattern: '^never$', ignore_case: true }])
  for (const text of ['', '{', '{}', '{"a":"b\\n","c":[1,{"d":null}]}', '[1]', 'plain \\ text', '\u0000', '{"a":"\\ud800"}']) {
    const bytes = Buffer.from(text)
    expect(by.line(bytes).line).toBe(bytes)
  }
  const bytes = Buffer.from([0xff, 0xfe, 0x7b])
  expect(by.line(bytes).line).toBe(bytes)
})

/** Far more than a linear search takes, and far less than one whose time grows with the square of the length. */
const CPU_MS_MAX = 30_000

/** The CPU time of this thread: other programs have no part in it. */
function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

describe('own expressions', () => {
  test('match each value of a JSON line by itself', () => {
    const by = redactor([], [{ pattern: '^a+$', ignore_case: true }])
    expect(line(by, '{"x":"AAA","y":"AAAb","n":1}')).toBe('{"x":"#","y":"AAAb","n":1}')
  })

  test('many matches in a long text are all replaced, and the time stays linear', () => {
    const by = redactor([], [{ pattern: 'a[^b]*b|a', ignore_case: false }])
    const spentMs = cpuMsOf(() => expect(by.text('a'.repeat(100_000))).toMatch(/^#+$/))
    expect(spentMs).toBeLessThan(CPU_MS_MAX)
  })
})

test.each([
  ['dots and at signs', 'a@a.'],
  ['web tokens that are none', 'eyJ-'],
  ['keys that are none', 'sk-'],
  ['digits', '4111 '],
  ['escapes', '\\u0040'],
  ['blanks', 'bearer    '],
])('the time is linear for a long text of %s', (_, unit) => {
  const by = redactor(redactedKinds)
  const bytes = Buffer.from(unit.repeat(1_000_000 / unit.length))
  expect(cpuMsOf(() => by.line(bytes))).toBeLessThan(CPU_MS_MAX)
})
