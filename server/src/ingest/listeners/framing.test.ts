import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FramingRules, MessageFraming } from './framing.ts'

const syslog: FramingRules = { delimiter: 0x0a, isCounted: true, messageBytesMax: 1_000 }
const gelf: FramingRules = { delimiter: 0, isCounted: false, messageBytesMax: 1_000 }

/** Splits a stream that arrives in pieces of the given lengths, the last one repeated. */
function split(stream: string | Uint8Array, pieces: readonly number[], rules = syslog): { messages: string[]; isWhole: boolean } {
  const bytes = Buffer.from(stream as string)
  const framing = new MessageFraming(rules)
  const messages: string[] = []
  const take = (message: Uint8Array) => void messages.push(Buffer.from(message).toString())
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const end = at + (pieces[Math.min(n, pieces.length - 1)] ?? bytes.length)
    framing.push(bytes.subarray(at, end), take)
    at = end
  }
  return { messages, isWhole: framing.end(take) }
}

const messagesOf = (stream: string, rules = syslog): string[] => split(stream, [stream.length + 1_000], rules).messages

test.each([
  ['lines', '<13>one\n<13>two\r\n\n<13>three', ['<13>one', '<13>two', '<13>three']],
  ['counts', '7 <13>one8 <13>two\n', ['<13>one', '<13>two']],
  ['both in one connection', '7 <13>one<13>two\n9 <13>three<13>four\n', ['<13>one', '<13>two', '<13>three', '<13>four']],
  ['line ends between counted messages', '7 <13>one\n7 <13>two\n\0', ['<13>one', '<13>two']],
  [
    'lines that begin with a number',
    '2026-11-22 a\n12 apples\n1234567890 <13>x\n7x\n',
    ['2026-11-22 a', '12 apples', '1234567890 <13>x', '7x'],
  ],
  ['a number alone', '12', ['12']],
])('%s are separate messages, wherever the stream is cut', (_, stream, expected) => {
  for (let size = 1; size <= stream.length; size += 1) expect(split(stream, [size]).messages).toEqual(expected)
})

test('a counted message may contain line ends', () => {
  expect(messagesOf('12 <13>one\ntwo\n')).toEqual(['<13>one\ntwo'])
})

test('a long message is cut, and the next one is read', () => {
  for (const stream of [`<13>${'x'.repeat(5_000)}\n<13>two\n`, `5000 <13>${'x'.repeat(4_996)}7 <13>two`]) {
    for (const size of [1, 7, 999, 1_001, 10_000]) {
      const { messages } = split(stream, [size])
      expect(messages.map(({ length }) => length)).toEqual([1_001, 7])
    }
  }
})

test('a count that is larger than any message takes no memory', () => {
  const framing = new MessageFraming(syslog)
  framing.push(Buffer.from('999999999 <13>'), () => undefined)
  for (let n = 0; n < 100; n += 1) framing.push(Buffer.alloc(10_000, 'x'), () => undefined)
  expect(framing.held?.bytes).toBeLessThanOrEqual(1_001)
})

test('an incomplete counted message is lost, an unfinished line is not', () => {
  expect(split('100 <13>one', [100])).toEqual({ messages: [], isWhole: false })
  expect(split('<13>one', [100])).toEqual({ messages: ['<13>one'], isWhole: true })
})

test('NUL ends a message, and line ends within it stay', () => {
  expect(messagesOf('{"a":\n1}\0{"b":2}\0\0', gelf)).toEqual(['{"a":\n1}', '{"b":2}'])
})

test('any bytes in any pieces give the same messages', () => {
  const stream = fc
    .array(fc.constantFrom('<13>a', '\n', '5 <13>b', '12 ', '0', ' ', '\r', '\0', '<', '3 <', 'é'), { maxLength: 40 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(stream, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 }), (text, pieces) => {
      expect(split(text, pieces)).toEqual(split(text, [1_000]))
    }),
  )
})
