import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { QueryBudget, TimeBounds } from '../../../reading/query.ts'
import { readNestedWindows, readWindows } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, eventFiltersOf, sourceDatasets } from '../../data/datasets/datasets.ts'
import { budgetOf, buildEventQuery } from '../../data/event-queries/event-queries.ts'
import { readParts } from '../../data/usage/usage.ts'
import { groupId } from '../alert-states/alert-states.ts'
import { EVALUATE_ACTION } from '../monitor-definitions/monitor-definitions.ts'
import { type GroupMeasure, type GroupMeasures, NO_PATTERN } from './compare.ts'
import type { SeriesMeasures, WindowSeries } from './observation.ts'

const MINUTE_MS = 60_000

/** The datasets that a series reads; none is not an error, since they may not exist yet. */
export async function sourcesOf(world: World, actor: Actor, { query }: WindowSeries): Promise<readonly DatasetRow[]> {
  return sourceDatasets(world, actor, query.query).catch((thrown) => {
    if (thrown instanceof Failure && thrown.status === 404) return []
    throw thrown
  })
}

/**
 * Reads series that share a scan in one statement and returns the results of each. The series differ in their calls, or only in length when
 * all end at one time.
 */
export async function readSeries(
  world: World,
  actor: Actor,
  series: readonly WindowSeries[],
  datasets: readonly DatasetRow[],
  signal: AbortSignal,
  budget: QueryBudget = budgetOf(world, actor),
): Promise<SeriesMeasures[]> {
  const [first] = series
  if (!first || datasets.length === 0) return series.map(() => [])
  if (first.isUsage) return readUsage(world, actor, series, datasets)
  const { toMs, groups, stepMs, query } = first
  const lengthsMs = [...new Set(series.map(({ fromMs }) => toMs - fromMs))].sort((one, other) => one - other)
  const fromMs = toMs - (lengthsMs.at(-1) ?? 0)
  const reader = actor.facts.action === EVALUATE_ACTION ? { reader: 'monitor' as const } : {}
  const plainQuery = await buildEventQuery(world, actor, {
    datasets,
    filter: query.filter,
    bounds: { fromMs, toMs },
    signal,
    budget,
    ...reader,
  })
  const patternBounds = boundsOfPatterns(series)
  const eventQuery = patternBounds ? { ...plainQuery, patternBounds } : plainQuery
  const names = series.map((one) => JSON.stringify(one.query.call.call))
  const calls = [...new Map(series.map((one, index) => [names[index], one.query.call.call])).values()]
  const isTails = lengthsMs.length > 1
  const found = isTails
    ? await readNestedWindows(world.events, eventQuery, { calls, groups, lengthsMs })
    : await readWindows(world.events, eventQuery, { calls, groups, stepMs, windowMs: first.windowMs })
  const order = calls.map((call) => JSON.stringify(call))
  return series.map((one, index) => {
    const at = order.indexOf(names[index] ?? '')
    const offset = isTails ? lengthsMs.indexOf(toMs - one.fromMs) : 0
    const windows = isTails ? 1 : Math.round((toMs - fromMs - one.windowMs) / stepMs) + 1
    const cells: Map<string, GroupMeasure>[] = Array.from({ length: windows }, () => new Map())
    for (const { window, values, measured } of found) {
      const value = numberIn(measured.stats[at]?.value ?? null)
      if (measured.count > 0) cells[window - offset]?.set(idOf(groups, values), { count: measured.count, value })
    }
    return cells
  })
}

/** The range that contains those of all series. */
function boundsOfPatterns(series: readonly WindowSeries[]): TimeBounds | undefined {
  const all = series.flatMap(({ patternBounds }) => patternBounds ?? [])
  if (all.length === 0) return undefined
  const each = [...all, ...series]
  return { fromMs: Math.min(...each.map(({ fromMs }) => fromMs)), toMs: Math.max(...each.map(({ toMs }) => toMs)) }
}

/** A pattern has an id of its own; other groups are identified by keys and values. '' would stand for the whole monitor. */
function idOf(groups: readonly string[], values: readonly (string | null)[]): string {
  if (groups.length === 0) return ''
  return groups.length === 1 && groups[0] === '@pattern' ? (values[0] ?? NO_PATTERN) : groupId(groups, values)
}

function numberIn(value: number | string | null): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/**
 * Reads the bytes stored by dataset. The ledger counts by minute, so windows are aligned to minutes, and counts all events, so datasets of which the actor
 * sees only some are left out.
 */
async function readUsage(
  world: World,
  actor: Actor,
  series: readonly WindowSeries[],
  datasets: readonly DatasetRow[],
): Promise<SeriesMeasures[]> {
  const [first] = series
  if (!first) return []
  const { fromMs, toMs, stepMs, groups } = first
  const inMinutes = (atMs: number) => Math.floor(atMs / MINUTE_MS) * MINUTE_MS
  const bounds = { fromMs: inMinutes(fromMs), toMs: inMinutes(toMs + MINUTE_MS - 1) }
  const slices = Math.max(1, Math.round((toMs - fromMs) / stepMs))
  const filters = await eventFiltersOf(world, actor, datasets)
  const byId = new Map(datasets.flatMap((dataset) => (filters?.[dataset.id] === undefined ? [[dataset.id, dataset] as const] : [])))
  const { parts } = await readParts(world, actor, 'ingestion', { bounds, slices, logIds: [...byId.keys()], isByLog: true })
  const cells: Map<string, GroupMeasure>[] = Array.from({ length: slices }, () => new Map())
  for (const { slice, logId, count, sum } of parts) {
    const dataset = byId.get(logId)
    const window = cells[Math.min(slice, slices - 1)]
    if (!dataset || !window || count === 0) continue
    const id = idOf(
      groups,
      groups.map((key) => (key === '@collection' ? dataset.collection : dataset.dataset)),
    )
    const known = window.get(id) ?? { count: 0, value: 0 }
    window.set(id, { count: known.count + count, value: (known.value ?? 0) + sum })
  }
  return series.map(() => cells as readonly GroupMeasures[])
}
