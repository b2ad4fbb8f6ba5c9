import { months, zoneOffsetMs } from '../../lines/values/time-text.ts'
import { column, constant, type Param, param, reading, type SqlFragment, sql, digits as sqlDigits, using } from '../sql/sql.ts'

const TOTAL_NS = 'toUnixTimestamp64Nano(ts)'
/** Depends on the shape only, so that the store computes it once per shape, not per event. */
const FORMAT = String.raw`extract(shape, '\x01t([^\x02\x03]*)')`
const WEEKDAYS: readonly string[] = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** The time format that a shape contains, '' when it has none. */
export const timeFormat: SqlFragment = reading(['shape'], constant(FORMAT))

const UNIT_NS = "transform(second, ['s', 'm', 'u'], [1000000000, 1000000, 1000], 1)"
/**
 * A format of a number has `n`, the unit and the digits of the fraction. Any other has the layout, the characters between date and time and in front of the
 * fraction, the digits, and the zone as written.
 */
const partsOfFormat = {
  isNumber: "startsWith(format, 'n')",
  layout: 'substring(format, 1, 1)',
  second: 'substring(format, 2, 1)',
  localText: 'toString(local)',
  digits: "if(startsWith(format, 'n'), substring(format, 3), substring(format, 4, 1))",
}

/**
 * Writes the time of an event in the format that its shape names (time-text.ts), as formatTime does. Lambdas name repeated expressions,
 * because preparing a long statement takes longer than running it: each part of a time is in the text once.
 */
export const timeText: SqlFragment = using('costlyValue', reading(['ts', 'shape'], constant(makeTimeText())))

function makeTimeText(): string {
  const zone = `substring(${FORMAT}, 5)`
  const part = (pattern: string) => `extract(${zone}, '${pattern}')`
  const hours = `toInt64OrZero(${part(String.raw`^ ?[+-](\\d\\d)`)})`
  const minutes = `toInt64OrZero(${part(String.raw`^ ?[+-]\\d\\d:?(\\d\\d)`)})`
  const ahead = `if(startsWith(trimLeft(${zone}), '-'), -1, 1) * (${hours} * 3600 + ${minutes} * 60)`
  const local = `fromUnixTimestamp64Nano(${TOTAL_NS} + ${ahead} * 1000000000, 'UTC')`
  return naming({ format: `toString(${FORMAT})`, local }, naming(partsOfFormat, naming(partsOfTime(), written())))
}

/** An expression with names for values that it has several times. */
function naming(values: Readonly<Record<string, string>>, expression: string): string {
  const arrays = Object.values(values).map((value) => `[${value}]`)
  return `arrayMap((${Object.keys(values).join(', ')}) -> ${expression}, ${arrays.join(', ')})[1]`
}

function from(at: number, length: number): string {
  return `substring(localText, ${at}, ${length})`
}

function partsOfTime(): Readonly<Record<string, string>> {
  const places = "transform(second, ['s', 'm', 'u'], [9, 6, 3], 0)"
  const ofNumber = `if(second = 'n', '', leftPad(toString(${TOTAL_NS} % ${UNIT_NS}), ${places}, '0'))`
  const whole = `if(isNumber, ${ofNumber}, ${from(21, 9)})`
  const day = from(9, 2)
  return {
    // As many digits as the format has; `*` stands for as many as are needed.
    fraction: `substring(if(digits = '*', replaceRegexpOne(${whole}, '0+$', ''), ${whole}), 1, if(digits = '*', 9, toUInt8OrZero(digits)))`,
    month: `${list(months)}[toMonth(local)]`,
    day: `if(layout in ('B', 'Y', 'W'), replaceRegexpOne(${day}, '^0', ' '), ${day})`,
  }
}

/** What stands in front of the clock, the clock, its fraction, and what stands behind. */
function written(): string {
  const [date, year] = [from(1, 10), from(1, 4)]
  const before = [
    ['isNumber', `toString(intDiv(${TOTAL_NS}, ${UNIT_NS}))`],
    ["layout in ('i', 's')", `concat(if(layout = 's', replaceAll(${date}, '-', '/'), ${date}), second)`],
    ["layout = 'a'", `concat(day, '/', month, '/', ${year}, ':')`],
    ["layout = 'k'", `concat(${from(6, 2)}, day, ' ')`],
    ["layout = 'g'", `concat(${from(6, 5)}, ' ')`],
    ["layout in ('y', 'Y')", `concat(month, ' ', day, ' ', ${year}, ' ')`],
    ["layout in ('w', 'W')", `concat(${list(WEEKDAYS)}[toDayOfWeek(local)], ' ', month, ' ', day, ' ')`],
  ]
  const point = "if(isNumber, '.', substring(format, 3, 1))"
  const behind = `multiIf(isNumber, '', layout in ('i', 's', 'a'), substring(format, 5), layout in ('w', 'W'), concat(' ', ${year}), '')`
  return `concat(multiIf(${before.flat().join(', ')}, concat(month, ' ', day, ' ')), if(isNumber, '', ${from(12, 8)}), if(fraction = '', '', concat(${point}, fraction)), ${behind})`
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

function list(words: readonly string[]): string {
  return `[${words.map((word) => `'${word}'`).join(', ')}]`
}
