import { emptySlotMap } from '../../lines/layout/slots.ts'
import { arrival, compareAddedLines, compareMessages, randomArrival, randomMap } from '../../lines/reference/equals-reference.fixture.ts'
import {
  encoders,
  hostileLine,
  type JsonTree,
  object,
  type Random,
  randomFrom,
  style,
  tree,
  write,
} from '../../lines/reference/generated-lines.fixture.ts'
import { Shredder } from '../../lines/shredder/shred.ts'
import { messageReader } from '../detect/message-reader.ts'
import { detectedIn, isObject } from './arrivals.ts'
import { addLine } from './shredding.ts'

/** Lines of text as programs write them, and lines of shippers around them. Used by the tests and by the long run in bench/shred-nightly.ts. */
const HEADS = [
  '',
  '',
  '2024-05-01T10:20:30.123Z ',
  '2024-05-01 10:20:30,123 INFO ',
  '[1999-05-01T10:20:30Z] ERROR ',
  '2030-05-01T10:20:30Z ',
  'May  1 10:20:30 node-3 sshd[17]: ',
  '<34>1 2024-05-01T10:20:30Z h a 1 - [x a="b"] ',
  '<34>May 01 10:20:30 host su: ',
  'Wed May  1 10:20:30 2024 ',
  'I0501 10:20:30.123456    47 server.go:42] ',
  '10.0.0.1 - ada [01/May/2024:10:20:30 +0000] "GET /a HTTP/1.1" 404 17',
  '2024-05-01T10:20:30Z stdout F ',
  '    ',
  '\t',
]
const PIECES = [
  'ts=2024-05-01T10:20:30Z',
  'time=00:00:04.00',
  'ts=12',
  'time=1999-05-01T10:20:30Z',
  'date=1714558830.25',
  'level=warn',
  'msg="took 12 ms"',
  'a=1',
  'a=2',
  'b="x \\" y"',
  "x='it'",
  'x=',
  'status=503',
  'message=',
  'java.io.IOException: broken',
  'ValueError: no',
  'Traceback (most recent call last):',
  '\tat org.example.Cache.get(Cache.java:17)',
  '\x1b[32mINFO\x1b[0m',
  '\x1b[1m',
  '\v',
  '\f',
  '\0',
  '\x01',
  '\x02',
  '\x7f',
  'größe=7',
  '\u00a0',
  '\u2028',
  '😀',
  'CEF:0|a|b|c|d|e|5|src=10.0.0.1 msg=two words act=x\\=y',
  'CEF:0|a',
  '<event time="2024-05-01T10:20:30Z" level="WARN">',
  '{"a":1,"time":"2024-05-01T10:20:30Z"}',
  '{"level":"warn","b":"x\\"\\u00fc"}',
  '{"a":1,"a":2}',
  '{"a":{"b":[1,2]}} ',
  '{"a":1',
  'word',
  '17',
  'q'.repeat(300),
  'é'.repeat(300),
]

/** A line of pieces, now and then with bytes that are not UTF-8, and the long ones with an exception near the end of what is searched for one. */
export function textLine(random: Random): Uint8Array {
  const count = random.below(random.chance(0.1) ? 40 : 8)
  const separator = random.pick([' ', ' ', ',', '\t', ''])
  const pieces = Array.from({ length: count }, () => random.pick(PIECES))
  const line = Buffer.from(random.pick(HEADS) + pieces.join(separator))
  const long = random.chance(0.05)
    ? Buffer.concat([
        line,
        Buffer.alloc(Math.max(0, 980 + random.below(20) - line.length), 'z '),
        Buffer.from(` an IOException${random.pick([': x', ' x', '', 's'])}`),
      ])
    : line
  if (random.chance(0.1)) {
    const at = random.below(long.length + 1)
    return Buffer.concat([long.subarray(0, at), Buffer.of(0x80 + random.below(128)), long.subarray(at)])
  }
  return long
}

/** A line of a shipper with a message that may be anything, also an object in an object. */
export function wrappedLine(random: Random, depth = 0): Buffer {
  const inner = random.below(4)
  const text =
    inner === 0 && depth < 2
      ? wrappedLine(random, depth + 1)
      : inner === 1
        ? Buffer.from(write(object(random), style(random)))
        : inner === 2
          ? textLine(random)
          : hostileLine(random)
  const around = random.pick(['', '', ' ', '\n', '\u00a0', '\u0001'])
  const message = around + text.toString(random.chance(0.9) ? 'utf8' : 'latin1') + around
  const pairs: [string, JsonTree][] = [[random.pick(['log', 'message', 'msg', 'body', 'event']), { text: message }]]
  for (const key of ['stream', 'level', 'msg', 'a', '@timestamp', '$a', 'message']) {
    if (random.chance(0.2)) pairs.splice(random.below(pairs.length + 1), 0, [key, tree(random, 4)])
  }
  return Buffer.from(write({ pairs }, { space: () => '', encode: random.pick(encoders) }))
}

/** Compares lines with messages of any kind with the reference, block after block with one shredder. */
export function compareWrappedLines(seed: number, blocks: number, count: number): void {
  const random = randomFrom(seed)
  const map = random.chance(0.5) ? randomMap(random) : emptySlotMap('s')
  const shredder = new Shredder(map, { random: () => 0.5, messages: messageReader })
  for (let block = 0; block < blocks; block += 1) {
    const lines = Array.from({ length: count }, () => wrappedLine(random))
    compareMessages(shredder, lines, map, random.chance(0.5) ? arrival : randomArrival(random), messageReader)
  }
}

/** Compares lines that are mostly texts with the reference. */
export function compareTexts(seed: number, blocks: number, count: number): void {
  const random = randomFrom(seed)
  const map = random.chance(0.5) ? randomMap(random) : emptySlotMap('s')
  const shredder = new Shredder(map, { random: () => 0.5 })
  for (let block = 0; block < blocks; block += 1) {
    const given = random.chance(0.5) ? arrival : randomArrival(random)
    const repeated = textLine(random)
    const lines = Array.from({ length: count }, () => {
      const line = random.chance(0.2) ? hostileLine(random) : random.chance(0.2) ? repeated : textLine(random)
      return new Uint8Array(line.length === 0 ? Buffer.from('x') : line)
    })
    const read = lines.map((line) => {
      const isText = !isObject(line)
      addLine(shredder, { bytes: line, arrival: given, ...(isText ? { isText } : {}) })
      return { line, found: isText ? detectedIn(line, given.at) : undefined }
    })
    compareAddedLines(shredder, read, map, given)
  }
}

/** A text of more characters than are read of one, with something to find at the border. */
function longText(random: Random): Buffer {
  const filler = random.pick(['x', 'word ', 'é', '\u{1f600}', 'line\n'])
  const start = Buffer.from(textLine(random)).toString('utf8').slice(0, 900)
  const head = start + filler.repeat(32_768 / filler.length - start.length / filler.length - random.below(12))
  return Buffer.from(`${head} k=v size=12 {"a":1} ${random.pick(['', '}', ' x=1'])}${filler.repeat(20)}`)
}

/** Compares texts of which only the beginning is read, plain and in JSON. Returns how many were left to the reference. */
export function compareLongTexts(seed: number, count: number): number {
  const random = randomFrom(seed)
  const map = random.chance(0.5) ? randomMap(random) : emptySlotMap('s')
  const shredder = new Shredder(map, { random: () => 0.5, messages: messageReader })
  const read = Array.from({ length: count }, () => {
    const text = longText(random)
    const line = new Uint8Array(random.chance(0.5) ? text : Buffer.from(JSON.stringify({ message: text.toString('utf8'), a: 1 })))
    const isText = !isObject(line)
    addLine(shredder, { bytes: line, arrival, ...(isText ? { isText } : {}) })
    return { line, found: isText ? detectedIn(line, arrival.at) : undefined }
  })
  compareAddedLines(shredder, read, map, arrival, messageReader)
  return shredder.oddLines
}
