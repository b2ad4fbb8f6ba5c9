import { type Instant, readTime } from '../../lines/values/time-text.ts'
import { localToUtcMs } from '../../parsers/time-zones.ts'

/** The time of a syslog header that names no zone: that of RFC 3164, or an ISO time. */
const HEADER =
  /^(?:<\d{1,3}>(?:(?:\d{1,10}: ){1,2}(?:[\w.:-]{1,255}: )?)?[*.]?)?(?:([A-Z][a-z]{2}) ( ?\d{1,2}) (?:(\d{4}) )?|(\d{4}-\d\d-\d\d)[T ])(\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?! UTC: )(?=:? |$)/
const HEADER_BYTES_MAX = 350
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY_MS = 86_400_000

/** Reads the time of a header as local time of a zone; undefined when it names a zone itself. Without a year it is at most a day ahead. */
export function zonedTime(line: Uint8Array, zone: string, at: Instant): Instant | undefined {
  const text = Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, HEADER_BYTES_MAX)).toString('latin1')
  const [whole, month = '', day = '', year, date, clock = '', fraction] = HEADER.exec(text) ?? []
  if (whole === undefined) return undefined
  const monthAndDay = `${String(months.indexOf(month) + 1).padStart(2, '0')}-${day.trim().padStart(2, '0')}`
  const thisYear = new Date(at.ms + DAY_MS).getUTCFullYear() + 1
  const dates = date ? [date] : (year ? [Number(year)] : [thisYear, thisYear - 1, thisYear - 2]).map((one) => `${one}-${monthAndDay}`)
  return dates
    .map((one) => readTime(`${one}T${clock}${fraction ? `.${fraction}` : ''}Z`)?.instant)
    .map((local) => local && { ms: localToUtcMs(zone, local.ms), ns: local.ns })
    .find((time) => time && (date !== undefined || year !== undefined || time.ms <= at.ms + DAY_MS))
}

export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }) !== undefined
  } catch (thrown) {
    if (thrown instanceof RangeError) return false
    throw thrown
  }
}
