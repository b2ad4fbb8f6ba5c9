import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPlainTime } from './plain-time.ts'
import { formatTime, fromNs, parseTime, readTime, toNs } from './time-text.ts'

const MAY = Date.UTC(2024, 4, 1, 10, 20, 30)

test.each([
  ['1714558830', MAY, 0, 'ns'],
  ['1714558830.5', MAY + 500, 0, 'ns*'],
  ['1714558830.120', MAY + 120, 0, 'ns3'],
  ['1714558830.123456', MAY + 123, 456_000, 'ns6'],
  ['1714558830.123456789', MAY + 123, 456_789, 'ns9'],
  ['1714558830.1234567894', MAY + 123, 456_789, undefined],
  ['99999999999', 99_999_999_999_000, 0, 'ns'],
  ['100000000000', 100_000_000_000, 0, 'nm'],
  ['1714558830123', MAY + 123, 0, 'nm'],
  ['1714558830123.25', MAY + 123, 250_000, 'nm*'],
  ['1714558830123456', MAY + 123, 456_000, 'nu'],
  ['1714558830123456789', MAY + 123, 456_789, 'nn'],
  ['1.714558830123e9', MAY + 123, 0, undefined],
  ['1.714558830E+09', MAY, 0, undefined],
  ['+1714558830', MAY, 0, undefined],
  ['01714558830', MAY, 0, undefined],
  ['0', 0, 0, 'ns'],
  ['2024-05-01T10:20:30Z', MAY, 0, 'iT.0Z'],
  ['2024-05-01T10:20:30.123Z', MAY + 123, 0, 'iT.3Z'],
  ['2024-05-01T10:20:30.123456Z', MAY + 123, 456_000, 'iT.6Z'],
  ['2024-05-01T10:20:30.12345678Z', MAY + 123, 456_780, 'iT.*Z'],
  ['2024-05-01T10:20:30.123456789Z', MAY + 123, 456_789, 'iT.9Z'],
  ['2024-05-01T10:20:30.1234567891Z', MAY + 123, 456_789, undefined],
  ['2024-05-01t10:20:30.10z', MAY + 100, 0, 'it.2z'],
  ['2024-05-01 10:20:30', MAY, 0, 'i .0'],
  ['2024-05-01 10:20:30,123', MAY + 123, 0, 'i ,3'],
  ['2024-05-01T12:20:30+02:00', MAY, 0, 'iT.0+02:00'],
  ['2024-05-01T05:50:30.000-0430', MAY, 0, 'iT.3-0430'],
  ['2024-05-01 12:20:30 +02', MAY, 0, 'i .0 +02'],
  ['2024-05-01 10:20:30 UTC', MAY, 0, 'i .0 UTC'],
  ['2024-05-01 10:20:30.123456789 +0000 UTC', MAY + 123, 456_789, 'i .9 +0000 UTC'],
  ['2024-05-01T12:20:30.1+02:00[Europe/Berlin]', MAY + 100, 0, 'iT.*+02:00[Europe/Berlin]'],
  ['2024/05/01 10:20:30', MAY, 0, 's .0'],
  ['2024/05/01 10:20:30,123', MAY + 123, 0, 's ,3'],
  ['2024/05/01T12:20:30.123456+02:00', MAY + 123, 456_000, 'sT.6+02:00'],
  ['2024/05/01 10:20', MAY - 30_000, 0, undefined],
  ['20240501T102030Z', MAY, 0, undefined],
  ['20240501t102030.123456789z', MAY + 123, 456_789, undefined],
  ['20240501T122030,5+0200', MAY + 500, 0, undefined],
  ['20240501T102030', MAY, 0, undefined],
  ['20240501T1020Z', MAY - 30_000, 0, undefined],
  ['2024-04-30T24:00:00Z', Date.UTC(2024, 4, 1), 0, undefined],
  ['2024-04-30 24:00:00.000', Date.UTC(2024, 4, 1), 0, undefined],
  ['20240430T240000Z', Date.UTC(2024, 4, 1), 0, undefined],
  ['2024-05-01T10:20Z', MAY - 30_000, 0, undefined],
  ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1), 0, undefined],
  ['Wed, 01 May 2024 12:20:30 +0200', MAY, 0, undefined],
  ['1 May 2024 10:20 GMT', MAY - 30_000, 0, undefined],
  ['Wed, 1 May 2024 06:20:30 EDT', MAY, 0, undefined],
])('%s is read to the nanosecond', (text, ms, ns, format) => {
  expect(readTime(text)).toEqual({ instant: { ms, ns }, format })
})

test.each([
  '',
  'yesterday',
  '10:20:30',
  '2024-05-01',
  '2024-02-30T00:00:00Z',
  '2024-13-01T00:00:00Z',
  '2024-05-01T24:00:01Z',
  '2024-05-01T24:00:00.5Z',
  '2024-05-01T24:01:00Z',
  '2024-05-01T25:00:00Z',
  '2024/05-01T10:20:30Z',
  '20240501T',
  '20240501T10',
  '20240501 102030',
  '20240230T102030Z',
  '20240501T10:20:30Z',
  '2024-05-01T10:20:30+24:00',
  '2024-05-01T10:20:30 Mars/Base',
  '-1714558830',
  '1714558830.',
  '0x66321b6e',
  '12345678901234567890',
  '1 Foo 2024 10:20:30 GMT',
  '1'.repeat(1_000),
])('%s is not a time', (text) => {
  expect(parseTime(text)).toBeUndefined()
})

test('every format found for a text reproduces exactly that text', () => {
  const digit = fc.integer({ min: 0, max: 9 }).map(String)
  const fraction = fc.option(fc.tuple(fc.constantFrom('.', ','), fc.array(digit, { minLength: 1, maxLength: 11 })), { nil: undefined })
  const zone = fc.constantFrom('', 'Z', 'z', ' UTC', '+00:00', '-00:00', '+0530', ' -0330', '+14', '-23:59')
  const date = fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms).toISOString().slice(0, 19))
  const iso = fc
    .tuple(date, fc.constantFrom('-', '/', ''), fc.constantFrom('T', ' ', 't'), fraction, zone)
    .map(([at, sign, between, parts, place]) => {
      const written = sign === '' ? at.replaceAll(/[-:]/g, '') : at.replaceAll('-', sign).replace('T', between)
      return written + (parts ? parts[0] + parts[1].join('') : '') + place
    })
  const number = fc
    .tuple(fc.bigInt({ min: 0n, max: 2n ** 62n }), fc.array(digit, { maxLength: 10 }))
    .map(([whole, parts]) => String(whole).slice(0, 10 + (parts.length % 10)) + (parts.length > 0 ? `.${parts.join('')}` : ''))
  fc.assert(
    fc.property(fc.oneof(iso, number), (text) => {
      const found = readTime(text)
      expect(found).toBeDefined()
      if (found?.format !== undefined) expect(formatTime(found.instant, found.format)).toBe(text)
    }),
    { numRuns: 5_000 },
  )
})

test('every common format is found and reproduces every instant it can represent', () => {
  const usual = { ns: 1, nm: 3, nu: 6, nn: 9, 'iT.3Z': 3, 'iT.6+02:00': 6, 'i ,9': 9, ns9: 9 }
  fc.assert(
    fc.property(
      fc.bigInt({ min: 10n ** 18n, max: 9n * 10n ** 18n }),
      fc.constantFrom(...Object.entries(usual)),
      (total, [format, digits]) => {
        const unit = 10n ** BigInt(format === 'ns' ? 9 : 9 - digits)
        const instant = fromNs(total - (total % unit))
        const text = formatTime(instant, format)
        expect(readTime(text)).toEqual({ instant, format })
      },
    ),
    { numRuns: 3_000 },
  )
})

test('nanoseconds and instants are the same, before 1970 too', () => {
  fc.assert(fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (total) => toNs(fromNs(total)) === total))
})

test.each([
  ['s .3', '2026/11/02 10:20:30.123'],
  ['b .0', 'Nov 02 10:20:30'],
  ['B .6', 'Nov  2 10:20:30.123456'],
  ['y .0', 'Nov 02 2026 10:20:30'],
  ['Y .0', 'Nov  2 2026 10:20:30'],
  ['a .0 -0700', '02/Nov/2026:03:20:30 -0700'],
  ['k .6', '1102 10:20:30.123456'],
  ['g .3', '11-02 10:20:30.123'],
  ['w .0', 'Mon Nov 02 10:20:30 2026'],
  ['W .3', 'Mon Nov  2 10:20:30.123 2026'],
])('the format %s writes a header time', (format, text) => {
  expect(formatTime({ ms: Date.UTC(2026, 10, 2, 10, 20, 30, 123), ns: 456_000 }, format)).toBe(text)
})

describe('the short ways to read plain numbers', () => {
  const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`))
  const whole = fc.oneof(digits(10), digits(13), digits(11), digits(16), digits(19), digits(20))
  const fraction = fc.option(fc.oneof(digits(0), digits(1), digits(3), digits(6), digits(7), digits(9), digits(12)), { nil: undefined })
  const numbers = fc.tuple(whole, fraction).map(([before, after]) => (after === undefined ? before : `${before}.${after}`))

  test('give what the long way gives', () => {
    fc.assert(
      fc.property(numbers, (text) => {
        expect(parseTime(text)).toEqual(readTime(text)?.instant)
      }),
      { numRuns: 1_000 },
    )
  })

  test('give the same from bytes, or nothing', () => {
    const others = fc.tuple(numbers, fc.nat(20), fc.constantFrom('e', '.', ' ', '-', '0', '/', ':', '')).map(([text, at, char]) => {
      return text.slice(0, at) + char + text.slice(at + 1)
    })
    fc.assert(
      fc.property(fc.oneof(numbers, others), (text) => {
        const time = { ms: Number.NaN, ns: 0 }
        const isRead = readPlainTime(Buffer.from(`7${text}7`), 1, 1 + text.length, time)
        expect(time).toEqual(isRead ? parseTime(text) : { ms: Number.NaN, ns: 0 })
      }),
      { numRuns: 3_000 },
    )
  })

  test.each(['1735689600', '1735689600123', '1735689600.125', '1735689600123.5', '1735689600123456789'])('read %s from bytes', (text) => {
    const time = { ms: 0, ns: 0 }
    expect(readPlainTime(Buffer.from(text), 0, text.length, time)).toBe(true)
    expect(time).toEqual(parseTime(text))
  })
})
