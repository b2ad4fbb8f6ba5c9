import { readDuration } from '@dendro/language/nanoseconds'
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
  return from === undefined || to === undefined ? undefined : { from_ts: from, to_ts: to }
}

function timeOf(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name)?.trim()
  if (!text || text === '0') return undefined
  if (!/^\d{1,10}$/.test(text)) throw badField(name, 'must be whole seconds since 1970')
  return Number(text) * MS_PER_S
}

/** A length of time such as `250ms`, as `GET /traces` takes it. */
export function durationOf(parameters: URLSearchParams, name: string): string | undefined {
  const text = parameters.get(name)?.trim().replace('µs', 'us')
  if (!text) return undefined
  if (readDuration(text) === undefined) throw badField(name, 'must be a number and a unit of ns, us, ms, s, m or h, such as 250ms')
  return text
}
