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

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const NS_PER_MS = 1_000_000
/** How many steps a range has when none is given, as long as they last a second. */
const STEPS = 240
const LONG_STEP_MS = 5_000

/** The range of a metric: from `start` to `end`, or the last hour or as long as `since`. */
export function metricRange(parameters: URLSearchParams, nowMs: number): TimeBounds {
  const toMs = momentOf(parameters, 'end') ?? nowMs
  const since = durationOf(parameters, 'since')
  const fromMs = momentOf(parameters, 'start') ?? Math.max(0, toMs - (since === undefined ? RANGE_MS : Math.round(since / NS_PER_MS)))
  if (fromMs > toMs) throw badField('end', 'must not be before start')
  return { fromMs, toMs }
}

function momentOf(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name)?.trim()
  if (!text || text === '0') return undefined
  if (/^\d{1,10}$/.test(text)) return Number(text) * MS_PER_S
  if (/^\d{16,19}$/.test(text)) return Math.floor(Number(text) / NS_PER_MS)
  const ms = RFC3339.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw badField(name, 'must be seconds or nanoseconds since 1970, or a time such as 2026-11-30T10:00:00Z')
  return ms
}

/** The length of a step, such as `15s` or `60` seconds. Without it some 240 fit into the range. */
export function stepOf(parameters: URLSearchParams, { fromMs, toMs }: TimeBounds): number {
  const text = parameters.get('step')?.trim()
  if (!text) {
    const stepMs = (toMs - fromMs) / STEPS
    const unitMs = stepMs < LONG_STEP_MS ? MS_PER_S : LONG_STEP_MS
    return Math.max(MS_PER_S, Math.floor(stepMs / unitMs) * unitMs)
  }
  const nanos = readDurations(/^\d+(?:\.\d+)?$/.test(text) ? `${text}s` : text)
  const ms = nanos === undefined ? 0 : Math.round(nanos / NS_PER_MS)
  if (ms < 1) throw badField('step', 'must be a length of time such as 15s, at least 1ms')
  return ms
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
