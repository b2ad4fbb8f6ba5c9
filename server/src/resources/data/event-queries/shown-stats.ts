import type { AggregateGroupRow, ResultRow, Series, TimeSlice, Totals } from '@dendro/api'
import type { SelectItem } from '@dendro/language/tree'
import { deferredList } from '../../../kernel/json-pieces.ts'
import { mapInSteps } from '../../../kernel/steps.ts'
import { sliceLengthMs, sliceStartMs } from '../../../query/slices.ts'
import type { StatsGroup, StatsResult, StatsRow, StatValue, TimeBounds } from '../../../reading/query.ts'
import { sliceTimeText } from './shown-time.ts'

/** An aggregate of a select. */
export type CallItem = Extract<SelectItem, { kind: 'call' }>

/** The frame for numbers: the aggregates in order, the time range, and its slices. */
export type StatsFrame = {
  readonly calls: readonly CallItem[]
  readonly bounds: TimeBounds
  readonly slices: number
  readonly groups: readonly string[]
}

/** The name of the group of events without a key. */
const NULL_NAME = 'null'

export const resolutionMs = ({ bounds, slices }: StatsFrame): number => sliceLengthMs(bounds, slices)

/** A stat as a number: null is 0, and text is parsed. */
export function numberOf(stat: StatValue | undefined): number {
  const value = stat?.value ?? 0
  const number = typeof value === 'number' ? value : Number(value)
  return Number.isFinite(number) ? number : 0
}

const noValue = (stat: StatValue | undefined): Pick<TimeSlice, 'no_value'> => ((stat?.value ?? null) === null ? { no_value: true } : {})

/** A value in a row: a number as text with a fraction. */
function valueText(stat: StatValue | undefined): string {
  if (typeof stat?.value === 'string') return stat.value
  if (stat?.exact !== undefined) return `${stat.exact}.0`
  const value = numberOf(stat)
  if (!Number.isInteger(value)) return String(value)
  return Number.isSafeInteger(value) ? value.toFixed(1) : `${BigInt(value)}.0`
}

const quantilesOf = (stat: StatValue | undefined): TimeSlice['quantiles'] => (stat?.quantiles ? { ...stat.quantiles } : {})

/** The slices of a range for one aggregate, including empty ones. */
export function timeSlices(slices: readonly StatsRow[], frame: StatsFrame, index = 0): TimeSlice[] {
  return slices.map((slice, at) => ({
    '@timestamp': String(sliceStartMs(frame.bounds, frame.slices, at)),
    count: slice.count,
    value: numberOf(slice.stats[index]),
    ...noValue(slice.stats[index]),
    quantiles: quantilesOf(slice.stats[index]),
  }))
}

/** The totals of the range. */
export function totalsOf(found: StatsResult, frame: StatsFrame): Totals {
  const totals: Totals = { count: found.whole.count, timeseries: timeSlices(found.slices, frame) }
  if (frame.groups.length > 0) {
    totals.total_groups = found.groupsTotal
    totals.retrieved_groups = found.groups.length
  }
  return { ...valuesOf(found.whole, frame), ...totals }
}

const valuesOf = (measured: StatsRow, { calls }: StatsFrame): Record<string, string | number | bigint | null> =>
  Object.fromEntries(calls.map(({ name }, index) => [name, measured.stats[index]?.exact ?? measured.stats[index]?.value ?? null]))

/** The rows of an aggregate, one for each slice. */
export const sliceRows = (found: StatsResult, frame: StatsFrame): ResultRow[] =>
  found.slices.map((slice, at) => {
    const startMs = sliceStartMs(frame.bounds, frame.slices, at)
    const values = frame.calls.map(({ name }, index) => [name, valueText(slice.stats[index])])
    return { ...Object.fromEntries(values), '@time': sliceTimeText(startMs), '@timestamp': String(startMs) }
  })

/** The name of a group in rows: [a, b]. */
export const groupName = (values: StatsGroup['values']): string => `[${values.map((value) => value ?? NULL_NAME).join(', ')}]`

/** About the length of the JSON of a slice. */
const SLICE_CHARS = 70

/** The slices of groups would be most of a long answer, so they are made while it is written. */
const deferredSlices = (slices: readonly StatsRow[], frame: StatsFrame): TimeSlice[] =>
  deferredList(slices.length, SLICE_CHARS, () => timeSlices(slices, frame))

/** The groups, largest first, in the two flat forms of the response. */
export async function groupRows(found: StatsResult, frame: StatsFrame): Promise<{ groups: AggregateGroupRow[]; result: ResultRow[] }> {
  const stat = frame.calls[0]?.name ?? ''
  const rows = await mapInSteps(found.groups, ({ values, whole, slices }) => ({
    flat: { ...valuesOf(whole, frame), group: groupName(values), count: whole.count },
    more: { stat, value: numberOf(whole.stats[0]), timeseries: deferredSlices(slices, frame) },
  }))
  return { groups: await mapInSteps(rows, ({ flat, more }) => ({ ...flat, ...more })), result: rows.map(({ flat }) => flat) }
}

/**
 * Nests groups, one key per level. Levels above the leaves are measured separately, because means and percentiles do not add up; `levels` are these
 * measurements, outermost first, leaves last.
 */
export async function seriesTree(levels: readonly (readonly StatsGroup[])[], frame: StatsFrame): Promise<Series[]> {
  // From the leaves upwards, so that a level finds what is inside its groups.
  let inside: ReadonlyMap<string, Series[]> | undefined
  for (const [depth, groups] of [...levels.entries()].reverse()) {
    const below = inside
    const above = new Map<string, Series[]>()
    await mapInSteps(groups, (group) => {
      const series = seriesOf(group, frame, depth)
      if (below) series.groups_series = below.get(nameOf(group.values)) ?? []
      const parent = nameOf(group.values.slice(0, depth))
      const siblings = above.get(parent)
      if (siblings) siblings.push(series)
      else above.set(parent, [series])
    })
    inside = above
  }
  return inside?.get(nameOf([])) ?? []
}

const nameOf = (values: StatsGroup['values']): string => JSON.stringify(values)

/** One group of a level. */
function seriesOf({ values, whole, slices }: StatsGroup, frame: StatsFrame, depth: number): Series {
  const [first] = whole.stats
  return {
    name: values[depth] ?? NULL_NAME,
    count: whole.count,
    stat: frame.calls[0]?.name ?? '',
    value: numberOf(first),
    ...noValue(first),
    quantiles: quantilesOf(first),
    series_resolution_ms: resolutionMs(frame),
    timeseries: deferredSlices(slices, frame),
    key: frame.groups[depth] ?? '',
    ...(frame.calls.length > 1 ? { aggregates: aggregatesOf(whole, frame) } : {}),
  }
}

const aggregatesOf = (whole: StatsRow, { calls }: StatsFrame): { function: string; value: number | null }[] =>
  calls.map(({ name }, index) => ({ function: name, value: asNumber(whole.stats[index]) }))

const asNumber = (stat: StatValue | undefined): number | null => (stat?.value === null || stat === undefined ? null : numberOf(stat))
