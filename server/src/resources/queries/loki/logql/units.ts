const NS_PER_MS = 1_000_000
const MS_PER_S = 1_000
const S_PER_MINUTE = 60
const S_PER_HOUR = 3_600
const S_PER_DAY = 86_400
const NS_PER_S = NS_PER_MS * MS_PER_S

/** Nanoseconds per unit of a duration. */
const durationUnits: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1_000],
  ['µs', 1_000],
  ['μs', 1_000],
  ['ms', NS_PER_MS],
  ['s', NS_PER_S],
  ['m', S_PER_MINUTE * NS_PER_S],
  ['h', S_PER_HOUR * NS_PER_S],
  ['d', S_PER_DAY * NS_PER_S],
  ['w', 7 * S_PER_DAY * NS_PER_S],
  ['y', 365 * S_PER_DAY * NS_PER_S],
])
const DURATION = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h|d|w|y))+$/
const DURATION_PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w|y)/g

/** Reads a duration such as `1h30m` or `1.5s` in nanoseconds. Undefined for other texts. */
export function durationNsOf(text: string): number | undefined {
  const sign = /^[+-]/.exec(text)?.[0] ?? ''
  const written = text.slice(sign.length)
  if (written === '0') return 0
  if (!DURATION.test(written)) return undefined
  let ns = 0
  for (const [, number = '', unit = ''] of written.matchAll(DURATION_PART)) ns += Number(number) * (durationUnits.get(unit) ?? 0)
  return sign === '-' ? -ns : ns
}

const KIBI = 1_024
const KILO = 1_000
const prefixes = ['', 'k', 'm', 'g', 't', 'p', 'e']
const SIZE = /^(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)$/i

/** Reads a size such as `5KiB` or `10 MB` in bytes. Undefined for other texts. */
export function bytesOf(text: string): number | undefined {
  const [, number = '', unit = ''] = SIZE.exec(text) ?? []
  const [, prefix = '', binary] = /^([kmgtpe]?)(i?)b?$/i.exec(unit) ?? []
  if (number === '' || unit === '' || unit.toLowerCase() === 'i') return undefined
  const power = prefixes.indexOf(prefix.toLowerCase())
  if (/^(?:i)?$/i.test(unit) || (prefix === '' && unit.toLowerCase() !== 'b')) return undefined
  return Number(number) * (binary ? KIBI : KILO) ** power
}
