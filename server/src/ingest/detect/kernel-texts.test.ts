import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptySlotMap, type Slot } from '../../lines/layout/slots.ts'
import { compareTextLines } from '../../lines/reference/equals-reference.fixture.ts'
import type { Arrival } from '../../lines/reference/event.ts'
import { Shredder } from '../../lines/shredder/shred.ts'
import { detect } from './detect.ts'

const AT = { ms: Date.UTC(2026, 10, 21, 12), ns: 0 }
const arrival: Arrival = { at: AT, attributes: [], origin: '', post: 0n }
const map = { ...emptySlotMap('s'), slots: new Map<string, Slot>(Object.entries({ level: 'c0', message: 's0', a: 's1' } as const)) }
const shredder = new Shredder(map, { random: () => 0.5 })

/** Compares texts with the reference, which reads them with `detect`. Returns how many of them only the reference could read. */
function compare(lines: readonly string[], given = arrival): number {
  const before = shredder.oddLines
  const texts = lines.filter((line) => line !== '' && !/^[\0-\x20]*\{/.test(line))
  compareTextLines(
    shredder,
    texts.map((line) => ({ line: Buffer.from(line), found: detect(line, given.at) })),
    map,
    given,
  )
  return shredder.oddLines - before
}

test.each([
  '2026-11-20T10:00:00.123Z INFO cache: entry stored',
  '2026-11-20 10:00:00,123 [WARN] cache[17] entry dropped',
  '[2026-11-20T10:00:00.123Z] cache entry stored',
  '2026/11/20 10:00:00 no level',
  '2026-11-20 24:00:00,000 INFO end of the day',
  '2026-11-20T24:00:00.5Z INFO no such time',
  'Nov 20 24:00:00 node-3 sshd[17]: end of the day',
  '[Fri Nov 20 24:00:00 2026] [core:error] end of the day',
  '10.0.0.1 - - [20/Nov/2026:24:00:00 +0000] "GET / HTTP/2.0" 500 17',
  '2026-11-20T10:00:00+02:00 [core:error] zone',
  'cache (ERROR) without a time',
  '\tat org.example.Cache.get(Cache.java:17)',
  'Nov 20 10:00:00 node-3 sshd[17]: session opened for user root',
  'Nov 20 10:00:00 node-3 kernel: eth0: link is up',
  'Nov 20 10:00:00 node-3 postfix/qmgr[17]: 4A: from=<a@b>, size=12, nrcpt=1',
  'level=info msg="all is well" path=/a status=200',
  '11-20 10:00:00.123  47  48 I Tag: text',
  '11-20 10:00:00.123  47  48 I Tag  : a=1, b=2',
  'I1120 10:00:00.123456    47 server.go:42] text',
  '10.0.0.1 - - [20/Nov/2026:13:55:36 +0000] "GET / HTTP/2.0" 500 17',
  '10.0.0.1 - root [20/Nov/2026:13:55:36 +0000] "GET /a?b=c HTTP/1.1" 200 - "-" "curl/8" 17',
  '2026-11-20T10:00:00Z INFO took=5 level=warn user=7',
  '2026-11-20T10:00:00Z INFO füür a=é b="日本 c" 😀',
  `${'é'.repeat(78)} INFO`,
  `${'😀'.repeat(39)} INFO`,
  'é a=1 b=é',
  'java.io.IOException: broken',
  '10.0.0.1 - - [20/Nov/2026:13:55:36 +0000] "GET / HTTP/2.0" 500 17 "-" "IOError"',
  'raised TypeError(17)',
  '2026-11-20T10:00:00Z INFO ended with a KeyError',
  '2026-11-20T10:00:00Z an alignment exception, Error: 7, aError: 7, Errors: 7',
  '<34>Nov 20 10:00:00 host su: failed',
  '<34>Nov 20 10:00:00 host su[7]: für a=1 b=2',
  'Nov 20 10:00:00 node-3 sshd[17]: héllo',
  '<165>1 2026-11-20T10:00:00.003Z host.example evntslog 111 ID47 [x@3 iut="3" b="é"][x@1 y="z"] An event für a=1 level=warn',
  '<34>1 - - - - - - text',
  '<34>1 - - - - - -',
  '<191>1 2026-11-20T10:00:00Z h a - - -  x',
  'msg="an \\" escape" level=info',
  'a="\\\\" b="\\n\\t\\r\\x\\é" c=1',
  '2026-11-20T10:00:00Z {"a":1}',
  '2026-11-20T10:00:00Z INFO saved {"a":1,"level":"warn","b":{"c":[1,{"d":2}],"e":{},"n":null},"f":"x \\"y\\u00fc"} ',
  '<34>1 2026-11-20T10:00:00Z h a - - - {"a":1,"message":"own","hostname":"b"}',
  '<34>1 2026-11-20T10:00:00Z h a - - - @cee: { "a" : 1 }',
  '2026-11-20T10:00:00Z a={b=1, c=2}',
  '2026-11-20T10:00:00Z {}',
  '2026-11-20T10:00:00Z {"a":1',
  '<34>1 2026-11-20T10:00:00Z h a - - [x a="\\]\\"\\\\" b="\\n" c="]"] d',
  'Fri Nov 20 10:00:00 2026 text',
  '2026-11-20T10:00:00Z stdout F text',
  'Traceback (most recent call last)',
  'at x(a=1, b=2)',
  '2026-11-20T10:00:00Z IOError: {"a":1}',
  'Nov 20 10:00:00 node-3 app[17]: java.io.IOException: broken',
  '[Fri Nov 20 10:00:00 2026] [core:error] [pid 17] text',
  '2026-11-20T10:00:00Z stderr P part',
  '2026-11-20T10:00:00Z stdout F',
  '2026-11-20T10:00:00Z stdout F level=info msg="x y"',
  '2026-11-20T10:00:00Z stdout X text',
  '2026-11-20T10:00:00Z stdout-7 text',
  'Traceback (most recent call last):',
  'panic: runtime error',
  'goroutine 17 [running]:',
  'IOException: status=503 a=1',
  'IOException: level=none a=1',
  '<event time="2026-11-20T10:00:00Z" level="warn" />',
  'Got a=1 b=2',
  'Nov 20 a=1 b=2',
  '20-11-2026 10:00:00 INFO text',
  'E1001 INFO text',
  'Monitor INFO text',
  'Sun INFO text',
  '2026-11-20T10:00:00Z {"a":1,"a":2}',
  '2026-11-20T10:00:00Z x {"a":1}}',
  '2026-11-20T10:00:00Z {"a":1,"b":"x","a":null,"b":"y\\/"}',
  '2026-11-20T10:00:00Z {a=1, b=2}',
  '2026-11-20T10:00:00Z {a=1} {"b":2}',
  '2026-11-20T10:00:00Z x {"a":1}} y=1 z={"b":2}',
  'I 1795305601.166 shard#4 moved',
  'at last',
  'plain words',
  '[x]',
  'héllo',
  `${'é'.repeat(80)} INFO`,
  `${'😀'.repeat(40)} INFO`,
  '“a” – b…',
  'Exception: without a type',
  'myError: of a function',
  'SomeErrors: many',
  'double-hummer alignment exceptions',
  '<html><body a="b">',
  '<3',
  'The 3 mice',
  'Sun, sea',
  'panic:not',
  'Traceback (no)',
  'goroutine x [',
  '\x01',
  `2026-11-20T10:00:00Z {"${'k'.repeat(900)}":{"${'k'.repeat(900)}":1}}`,
  '<034>Nov 20 10:00:00 host su: failed',
  '<192>Nov 20 10:00:00 host su: failed',
  '<34>1 2026-11-20T10:00:00Z h a - - [x a="\\"] b',
  '<34>1 2026-11-20T10:00:00Z h é - - - b',
  '<34>text',
  'Nov 20 10:00:00 host su',
  '<189>17: *Nov 20 10:00:00.123: %SYS-5-CONFIG_I: Configured from console',
  '<189>17: 000018: .Nov 20 10:00:00.123 UTC: %SYS-5-CONFIG_I: Configured',
  '<189>17: 000018: edge-1: Nov 20 2026 10:00:00: %LINK-3-UPDOWN: down',
  '<189>17: fe80::1: 2026-11-20T10:00:00Z: %LINK-3-UPDOWN: down',
  '<189>17: 18: 19: Nov 20 10:00:00: x',
  '<189>17: edge-1: no time',
  '<189>12345678901: Nov 20 10:00:00: x',
  '<189>*Nov 20 10:00:00: host app: x',
  '<189>Nov 20 10:00:00 UTC: host app: x',
  '11-20 10:00:00.123  47  48 I : text',
  'I1120 10:00:00.123456    47 server.go] text',
  'shop:80 10.0.0.1 - - [20/Nov/2026:13:55:36 +0000] "GET / HTTP/2.0" 500 17',
  '10.0.0.1 - - [20/Nov/2026:13:55:36 +0000] "GET /IOError: HTTP/2.0" 500 17',
  'CEF:0|a|b|c|d|e|f|',
  'CEF:0|a\\|b|c\\\\|d|e|f|msg=a\\=b c\\nd act=x=y  n= ',
  'x CEF:1|a|b|c|d|e|9',
  'x'.repeat(1_001),
  `INFO ${'x'.repeat(40_000)}`,
  'a=1 '.repeat(250),
  'a=1\nb=2\n\tat x(y)',
  'Fri, Nov 20 10:00:00 2026 text',
])('%j needs no reference', (line) => {
  expect(compare([line])).toBe(0)
})

test.each([
  'a=1\u00a0b=2',
  'a=1\u3000b=2',
  '\u2003at x(y)',
  `<34>1 2026-11-20T10:00:00Z h ${'é'.repeat(40)} - - - b`,
  '<34>1 2026-11-20T10:00:00Z h a - - [x a\\b="c"] d',
])('%j is left to the reference', (line) => {
  expect(compare([line])).toBe(1)
})

const pieces = fc.constantFrom(
  ...'2026-11-20 2026/11/20 2026-11-20T10:00:00 10:00:00 10:61:00 .123 ,123 .5 Z UTC +02:00 -0700 [ ] ( ) : , | < > { } INFO WARN ERR Error info Warning DEBUGS [core:error] [error] at java.io.IOException std Mon Nov 20 11- I1120 17 a b_c é " \' - panic:'.split(
    ' ',
  ),
  ' ',
  ' ',
  '\t',
  '\0',
  '\n',
  '\u00a0',
  '\u2028',
  '“é日😀”',
  'é'.repeat(70),
  '😀'.repeat(36),
  '=',
  'a=1',
  ' msg=',
  'hostname=x',
  '="a b"',
  '"GET /a HTTP/1.1" 200 17',
  '"GET" 500 ',
  ' "-" "a b"',
  '] "',
  'I ',
  'a.go:17] ',
  ' 47',
  '<34>',
  '<34>1 - ',
  ' - ',
  '[x@1 a="b"]',
  ' n="v"',
  ' n="\\]\\x\\é"',
  "='x'",
  '="x\\"y"',
  '="\\n\\é\\\\"',
  '\\',
  '{"',
  'Nov 20 10:00:00',
  'Nov 20 2026 10:00:00',
  'Fri Nov 20 10:00:00 2026',
  'Fri, Nov  2 10:00:00.123 2026 ',
  ' stdout F ',
  'stderr P ',
  ' status=500',
  '<300>',
  '<event a="b">',
  'Traceback (most recent call last):',
  'goroutine 1 [',
  'IOException:',
  'XError',
  'Error(',
)
/** An object counts at the end of a line. Some differ in one value or in spaces only, so that the steps of one are tried on the other. */
const tails = fc.constantFrom(
  '',
  '',
  '{"a":1}',
  '{"a":22}',
  '{"a":null}',
  '{"a":nulls}',
  '{"a":""}',
  '{"a": "x"}',
  '{"a":"\\""}',
  '{"a":1,"a":2,"b":3}',
  '{"a":1,"b":"\\/","a":null}',
  '{a=1} {"a":1}',
  '{"a":1}, {"b":2}',
  '{"a":"\\ud800é"}',
  '{"a":[1]}',
  '{"a":{"b":[1,"]"],"c":{}},"level":"warn"}',
  '{"a":{"b":[1,"]"],"c":{}},"level":"warn"',
  '{"a":{"b":[1,"]],"c":{}},"level":"warn"}',
  '{"msg":"took 17","hostname":"x","time":"2026-11-20T10:00:00Z"}',
  '{"msg":"took 18","hostname":"y","time":1}',
  '{"a":1}}',
  '{}',
  '@cee: {"a":1}',
  '@cee:{ "a":1 }\t',
)
const heads = fc.constantFrom(
  '',
  '2026-11-20T10:00:00.123Z',
  '2026-11-20 10:00:00,123',
  '[2026-11-20 10:00:00.123 UTC]',
  '2026-11-20T10:00:00',
  '\tat x(',
  '<34>Nov 20 10:00:00 host su: ',
  '<34>1 2026-11-20T10:00:00Z h a 1 - ',
  '<189>17: *Nov 20 10:00:00.123: ',
  '<189>17: 018: edge-1: .Nov 20 10:00:00 UTC: ',
  '<189>17: ',
  '<189>17: edge: ',
  '<13>1 2026-11-20T10:00:00Z h a - m [x b="1" c="é"]',
)

test('any text has the row of the reference', () => {
  const texts = fc.tuple(heads, fc.array(pieces, { maxLength: 12 }), tails)
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 8 }), (all) => {
      compare(
        all.flatMap(([head, rest, tail]) => [
          head + rest.join('') + tail,
          `${head} ${rest.join(' ')}${tail}`,
          `${head} ${rest.filter((piece) => piece !== '\n' && piece !== '\0').join('é ')} ${tail}`,
        ]),
      )
    }),
    { numRuns: 500 },
  )
})

const two = (max: number) => fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'))
const clock = fc
  .oneof({ arbitrary: fc.tuple(two(23), two(59), two(59)), weight: 6 }, fc.tuple(two(26), two(62), two(62)))
  .map((parts) => parts.join(':'))
const fraction = fc.tuple(
  fc.constantFrom('.', ',', ''),
  fc.constantFrom('', '0', '5', '50', '120', '000', '123', '1230', '123456', '123456789', '1234567890'),
)
const year = fc.constantFrom('2026', '2024', '2025', '2000', '1999', '1970', '0000', '2100')
const month = fc.constantFrom('Jan', 'Feb', 'Apr', 'Nov', 'Dec', 'Foo')
const day = fc.oneof(
  two(32),
  fc.integer({ min: 1, max: 31 }).map(String),
  fc.integer({ min: 1, max: 31 }).map((number) => ` ${number}`),
)
const weekday = fc.constantFrom('Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun')
const zone = fc.constantFrom('', 'Z', ' UTC', '+02:00', '-0730', ' +02', '+2400', '+0260', ' GMT', 'z', '+02:0')
const sign = fc.constantFrom('-', '-', '/')
const behind = fc.constantFrom(' text', ': text', '] text', ' host app[7]: text', '', ',text', '| INFO text', 'x', ' stdout F text', '.7')
const timed = fc.oneof(
  fc
    .tuple(year, sign, two(13), sign, two(32), fc.constantFrom('T', ' '), clock, fraction, zone)
    .map(([y, one, m, other, d, t, c, f, z]) => y + one + m + other + d + t + c + f.join('') + z),
  fc
    .tuple(month, day, fc.option(year), clock, fraction)
    .map(([m, d, y, c, f]) => `${m} ${d} ${y === null ? '' : `${y} `}${c}${f.join('')}`),
  fc
    .tuple(weekday, fc.constantFrom(' ', ', '), month, day, clock, fraction, year)
    .map(([w, blank, m, d, c, f, y]) => `${w}${blank}${m} ${d} ${c}${f.join('')} ${y}`),
  fc
    .tuple(two(32), month, year, clock, fc.constantFrom('+0200', '-0730', '+2400'))
    .map(([d, m, y, c, z]) => `h - - [${d}/${m}/${y}:${c} ${z}] "GET / HTTP/1.1" 200 7`),
  fc.tuple(two(13), two(32), clock).map(([m, d, c]) => `E${m}${d} ${c}.123456    47 a.go:7] text`),
  fc.tuple(two(13), two(32), clock).map(([m, d, c]) => `${m}-${d} ${c}.123  47  48 I Tag  : text`),
)
const before = fc.constantFrom('', '', '[', '<13>', '<13>1 ')

test('times in front of texts are those of the reference, whenever they arrive', () => {
  const at = fc.constantFrom(
    Date.UTC(2026, 10, 21, 12),
    Date.UTC(2024, 11, 31, 3),
    Date.UTC(2025, 0, 1),
    Date.UTC(2024, 1, 29),
    Date.UTC(2027, 1, 28, 23),
  )
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(before, timed, behind).map((parts) => parts.join('')),
        { minLength: 1, maxLength: 10 },
      ),
      at,
      fc.boolean(),
      (lines, ms, hasTime) => {
        compare(lines, { ...arrival, at: { ms, ns: 5 }, ...(hasTime ? { time: { ms: Date.UTC(2024, 1, 29, 1), ns: 7 } } : {}) })
      },
    ),
    { numRuns: 500 },
  )
})

test('a key that a text repeats has its last value, and a shape only where that is the one cut out', () => {
  const values = ['1', '1', '2', '"x y"', '"x\\"y"', "'z'", '']
  const pairs = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'level', 'hostname', 'time'), fc.constantFrom(...values)), {
    minLength: 2,
    maxLength: 6,
  })
  const head = fc.constantFrom('', 'INFO ', '2026-11-20T10:00:00Z ', '<13>1 - h a - - [a b="1"][a b="2"] ', 'Nov 20 10:00:00 h a: ')
  fc.assert(
    fc.property(head, pairs, (start, all) => {
      compare(all.map((_, from) => start + [...all.slice(from), ...all].map(([name, value]) => `${name}=${value}`).join(' ')))
    }),
    { numRuns: 500 },
  )
})

test('the time of a text without one in its header is that of its best key', () => {
  const values = ['2024-05-01T10:20:30Z', '1714558830.5', '00:00:04.00', '1999-05-01T10:20:30Z', '1714558830123456']
  expect(compare(values.flatMap((ts) => values.map((time) => `ts=${ts} time=${time}`)))).toBe(0)
})
