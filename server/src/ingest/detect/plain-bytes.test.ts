import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PlainText } from '../../lines/plain-text.ts'
import { detect } from './detect.ts'
import { readPlain } from './plain-bytes.ts'

const AT = { ms: Date.UTC(2026, 10, 21, 12), ns: 0 }
const plain = new PlainText()

/**
 * Reads a line both ways. Lines of other formats are first read as text, so that their times are known. Reading changes no byte of a line, and what is
 * learned from it is not in its memory, which may be freed.
 */
function readBoth(line: string): string {
  const expected = detect(line, AT)
  const bytes = Buffer.from(line)
  const result = readPlain(bytes, AT, plain)
  expect(bytes.equals(Buffer.from(line)), line).toBe(true)
  if (result === 'found') expect({ line, found: plain.toFoundText(bytes) }).toEqual({ line, found: expected })
  bytes.fill(0)
  if (result === 'nothing') expect({ line, found: expected }).toEqual({ line, found: undefined })
  return result
}

test.each([
  '2026-11-20T10:00:00.123Z INFO cache: entry stored',
  '2026-11-20 10:00:00,123 [WARN] cache[17] entry dropped',
  '[2026-11-20T10:00:00.123Z] cache entry stored',
  '2026/11/20 10:00:00 no level',
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
])('%j is read without strings', (line) => {
  expect(readBoth(line)).toBe('found')
})

test.each([
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
])('%j has no parts', (line) => {
  expect(readBoth(line)).toBe('nothing')
})

test.each([
  'a=1\u00a0b=2',
  'a=1\u3000b=2',
  '\u2003at x(y)',
  '\ufeffINFO a',
  'a\0b',
  '\x01',
  `2026-11-20T10:00:00Z {"${'k'.repeat(900)}":{"${'k'.repeat(900)}":1}}`,
  '<034>Nov 20 10:00:00 host su: failed',
  '<192>Nov 20 10:00:00 host su: failed',
  '<34>1 2026-11-20T10:00:00Z h a - - [x a="\\"] b',
  '<34>1 2026-11-20T10:00:00Z h é - - - b',
  '<34>text',
  'Nov 20 10:00:00 host su',
  '11-20 10:00:00.123  47  48 I : text',
  'I1120 10:00:00.123456    47 server.go] text',
  'shop:80 10.0.0.1 - - [20/Nov/2026:13:55:36 +0000] "GET / HTTP/2.0" 500 17',
  '10.0.0.1 - - [20/Nov/2026:13:55:36 +0000] "GET /IOError: HTTP/2.0" 500 17',
  'CEF:0|a|b|c|d|e|f|',
  'x'.repeat(1_001),
  '',
  'Fri, Nov 20 10:00:00 2026 text',
])('%j is left to the reader of strings', (line) => {
  expect(readBoth(line)).toBe('unknown')
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
  '<13>1 2026-11-20T10:00:00Z h a - m [x b="1" c="é"]',
)

test('any line is read as detect reads it, or left to it', () => {
  fc.assert(
    fc.property(heads, fc.array(pieces, { maxLength: 12 }), tails, (head, rest, tail) => {
      readBoth(head + rest.join('') + tail)
      readBoth(`${head} ${rest.join(' ')}${tail}`)
      readBoth(`${head} ${rest.filter((piece) => piece !== '\n' && piece !== '\0').join('é ')} ${tail}`)
    }),
    { numRuns: 10_000 },
  )
})
