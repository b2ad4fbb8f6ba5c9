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
    `${String(ms).slice(0, 10)}.${String(ms).slice(1, 7)}`,
    `${String(ms).slice(0, 10)}.${String(ms).slice(3)}`,
    `${String(ms).slice(0, 10)}.5`,
    `${String(ms).slice(0, 10)}.123456789`,
    `${String(ms).slice(0, 10)}.1234567891`,
    `${String(ms)}.25`,
    `${String(ms)}.123456`,
    `${String(ms)}.1234567`,
    `${String(ms)}123`,
    `+${String(ms)}`,
    `${String(ms).slice(0, 5)}e5`,
    '12',
    '00:00:04.00',
    'yesterday',
    '-',
    'Wed, 01 May 2024 10:20:30 +0200',
    '1 May 2024 10:20',
  ]
}

test('times parse equally from bytes and from strings, independent of earlier calls', () => {
  const instant = fc.oneof(fc.integer({ min: 1e12, max: 9e12 }), fc.integer({ min: 1_714_558_000_000, max: 1_714_559_000_000 }))
  const change = fc.option(fc.tuple(fc.nat(35), fc.constantFrom(...'0123456789T:. Zx+-e')), { nil: undefined, freq: 2 })
  const text = fc.tuple(instant, fc.nat(usual(0).length - 1), change).map(([ms, which, changed]) => {
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
