import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecordDraft, RecordTable } from '../../../lines/shredder/record-table.ts'
import { TextMemory } from '../../../lines/shredder/text-memory.ts'
import { FrameReader } from './frames.ts'

/** Reads successive messages into a table, each by its bytes or by its text. */
function recordsOf(messages: readonly Buffer[], way: 'read' | 'readText'): ReturnType<RecordTable['at']>[] {
  const draft = new RecordDraft(new TextMemory(Buffer.concat(messages), true))
  const table = new RecordTable(draft.memory)
  const reader = new FrameReader(draft)
  let at = 0
  for (const { length } of messages) {
    reader[way](at, at + length)
    table.add(draft)
    at += length
  }
  return messages.map((_, number) => ({ ...table.at(number), raw: Buffer.from(table.raw(number)) }))
}

const priorities = fc.constantFrom('<190>', '<190>', '<45>', '<0>', '<191>', '<192>', '<007>', '<1234>', '<>', '190>', '')
const versions = fc.constantFrom('1', '1', '12', '123', 'x', '')
const times = fc.constantFrom(
  '2026-11-20T10:00:00.123456+00:00',
  '2026-11-20T10:00:00.654321+00:00',
  '2026-11-20T10:00:00Z',
  '2026-11-20T23:59:60.5Z',
  '2026-02-30T10:00:00Z',
  '1732096800',
  '1732096800123456789',
  '-',
  'soon',
  '2026-11-20T10:00:00é',
)
const names = fc.constantFrom('host', 'app', 'web.1', '-', 'd.73a8-é', 'a\tb', 'a\u00a0b', '\0', '', 'x'.repeat(600))
const texts = fc.constantFrom('', '\n', 'text\n', 'text', ' at=info id=7', '[x@1 a="b"] text', 'für\0', '-')
const messages = fc
  .tuple(priorities, versions, times, fc.array(names, { minLength: 3, maxLength: 5 }), texts, fc.constantFrom(' ', ' ', '  '))
  .map(([priority, version, time, words, text, space]) => Buffer.from(`${priority}${version} ${time} ${words.join(' ')}${space}${text}`))
const odd = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(messages, fc.nat(80)).map(([message, length]) => message.subarray(0, length)),
)

test('headers are read by their bytes as by their texts', () => {
  const all = fc.array(fc.oneof({ weight: 6, arbitrary: messages }, { weight: 1, arbitrary: odd }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(all, (some) => {
      expect(recordsOf(some, 'read')).toEqual(recordsOf(some, 'readText'))
    }),
    { numRuns: 3_000 },
  )
})
