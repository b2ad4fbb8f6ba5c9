import { expect, test } from 'vitest'
import { BATCH_BYTES, endOfBatch, endsInLine, halfOf, linesOfBatchFrom } from './lines.ts'

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text))
const text = (part: Uint8Array): string => Buffer.from(part).toString()

/** The lines of content, batch by batch, as a source takes them. */
function linesOf(content: Uint8Array): string {
  let lines = ''
  let inLine = false
  for (let at = 0; ; ) {
    const read = content.subarray(at, at + BATCH_BYTES)
    const batch = read.subarray(0, endOfBatch(read, true))
    if (batch.length === 0) return lines
    lines += text(linesOfBatchFrom(batch, inLine))
    inLine = endsInLine(batch)
    at += batch.length
  }
}

test('a batch ends with a whole line, unless nothing more comes', () => {
  expect([
    endOfBatch(bytes('a\nb'), false),
    endOfBatch(bytes('a\nb'), true),
    endOfBatch(bytes('ab'), false),
    endOfBatch(bytes(''), true),
  ]).toEqual([2, 3, 0, 0])
})

test('of a line that fills a batch only the beginning is taken, and the lines around it are whole', () => {
  for (const length of [BATCH_BYTES - 3, BATCH_BYTES - 1, BATCH_BYTES, 2 * BATCH_BYTES, 3 * BATCH_BYTES + 5]) {
    const lines = linesOf(bytes(`a\n${'x'.repeat(length)}\nb\n`)).split(/(?<=\n)/)
    expect(lines[0], String(length)).toBe('a\n')
    expect(lines.at(-1), String(length)).toMatch(/b\n$/)
    expect(lines.slice(1).join('').length, String(length)).toBeLessThanOrEqual(length + 3)
  }
})

test('a batch is halved between its lines', () => {
  expect([halfOf(bytes('a\nb\n')), halfOf(bytes('aaaa\nb\n')), halfOf(bytes('abc\n')), halfOf(bytes('abc'))]).toEqual([2, 5, 0, 0])
})
