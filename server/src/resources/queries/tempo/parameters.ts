import { readDurations } from '@dendro/language/nanoseconds'
import { badField } from '../../../kernel/errors.ts'
import type { TimeBounds } from '../../../reading/query.ts'

const MS_PER_S = 1_000
const RANGE_MS = 3_600_000

/** The range of a request, in whole seconds since 1970; an hour without `start`. */
export function rangeOf(parameters: URLSearchParams, nowMs: number): TimeBounds {
  const toMs = timeOf(parameters, 'end') ?? nowMs
  const fromMs = timeOf(parameters, 'start') ?? Math.max(0, toMs - RANGE_MS)
  if (fromMs > toMs) throw badField('end', 'must not be before start')
  return { fromMs, toMs }
}

/** Both times of a request, or nothing. */
export function bothTimes(parameters: URLSearchParams): { from_ts: number; to_ts: number } | undefined {
  const [from, to] = [timeOf(parameters, 'start'), timeOf(parameters, 'end')]
  if (from === undefined || to === undefined) return undefined
  if (from > to) throw badField('end', 'must not be before start')
  return { from_ts: from, to_ts: to }
}

function timeOf(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name)?.trim()
  if (!text || text === '0') return undefined
  if (!/^\d{1,10}$/.test(text)) throw badField(name, 'must be whole seconds since 1970')
  return Number(text) * MS_PER_S
}

/** The bounds of durations, as `GET /traces` takes them. */
export function durationsOf(parameters: URLSearchParams): { min_duration?: string; max_duration?: string } {
  const [least, most] = [durationOf(parameters, 'minDuration'), durationOf(parameters, 'maxDuration')]
  if (least !== undefined && most !== undefined && least > most) throw badField('minDuration', 'must not be longer than maxDuration')
  return { ...(least === undefined ? {} : { min_duration: `${least}ns` }), ...(most === undefined ? {} : { max_duration: `${most}ns` }) }
}

/** A length of time such as `250ms` or `1m30s`, in nanoseconds. */
function durationOf(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name)?.trim()
  if (!text) return undefined
  const nanos = readDurations(text)
  if (nanos === undefined) throw badField(name, 'must be numbers with units of ns, us, ms, s, m or h, such as 250ms or 1m30s')
  return nanos
}
