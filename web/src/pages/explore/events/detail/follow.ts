import type { ExploreParams } from '../../explore-params.ts'
import { valueText } from '../../query/clauses.ts'

const ID_KEY = /(?:^|[._-])(?:id|uuid|guid)$|[a-z](?:Id|ID|Uuid)$/
const ID = /^(?:[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{12,64})$/i
const ID_LENGTH_MIN = 6
const AROUND_MS = 900_000

/** True for values that look like request or trace ids. Words and small numbers occur everywhere. */
export const canFollow = (key: string, value: string): boolean => ID.test(value) || (ID_KEY.test(key) && value.length >= ID_LENGTH_MIN)

/** Searches a value as text in all datasets, oldest first with gaps. As text, since other datasets may use another field name. */
export function followParams(now: ExploreParams, value: string, atMs: number | undefined): ExploreParams {
  const { d: _d, off: _off, live: _live, tab: _tab, sf: _sf, st: _st, m: _m, e: _e, fold: _fold, cols: _cols, ...keptParams } = now
  const { r: _r, f: _f, t: _t, ...rest } = keptParams
  const range = atMs === undefined ? keptParams : { ...rest, f: atMs - AROUND_MS, t: atMs + AROUND_MS }
  return { ...range, q: valueText(value), asc: true, gap: true }
}
