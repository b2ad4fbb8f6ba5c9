import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TimeReader } from './fast-time.ts'
import { readTime } from './time-text.ts'
import { timeTexts } from './written-times.fixture.ts'

test('times parse equally from bytes and from strings, independent of earlier calls', () => {
  const instant = fc.oneof(fc.integer({ min: 1e12, max: 9e12 }), fc.integer({ min: 1_714_558_000_000, max: 1_714_559_000_000 }))
  const text = timeTexts(instant)
  fc.assert(
    fc.property(fc.array(text, { minLength: 2, maxLength: 30 }), (texts) => {
      const reader = new TimeReader()
      for (const written of texts) {
        const bytes = Buffer.from(`x${written}y`)
        const found = reader.read(bytes, 1, bytes.length - 1) ? { instant: reader.instant, format: reader.format } : undefined
        expect({ written, found }).toEqual({ written, found: readTime(written) })
      }
    }),
    { numRuns: 1_500 },
  )
})
