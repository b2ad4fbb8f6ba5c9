import type { ExploreParams } from '../explore-params.ts'
import { valueText } from '../query/clauses.ts'

const ID_KEY = /(?:^|[._-])(?:id|uuid|guid)$|[a-z](?:Id|ID|Uuid)$/
const ID = /^(?:[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{12,64})$/i
const ID_LENGTH_MIN = 6
const AROUND_MS = 900_000

/** canFollow tells what goes from service to service, as ids of requests and traces do, from words and small numbers, which are everywhere. */
export const canFollow = (key: string, value: string): boolean => ID.test(value) || (ID_KEY.test(key) && value.length >= ID_LENGTH_MIN)

/** followed asks for a value in the lines of all datasets, oldest first with the time between them; other datasets give it other names, so it is looked for as text. */
export function followParams(now: ExploreParams, value: string, atMs: number | undefined): ExploreParams {
  const { d: _d, off: _off, live: _live, tab: _tab, sf: _sf, st: _st, m: _m, e: _e, fold: _fold, cols: _cols, ...keptParams } = now
  const { r: _r, f: _f, t: _t, ...rest } = keptParams
  const range = atMs === undefined ? keptParams : { ...rest, f: atMs - AROUND_MS, t: atMs + AROUND_MS }
  return { ...range, q: valueText(value), asc: true, gap: true }
}
