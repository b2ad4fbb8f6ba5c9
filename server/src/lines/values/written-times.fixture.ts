import fc from 'fast-check'

/** Times as senders write them, and texts that are none. */
const writtenTimes = (ms: number): string[] => {
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
    `${seconds}.1234567891Z`,
    `${seconds} UTC`,
    `${seconds}+0200[Europe/Berlin]`,
    `${seconds}+25:00`,
    `${seconds.slice(0, 16)}Z`,
    `${seconds.slice(0, 17)}60Z`,
    `${seconds.replaceAll('-', '/').replace('T', ' ')}`,
    `${seconds.replaceAll('-', '/')}.${iso.slice(20)}`,
    `${seconds.replaceAll('-', '/').replace('T', ' ')},123456 +0200`,
    `${seconds.replaceAll(/[-:]/g, '')}Z`,
    `${seconds.replaceAll(/[-:]/g, '')}.123+0100`,
    `${seconds.slice(0, 11)}24:00:00Z`,
    `${seconds.slice(0, 11)}24:00:00.000`,
    '',
  ]
}

/** Texts of times at the instants, of which some have another character in one place. */
export function timeTexts(instants: fc.Arbitrary<number>): fc.Arbitrary<string> {
  const change = fc.option(fc.tuple(fc.nat(35), fc.constantFrom(...'0123456789T:. Zx+-/e')), { nil: undefined, freq: 2 })
  return fc.tuple(instants, fc.nat(writtenTimes(0).length - 1), change).map(([ms, which, changed]) => {
    const written = writtenTimes(ms)[which] ?? ''
    return changed ? written.slice(0, changed[0]) + changed[1] + written.slice(changed[0] + 1) : written
  })
}
