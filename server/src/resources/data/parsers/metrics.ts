import type { contract, QueryOf, ReplyOf, Series } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { boundsOf, deltaFields, earlierThan } from '../../../query/bounds.ts'
import { sliceLengthMs, sliceStartMs } from '../../../query/slices.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import { checkSeesWhole, type DatasetRow, findDataset, wholeDatasets } from '../datasets/datasets.ts'
import { type ParserSlice, selectParserSlices } from './rows.ts'

type ParserMetricsQuery = QueryOf<typeof contract.parsers.usage>
type ParserMetrics = ReplyOf<typeof contract.parsers.usage>

const MINUTE_MS = 60_000
const LONG_MS = 12 * 60 * MINUTE_MS
const LONG_SLICE_MS = 20 * MINUTE_MS
const SLICES_MAX = 720
const LOGS = 50
const RANGE = 'last 1 day'

/** A statistic computed from the counts of a slice. */
type Statistic = { stat: string; of(counted: LineCounts): number }
type LineCounts = { lines: number; matched: number; duration_ns: number }

const ratio: Statistic = { stat: 'avg(match_ratio)', of: ({ lines, matched }) => (lines === 0 ? 0 : matched / lines) }
const latency: Statistic = { stat: 'avg(latency_ns)', of: ({ lines, duration_ns }) => (lines === 0 ? 0 : Math.round(duration_ns / lines)) }

/** For the logs whose parsers read the most lines: how many lines matched, and the time it took. */
export async function parserMetrics(
  world: Pick<World, 'meta' | 'clock'>,
  actor: Actor,
  request: ParserMetricsQuery,
): Promise<ParserMetrics> {
  const nowMs = world.clock.nowMs()
  const bounds = boundsOf(request, nowMs, RANGE)
  const slices = request.num_of_slices ?? slicesOf(bounds)
  const visible = request.log_id === undefined ? await wholeDatasets(world, actor) : [await wholeDataset(world, actor, request.log_id)]
  const ids = new Set(visible.map(({ id }) => id))
  const widthMs = Math.max(1, bounds.toMs - bounds.fromMs) / slices
  const counted = await countedByLog(world, actor, { ...bounds, widthMs })
  const period = { range: request.delta_time_range, from_ts: request.delta_from_ts, to_ts: request.delta_to_ts }
  const earlier = request.delta ? earlierThan(bounds, period, nowMs, deltaFields) : undefined
  const before = earlier && {
    bounds: earlier,
    counted: await countedByLog(world, actor, { ...earlier, widthMs: Math.max(1, earlier.toMs - earlier.fromMs) }),
  }
  const busiest = [...counted]
    .filter(([id]) => ids.has(id))
    .map(([id, own]) => ({ id, own, whole: sumOf(own) }))
    .sort((a, b) => b.whole.lines - a.whole.lines || (a.id < b.id ? -1 : 1))
    .slice(0, request.limit ?? LOGS)
  const seriesOf = (statistic: Statistic) =>
    busiest.map(({ id, own, whole }): Series => {
      const past = before && { bounds: before.bounds, whole: sumOf(before.counted.get(id) ?? []) }
      return series(id, statistic, { own, whole, bounds, slices }, past)
    })
  return { log_id: request.log_id ?? busiest[0]?.id ?? '', match_ratio: seriesOf(ratio), latency_ns: seriesOf(latency) }
}

async function wholeDataset(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<DatasetRow> {
  const dataset = await findDataset(world, actor, id)
  await checkSeesWhole(world, actor, dataset)
  return dataset
}

/** The same rule as for usage: minutes up to 12 hours, then 20 minutes, with a maximum. */
function slicesOf({ fromMs, toMs }: TimeBounds): number {
  const lengthMs = toMs - fromMs
  const widthMs = lengthMs <= LONG_MS ? MINUTE_MS : LONG_SLICE_MS
  return Math.min(SLICES_MAX, Math.max(1, Math.ceil(lengthMs / widthMs)))
}

async function countedByLog(
  world: Pick<World, 'meta'>,
  actor: Actor,
  range: { fromMs: number; toMs: number; widthMs: number },
): Promise<Map<string, ParserSlice[]>> {
  return Map.groupBy(await selectParserSlices(world.meta, actor.orgId, range), ({ log_id }) => log_id)
}

const sumOf = (slices: readonly LineCounts[]): LineCounts => ({
  lines: slices.reduce((sum, { lines }) => sum + lines, 0),
  matched: slices.reduce((sum, { matched }) => sum + matched, 0),
  duration_ns: slices.reduce((sum, { duration_ns }) => sum + duration_ns, 0),
})

type CurrentSlices = { own: readonly ParserSlice[]; whole: LineCounts; bounds: TimeBounds; slices: number }
type EarlierRange = { bounds: TimeBounds; whole: LineCounts }

function series(
  id: string,
  { stat, of }: Statistic,
  { own, whole, bounds, slices }: CurrentSlices,
  past: EarlierRange | undefined,
): Series {
  const bySlice = new Map(own.map((one) => [Math.min(one.slice, slices - 1), one]))
  const value = of(whole)
  const timeseries = Array.from({ length: slices }, (_, slice) => {
    const counted = bySlice.get(slice) ?? { lines: 0, matched: 0, duration_ns: 0 }
    return { '@timestamp': String(sliceStartMs(bounds, slices, slice)), count: counted.lines, value: of(counted), quantiles: {} }
  })
  const known = {
    key: 'log_id',
    name: id,
    count: whole.lines,
    stat,
    value,
    quantiles: {},
    series_resolution_ms: sliceLengthMs(bounds, slices),
    timeseries,
  }
  return past ? { ...known, delta: deltaOf(value, of(past.whole), past) } : known
}

const deltaOf = (value: number, before: number, { bounds, whole }: EarlierRange): Series['delta'] => ({
  start_time: bounds.fromMs,
  end_time: bounds.toMs,
  total_count: whole.lines,
  total_value: before,
  delta_value: value - before,
  delta_factor: before === 0 ? 0 : (value - before) / before,
  aggregates: [],
  changes: [],
})
