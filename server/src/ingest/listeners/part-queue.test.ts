import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parsedLines } from '../receivers/cases.fixture.ts'
import { forward } from '../receivers/forward/forward.ts'
import { linePartOf } from '../receivers/forward/partial-lines.ts'
import { ValueEnd } from '../receivers/forward/value-end.ts'
import { MessageBody } from '../receivers/messages.ts'
import { PartQueue } from './part-queue.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const text = (value: string): Buffer => Buffer.concat([Buffer.of(0xd9, Buffer.byteLength(value)), Buffer.from(value)])
const map = (record: Record<string, string>): Buffer =>
  Buffer.concat([Buffer.of(0x80 | Object.keys(record).length), ...Object.entries(record).flat().map(text)])
/** `[tag, time, record]` as Docker's driver sends it. */
const message = (record: Record<string, string>): Buffer =>
  Buffer.concat([Buffer.of(0x93), text('app'), Buffer.from([0xce, 0x6a, 0x90, 0, 0]), map(record)])
const part = (log: string, ordinal: number, more: Record<string, string> = {}): Buffer =>
  message({
    source: 'stdout',
    partial_message: 'true',
    partial_id: 'l1',
    partial_ordinal: String(ordinal),
    partial_last: 'false',
    log,
    ...more,
  })
const last = { partial_last: 'true' }

function startsOf(bytes: Uint8Array): readonly number[] {
  const values = new ValueEnd(2 ** 20)
  values.find(bytes)
  return values.starts
}

function joined(queue: PartQueue, messages: readonly Uint8Array[]): Uint8Array[] {
  const out: Uint8Array[] = []
  for (const bytes of messages) {
    const starts = startsOf(bytes)
    const found = linePartOf(bytes, starts)
    if (found) queue.add('a', found, { message: bytes, starts }, (whole) => out.push(whole))
    else out.push(bytes)
  }
  return out
}

function eventsOf(messages: readonly Uint8Array[]): string[] {
  const body = new MessageBody()
  for (const bytes of messages) body.add(bytes, { address: '192.0.2.1', attributes: [] })
  const parsed = forward.parse({ path: '', query: {}, headers: {}, contentType: '', body: body.bytes() })
  return parsedLines(parsed).slice(1)
}
const event = (raw: string): string =>
  `event {"raw":"${raw}","time":"2026-08-27T09:14:40.000000000Z","attributes":{"$fluent.tag":"app","$source":"stdout"}}`

test('the parts of a line become one event, whatever comes between and in which order', () => {
  const plain = message({ source: 'stdout', log: 'plain' })
  const other = part('x', 1, { partial_id: 'l2' })
  const out = joined(new PartQueue(2 ** 20), [
    part('one ', 1),
    plain,
    other,
    part('three', 3, last),
    part('two ', 2),
    part('y', 2, { partial_id: 'l2', ...last }),
  ])
  expect(eventsOf(out)).toEqual([event('plain'), event('one two three'), event('xy')])
})

test('incomplete parts are passed on unchanged after five seconds', () => {
  const out = joined(new PartQueue(2 ** 20), [part('one', 1), part('three', 3)])
  expect(out).toEqual([])
  vi.advanceTimersByTime(5_000)
  expect(out).toEqual([part('one', 1), part('three', 3)])
})

test('a part that is sent again counts once, and another part with its number begins another line', () => {
  const out = joined(new PartQueue(2 ** 20), [part('one ', 1), part('one ', 1), part('1 ', 1), part('two', 2, last)])
  expect(out[0]).toEqual(part('one ', 1))
  expect(eventsOf(out.slice(1))).toEqual([event('1 two')])
})

test('the end of a connection passes on its parts only', () => {
  const queue = new PartQueue(2 ** 20)
  const out = joined(queue, [part('one', 1)])
  queue.flush('b')
  expect(out).toEqual([])
  queue.flush('a')
  expect(out).toEqual([part('one', 1)])
})

test('the oldest line is passed on unchanged when all hold too much, and one that is too long at once', () => {
  const [one, two] = [part('x'.repeat(100), 1), part('y'.repeat(100), 1, { partial_id: 'l2' })]
  expect(joined(new PartQueue(2 ** 20, one.length + 10), [one, two])).toEqual([one])
  expect(joined(new PartQueue(one.length - 1), [one])).toEqual([one])
})

test.each([
  ['without marks', message({ log: 'x' })],
  ['with a mark in its text', message({ log: 'partial_message' })],
  ['with a number that is none', part('x', 1, { partial_ordinal: 'first' })],
  ['without an id', part('x', 1, { partial_id: '' })],
  ['that is the whole line', part('x', 1, { partial_message: 'false' })],
])('a message %s is no part', (_, bytes) => {
  expect(linePartOf(bytes, startsOf(bytes))).toBeUndefined()
})
