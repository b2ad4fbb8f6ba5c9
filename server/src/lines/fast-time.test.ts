import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TimeReader } from './fast-time.ts'
import { readTime } from './time-text.ts'

const usual = (ms: number): string[] => {
  const iso = new Date(ms).toISOString()
  const seconds = iso.slice(0, 19)
  return [
    String(ms),
    String(ms).slice(0, 10),
    `${String(ms)}456789`,
    iso,
    `${seconds}Z`,
    `${seconds}.123456Z`,
    `${seconds}.123456789+02:00`,
    `${seconds}.999-11:30`,
    `${seconds.replace('T', ' ')},${iso.slice(20, 23)}`,
    `${seconds}.12Z`,
    `${seconds}.10Z`,
    `${seconds}.5`,
    `0${String(ms).slice(1)}`,
    `0${String(ms).slice(1, 10)}`,
  ]
}

test('times parse equally from bytes and from strings, independent of earlier calls', () => {
  const instant = fc.oneof(fc.integer({ min: 1e12, max: 9e12 }), fc.integer({ min: 1_714_558_000_000, max: 1_714_559_000_000 }))
  const change = fc.option(fc.tuple(fc.nat(35), fc.constantFrom(...'0123456789T:. Zx')), { nil: undefined, freq: 2 })
  const text = fc.tuple(instant, fc.nat(13), change).map(([ms, which, changed]) => {
    const written = usual(ms)[which] ?? ''
    return changed ? written.slice(0, changed[0]) + changed[1] + written.slice(changed[0] + 1) : written
  })
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
