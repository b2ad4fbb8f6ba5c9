import { months, zoneOffsetMs } from '../../lines/values/time-text.ts'
import { column, constant, type Param, param, reading, type SqlFragment, sql, digits as sqlDigits, using } from '../sql/sql.ts'

const TOTAL_NS = 'toUnixTimestamp64Nano(ts)'
/** Depends on the shape only, so that the store computes it once per shape, not per event. */
const FORMAT = String.raw`extract(shape, '\x01t([^\x02\x03]*)')`
const WEEKDAYS: readonly string[] = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** The time format that a shape contains, '' when it has none. */
export const timeFormat: SqlFragment = reading(['shape'], constant(FORMAT))

/**
 * Writes the time of an event in the format that its shape names (time-text.ts), as formatTime does. Lambdas name repeated expressions,
 * because preparing a long statement takes longer than running it.
 */
export const timeText: SqlFragment = using('costlyValue', reading(['ts', 'shape'], constant(makeTimeText())))

function makeTimeText(): string {
  const zone = `substring(${FORMAT}, 5)`
  const part = (pattern: string) => `extract(${zone}, '${pattern}')`
  const hours = `toInt64OrZero(${part(String.raw`^ ?[+-](\\d\\d)`)})`
  const minutes = `toInt64OrZero(${part(String.raw`^ ?[+-]\\d\\d:?(\\d\\d)`)})`
  const ahead = `if(startsWith(trimLeft(${zone}), '-'), -1, 1) * (${hours} * 3600 + ${minutes} * 60)`
  const local = `fromUnixTimestamp64Nano(${TOTAL_NS} + ${ahead} * 1000000000, 'UTC')`
  const written = `if(startsWith(format, 'n'), ${numberText()}, ${writtenText()})`
  return `arrayMap((format, local, localText) -> ${written}, [toString(${FORMAT})], [${local}], [toString(${local})])[1]`
}

/** The words that a time may contain besides those of its zone. */
const TIME_WORDS: readonly string[] = ['t', 'z', ...months, ...WEEKDAYS].map((word) => word.toLowerCase())

/**
 * Returns whether a text may be part of a time, and its longest word that only a format can contain; '' for none. A slash may also separate the numbers
 * and the month of a date, so it does not belong to a word.
 */
export function timeWords(text: string): { isLikeTime: boolean; foreign: string } {
  const words = text.toLowerCase().match(/[a-z_]+/g) ?? []
  const foreign = words.filter((word) => !TIME_WORDS.some((known) => known.includes(word))).sort((a, b) => b.length - a.length)[0] ?? ''
  return { isLikeTime: /^[\w/+\-.,: [\]]+$/.test(text), foreign }
}

/** timeText for one format, much shorter: it is written once for each shape of a statement. */
export function timeTextAs(format: string): SqlFragment {
  const [, unit] = /^n([smun])0?$/.exec(format) ?? []
  if (unit !== undefined) return sql`toString(intDiv(toUnixTimestamp64Nano(${TIME}), ${param.int64(NS_IN.get(unit) ?? 1n)}))`
  const [, layout, between, point, digits, zone] = /^([isbByYakgwW])([ -~])([ -~])(\d|\*)(.*)$/s.exec(format) ?? []
  if (layout === undefined || between === undefined || point === undefined || zone === undefined) return timeText
  const aheadNs = BigInt(zoneOffsetMs(zone.replace(/\[.*/, '')) ?? 0) * 1_000_000n
  const local = sql`fromUnixTimestamp64Nano(toUnixTimestamp64Nano(${TIME}) + ${param.int64(aheadNs)}, 'UTC')`
  const localText = using('costlyValue', sql`toString(${local})`)
  const part = (at: number, length: number) => sql`substring(${localText}, ${sqlDigits(at)}, ${sqlDigits(length)})`
  const clock = sql`concat(${part(12, 8)}, ${fractionAs(digits ?? '0', param.text(point), part(21, 9))})`
  const [year, padded] = [part(1, 4), part(9, 2)]
  const month = sql`${MONTHS}[toMonth(${local})]`
  const day = layout === layout.toLowerCase() ? padded : sql`replaceRegexpOne(${padded}, '^0', ' ')`
  switch (layout.toLowerCase()) {
    case 'i':
      return sql`concat(${part(1, 10)}, ${param.text(between)}, ${clock}, ${param.text(zone)})`
    case 's':
      return sql`concat(replaceAll(${part(1, 10)}, '-', '/'), ${param.text(between)}, ${clock}, ${param.text(zone)})`
    case 'a':
      return sql`concat(${padded}, '/', ${month}, '/', ${year}, ':', ${clock}, ${param.text(zone)})`
    case 'k':
      return sql`concat(${part(6, 2)}, ${padded}, ' ', ${clock})`
    case 'g':
      return sql`concat(${part(6, 5)}, ' ', ${clock})`
    case 'y':
      return sql`concat(${month}, ' ', ${day}, ' ', ${year}, ' ', ${clock})`
    case 'w':
      return sql`concat(${DAYS}[toDayOfWeek(${local})], ' ', ${month}, ' ', ${day}, ' ', ${clock}, ' ', ${year})`
    default:
      return sql`concat(${month}, ' ', ${day}, ' ', ${clock})`
  }
}

const TIME = column('ts')
const MONTHS: SqlFragment = constant(list(months))
const DAYS: SqlFragment = constant(list(WEEKDAYS))

/** The fraction of a second with the digits that a format has. `*` stands for as many as are needed. */
function fractionAs(code: string, point: Param, fraction: SqlFragment): SqlFragment {
  if (code === '0') return sql`''`
  if (code !== '*') return sql`concat(${point}, substring(${fraction}, 1, ${sqlDigits(Number(code))}))`
  const needed = sql`replaceRegexpOne(${fraction}, '0+$', '')`
  return sql`if(${needed} = '', '', concat(${point}, ${needed}))`
}

const NS_IN: ReadonlyMap<string, bigint> = new Map(Object.entries<bigint>({ s: 1_000_000_000n, m: 1_000_000n, u: 1_000n, n: 1n }))

/** Format: `n`, the unit, the digits after the point. */
function numberText(): string {
  const unit = 'substring(format, 2, 1)'
  const places = `transform(${unit}, ['s', 'm', 'u'], [9, 6, 3], 0)`
  const one = `transform(${unit}, ['s', 'm', 'u'], [1000000000, 1000000, 1000], 1)`
  const fraction = `if(${unit} = 'n', '', leftPad(toString(${TOTAL_NS} % ${one}), ${places}, '0'))`
  return `concat(toString(intDiv(${TOTAL_NS}, ${one})), ${fractionText("'.'", fraction, 'substring(format, 3)')})`
}

/** Format: the layout, the characters between date and time and before the fraction, the digits, the zone as written. */
function writtenText(): string {
  const [layout, between, zone] = ['substring(format, 1, 1)', 'substring(format, 2, 1)', 'substring(format, 5)']
  const from = (at: number, length: number) => `substring(localText, ${at}, ${length})`
  const [date, year, day] = [from(1, 10), from(1, 4), from(9, 2)]
  const clock = `concat(${from(12, 8)}, ${fractionText('substring(format, 3, 1)', from(21, 9), 'substring(format, 4, 1)')})`
  const month = `${list(months)}[toMonth(local)]`
  const weekday = `${list(WEEKDAYS)}[toDayOfWeek(local)]`
  const dayAsWritten = `if(${layout} in ('B', 'Y', 'W'), replaceRegexpOne(${day}, '^0', ' '), ${day})`
  const cases = [
    [`${layout} = 'i'`, `concat(${date}, ${between}, ${clock}, ${zone})`],
    [`${layout} = 's'`, `concat(replaceAll(${date}, '-', '/'), ${between}, ${clock}, ${zone})`],
    [`${layout} = 'a'`, `concat(${day}, '/', ${month}, '/', ${year}, ':', ${clock}, ${zone})`],
    [`${layout} = 'k'`, `concat(${from(6, 2)}, ${day}, ' ', ${clock})`],
    [`${layout} = 'g'`, `concat(${from(6, 5)}, ' ', ${clock})`],
    [`${layout} in ('y', 'Y')`, `concat(${month}, ' ', ${dayAsWritten}, ' ', ${year}, ' ', ${clock})`],
    [`${layout} in ('w', 'W')`, `concat(${weekday}, ' ', ${month}, ' ', ${dayAsWritten}, ' ', ${clock}, ' ', ${year})`],
  ]
  return `multiIf(${cases.flat().join(', ')}, concat(${month}, ' ', ${dayAsWritten}, ' ', ${clock}))`
}

function list(words: readonly string[]): string {
  return `[${words.map((word) => `'${word}'`).join(', ')}]`
}

function fractionText(point: string, fraction: string, code: string): string {
  const digits = `if(${code} = '*', replaceRegexpOne(${fraction}, '0+$', ''), substring(${fraction}, 1, toUInt8OrZero(${code})))`
  return `if(${code} in ('', '0') or ${digits} = '', '', concat(${point}, ${digits}))`
}
