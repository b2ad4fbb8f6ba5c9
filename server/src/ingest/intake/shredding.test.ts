import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptySlotMap } from '../../lines/layout/slots.ts'
import { arrival, randomMap } from '../../lines/reference/equals-reference.fixture.ts'
import { hostileLine, randomFrom } from '../../lines/reference/generated-lines.fixture.ts'
import { Shredder } from '../../lines/shredder/shred.ts'
import { bodyOfBatch, isObject, linesOfBatch } from './arrivals.ts'
import { addLine, Shredders } from './shredding.ts'
import { compareLongTexts, compareTexts, compareWrappedLines, textLine, wrappedLine } from './text-lines.fixture.ts'

test('lines of any kind get the rows of the reference, however they are read', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => compareTexts(seed, 2, 20)),
    { numRuns: 400 },
  )
})

test('lines with messages of any kind get the rows of the reference', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => compareWrappedLines(seed, 2, 20)),
    { numRuns: 400 },
  )
})

test('texts of which only the beginning is read get the rows of the reference, most of them by the kernel', () => {
  const odd = Array.from({ length: 40 }, (_, seed) => compareLongTexts(seed, 5))
  expect(odd.reduce((sum, lines) => sum + lines)).toBeLessThan(100)
})

test('the lines of a body have the same rows as each by itself', () => {
  const common = { at: arrival.at, origin: arrival.origin }
  const logId = '00112233-4455-6677-8899-aabbccddeeff'
  const target = {
    batches: [0],
    orgNumber: 1,
    logId,
    attributes: [],
    rules: undefined,
    parser: undefined,
    lineTime: undefined,
    isLast: true,
  }
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed)
      const map = random.chance(0.5) ? randomMap(random) : emptySlotMap('s')
      const makers = [hostileLine, wrappedLine, textLine]
      const parts = Array.from({ length: 60 }, () => random.pick(makers)(random))
      const bytes = Buffer.concat(parts.flatMap((part) => [part, Buffer.from(random.pick(['\n', '\n', '\r\n', '\n \n']))]))
      const batch = { collection: undefined, dataset: undefined, events: { kind: 'lines' as const, bytes }, attributes: [] }
      const lines = () => linesOfBatch(batch, common, [])
      const [apart, together] = [undefined, () => bodyOfBatch(batch, common, [])].map((body) => {
        const shredders = new Shredders(() => 0.5)
        return [0, 1].map(() => shredders.shred([{ lines, ...(body ? { body } : {}) }], { ...target, map }))
      })
      expect(together).toEqual(apart)
    }),
    { numRuns: 100 },
  )
})

test.each([
  'ts=2024-05-01T10:20:30Z level=info msg="all is well"',
  'frame=  120 fps= 30 q=28.0 size=    1024kB time=00:00:04.00 bitrate=2097.2kbits/s speed=1.2x',
  Buffer.from('level=info a=1 größe', 'latin1'),
  Buffer.from('{"level":"info","größe":"groß"}', 'latin1'),
  '{"a":1,"b":"cut',
])('%j needs no reference', (text) => {
  const shredder = new Shredder(emptySlotMap('s'), { random: () => 0.5 })
  const bytes = new Uint8Array(Buffer.from(text))
  addLine(shredder, { bytes, arrival, ...(isObject(bytes) ? {} : { isText: true }) })
  expect(shredder.oddLines).toBe(0)
})
