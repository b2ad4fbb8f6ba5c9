import { readDuration } from '@dendro/language/nanoseconds'
import { flag, number, oneOf, readParams, type SearchParamsOf, text } from '../../parts/shell/search-params.ts'
import { type RangeParams, readRangeParams } from '../../parts/time/range-params.ts'
import type { Range } from '../../parts/time/time-range.ts'

export const statuses = ['ok', 'error', 'unset'] as const

export const operationOrders = ['busiest', 'slowest', 'failing'] as const
export type OperationOrder = (typeof operationOrders)[number]

export const drawings = ['tree', 'flame', 'table'] as const
export type TraceDrawing = (typeof drawings)[number]

/** The range where the address has none. */
export const HOUR: Range = { words: 'Last 1 hour' }

const duration = (value: unknown): string | undefined => {
  const given = text(value)
  return given !== undefined && readDuration(given) !== undefined ? given : undefined
}

const schema = {
  id: text,
  /** A rough time, which makes the search for the trace short. */
  at: number,
  /** The selected span: its id, and `.2` for the second one that has it. */
  span: text,
  find: text,
  /** How the trace is drawn, by default as a tree. */
  as: oneOf(drawings),
  /** The others are of the list. */
  q: text,
  service: text,
  op: text,
  status: oneOf(statuses),
  min: duration,
  max: duration,
  /** Lets any span meet the conditions, not only roots. */
  any: flag,
  order: oneOf(['slowest']),
  /** Shows what the selected traces have that others have not. */
  diff: flag,
  /** Shows operations instead of traces, in the order of rank. */
  ops: flag,
  rank: oneOf(operationOrders),
  /** Shows the map of services. */
  map: flag,
}

/** The search parameters that differ from the default. */
export type TraceParams = RangeParams & SearchParamsOf<typeof schema>
export const readTraceParams = (search: Record<string, unknown>): TraceParams => ({
  ...readRangeParams(search),
  ...readParams(schema, search),
})

/** The range of the address, for links to other views. */
export const linkRange = ({ r, f, t }: TraceParams): RangeParams => ({
  ...(r === undefined ? {} : { r }),
  ...(f === undefined || t === undefined ? {} : { f, t }),
})

/** listParams are those of the list, without the ones of an open trace. */
export const listParams = ({ id: _id, at: _at, span: _span, find: _find, as: _as, ...rest }: TraceParams): TraceParams => rest
