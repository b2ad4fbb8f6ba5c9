import type { TraceParams } from './params.ts'

/** The conditions of the list on a span, as requests have them. */
export function conditionsOf({ q, service, op, status, min, max, any }: TraceParams) {
  return {
    ...(q ? { where: q } : {}),
    ...(service ? { service } : {}),
    ...(op ? { operation: op } : {}),
    ...(status ? { status } : {}),
    ...(min ? { min_duration: min } : {}),
    ...(max ? { max_duration: max } : {}),
    spans: any ? ('any' as const) : ('root' as const),
  }
}

/** Whether traces are selected by what they came to, so that they can be compared with the others. */
export const isSelection = ({ status, min, max }: TraceParams): boolean => [status, min, max].some((one) => one !== undefined)
