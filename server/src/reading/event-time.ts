import { constant, type Sql } from './statement.ts'

const TOTAL_NS = 'toUnixTimestamp64Nano(ts)'

/**
 * timeText writes the time of an event in the format that its shape names (time-text.ts), as formatTime does. What depends on the shape alone is
 * worked out once for each shape, not for each event.
 */
export const timeText: Sql = constant(makeTimeText())

function makeTimeText(): string {
  const format = String.raw`extract(shape, '\x01t([^\x02]*)\x02')`
  return `if(startsWith(${format}, 'n'), ${numberText(format)}, ${writtenText(format)})`
}

/** numberText: `n`, the unit, the digits after the point. */
function numberText(format: string): string {
  const unit = `substring(${format}, 2, 1)`
  const places = `transform(${unit}, ['s', 'm', 'u'], [9, 6, 3], 0)`
  const one = `transform(${unit}, ['s', 'm', 'u'], [1000000000, 1000000, 1000], 1)`
  const fraction = `if(${places} = 0, '', leftPad(toString(${TOTAL_NS} % ${one}), ${places}, '0'))`
  return `concat(toString(intDiv(${TOTAL_NS}, ${one})), ${fractionText("'.'", fraction, `substring(${format}, 3)`)})`
}

/** writtenText: `i`, the signs between date and time and before the fraction, the digits, the zone as written. */
function writtenText(format: string): string {
  const zone = `substring(${format}, 5)`
  const part = (pattern: string) => `extract(${zone}, '${pattern}')`
  const hours = `toInt64OrZero(${part(String.raw`^ ?[+-](\\d\\d)`)})`
  const minutes = `toInt64OrZero(${part(String.raw`^ ?[+-]\\d\\d:?(\\d\\d)`)})`
  const ahead = `if(${part('^ ?([+-])')} = '-', -1, 1) * (${hours} * 3600 + ${minutes} * 60)`
  const local = `toString(fromUnixTimestamp64Nano(${TOTAL_NS} + ${ahead} * 1000000000, 'UTC'))`
  const fraction = fractionText(`substring(${format}, 3, 1)`, `substring(${local}, 21, 9)`, `substring(${format}, 4, 1)`)
  return `concat(substring(${local}, 1, 10), substring(${format}, 2, 1), substring(${local}, 12, 8), ${fraction}, ${zone})`
}

function fractionText(point: string, fraction: string, code: string): string {
  const digits = `if(${code} = '*', replaceRegexpOne(${fraction}, '0+$', ''), substring(${fraction}, 1, toUInt8OrZero(${code})))`
  return `if(${code} in ('', '0') or ${digits} = '', '', concat(${point}, ${digits}))`
}
