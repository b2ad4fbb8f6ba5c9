import { badField } from '../../../kernel/errors.ts'
import { durationNsOf } from './logql/units.ts'

const NS_PER_S = 1_000_000_000
const NS_PER_MS = 1_000_000n
const MS_PER_S = 1_000
/** A whole number with at most this many digits is in seconds, with more in nanoseconds. */
const SECONDS_DIGITS = 10
const LATEST_NS = 2n ** 62n

/** The parameters of a request, from its address and its form. */
export class LokiParameters {
  readonly #given: URLSearchParams

  constructor(given: URLSearchParams) {
    this.#given = given
  }

  text(name: string): string | undefined {
    return this.#given.get(name)?.trim() || undefined
  }

  required(name: string): string {
    const text = this.text(name)
    if (text === undefined) throw badField(name, 'is required', 'MISSING')
    return text
  }

  all(...names: readonly string[]): string[] {
    return names.flatMap((name) => this.#given.getAll(name)).filter((text) => text.trim() !== '')
  }

  whole(name: string, { least, most, otherwise }: { least: number; most: number; otherwise: number }): number {
    const text = this.text(name)
    if (text === undefined) return otherwise
    const value = /^\d{1,15}$/.test(text) ? Number(text) : -1
    if (value < least || value > most) throw badField(name, `must be a whole number from ${least} to ${most}`)
    return value
  }

  /** A time: nanoseconds, seconds, or RFC 3339. */
  timeNs(name: string): bigint | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const ns = timeNsOf(text)
    if (ns === undefined || ns < 0n || ns > LATEST_NS)
      throw badField(name, 'must be a time: nanoseconds or seconds since 1970, or RFC 3339')
    return ns
  }

  /** A length of time: seconds, or a duration such as 5m. */
  milliseconds(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const ms = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) * MS_PER_S : (durationNsOf(text) ?? -1) / Number(NS_PER_MS)
    if (!(ms >= 1 && Number.isFinite(ms))) throw badField(name, 'must be a positive length of time: seconds, or a duration such as 15s')
    return Math.round(ms)
  }

  /** The range of a request. `otherwiseMs` is its length when only its end or nothing is given. */
  range(nowMs: number, otherwiseMs: number): { startNs: bigint; endNs: bigint } {
    const endNs = this.timeNs('end') ?? BigInt(nowMs) * NS_PER_MS
    const since = this.milliseconds('since') ?? otherwiseMs
    const startNs = this.timeNs('start') ?? endNs - BigInt(since) * NS_PER_MS
    if (endNs < startNs) throw badField('end', 'must not be before start')
    return { startNs, endNs }
  }
}

function timeNsOf(text: string): bigint | undefined {
  if (/^-?\d{1,19}$/.test(text)) return text.replace('-', '').length <= SECONDS_DIGITS ? BigInt(text) * BigInt(NS_PER_S) : BigInt(text)
  const [, seconds, fraction = ''] = /^(\d{1,10})\.(\d*)$/.exec(text) ?? []
  if (seconds !== undefined) return BigInt(seconds) * BigInt(NS_PER_S) + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
  if (/^\d+(?:\.\d+)?e\+?\d+$/i.test(text)) return BigInt(Math.round(Number(text) * NS_PER_S))
  const [, whole, digits = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|[+-]\d\d:\d\d)$/i.exec(text) ?? []
  if (whole === undefined) return undefined
  const zone = text.slice(text.search(/(?:Z|[+-]\d\d:\d\d)$/i))
  const ms = Date.parse(`${whole}${zone}`)
  return Number.isNaN(ms) ? undefined : BigInt(ms) * NS_PER_MS + BigInt(digits.padEnd(9, '0'))
}
