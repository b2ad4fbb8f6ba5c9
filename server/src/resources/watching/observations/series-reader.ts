import type { Actor } from '../../../http/actor.ts'
import { type EventQuery, PART_KEY, type QueryBudget, type TimeBounds } from '../../../reading/query.ts'
import { readNestedWindows, readWindows } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, datasetSelectionOf, eventFiltersOf, visibleDatasets } from '../../data/datasets/datasets.ts'
import { budgetOf, buildEventQuery } from '../../data/event-queries/event-queries.ts'
import { watchSpend } from '../../data/spend/spend.ts'
import { readParts } from '../../data/usage/usage.ts'
import { groupId } from '../alert-states/alert-states.ts'
import { EVALUATE_ACTION } from '../monitor-definitions/monitor-definitions.ts'
import { type GroupMeasure, type GroupMeasures, NO_PATTERN } from './compare.ts'
import type { SeriesMeasures, WindowSeries } from './observation.ts'

const MINUTE_MS = 60_000

/** The datasets that a series reads; none is not an error, since they may not exist yet. */
export async function sourcesOf(world: World, actor: Actor, { query }: WindowSeries): Promise<readonly DatasetRow[]> {
  const choose = datasetSelectionOf(query.query)
  return choose(await visibleDatasets(world, actor))
}

/** Series that read the same datasets. */
type ScanPart = { readonly series: readonly WindowSeries[]; readonly datasets: readonly DatasetRow[] }
/** The results of each series of each part, and how many rows of the store were read for all of them. */
type ScanReading = { readonly measures: readonly (readonly SeriesMeasures[])[]; readonly rows: number }

type ReadOptions = { readonly signal: AbortSignal; readonly budget?: QueryBudget | undefined }

/**
 * Reads all parts of a scan in one statement. No dataset is in two parts. The parts have the same filter, groups, calls and windows; the series of a part
 * differ in their calls, or only in length when all end at one time.
 */
export async function readScanParts(
  world: World,
  actor: Actor,
  parts: readonly ScanPart[],
  { signal, budget = budgetOf(world, actor) }: ReadOptions,
): Promise<ScanReading> {
  const series = parts.flatMap((part) => part.series)
  const datasets = parts.flatMap((part) => part.datasets)
  const [first] = series
  if (!first || datasets.length === 0) return { measures: parts.map((part) => part.series.map(() => [])), rows: 0 }
  if (first.isUsage) return { measures: await readUsage(world, actor, parts), rows: 0 }
  const { toMs, groups, stepMs, query } = first
  const lengthsMs = [...new Set(series.map(({ fromMs }) => toMs - fromMs))].sort((one, other) => one - other)
  const fromMs = toMs - (lengthsMs.at(-1) ?? 0)
  const reader = actor.facts.action === EVALUATE_ACTION ? { reader: 'monitor' as const } : {}
  const bounds = { fromMs, toMs }
  const plainQuery = await buildEventQuery(world, actor, { datasets, filter: query.filter, bounds, signal, budget, ...reader })
  const patternBounds = boundsOfPatterns(series)
  const eventQuery = { ...inParts(plainQuery, parts), ...(patternBounds ? { patternBounds } : {}) }
  const calls = new Map(series.map(({ query: { call } }) => [JSON.stringify(call.call), call.call]))
  const isTails = lengthsMs.length > 1
  const isParted = parts.length > 1
  const wanted = { calls: [...calls.values()], groups: isParted ? [PART_KEY, ...groups] : groups }
  const found = isTails
    ? await readNestedWindows(world.events, eventQuery, { ...wanted, lengthsMs })
    : await readWindows(world.events, eventQuery, { ...wanted, stepMs, windowMs: first.windowMs })
  const order = [...calls.keys()]
  const byPart = Map.groupBy(found.groups, ({ values }) => (isParted ? Number(values[0]) : 0))
  const measures = parts.map((part, partNumber) =>
    part.series.map((one) => {
      const at = order.indexOf(JSON.stringify(one.query.call.call))
      const offset = isTails ? lengthsMs.indexOf(toMs - one.fromMs) : 0
      const windows = isTails ? 1 : Math.round((toMs - fromMs - one.windowMs) / stepMs) + 1
      const cells: Map<string, GroupMeasure>[] = Array.from({ length: windows }, () => new Map())
      for (const { window, values, measured } of byPart.get(partNumber) ?? []) {
        const value = numberIn(measured.stats[at]?.value ?? null)
        const own = isParted ? values.slice(1) : values
        if (measured.count > 0) cells[window - offset]?.set(idOf(groups, own), { count: measured.count, value })
      }
      return cells
    }),
  )
  return { measures, rows: found.rows }
}

/** Reads series of the same datasets and returns the results of each. */
export async function readSeries(
  world: World,
  actor: Actor,
  series: readonly WindowSeries[],
  datasets: readonly DatasetRow[],
  signal: AbortSignal,
  budget?: QueryBudget,
): Promise<readonly SeriesMeasures[]> {
  const { measures } = await readScanParts(world, actor, [{ series, datasets }], { signal, budget })
  return measures[0] ?? []
}

/** A query that keeps the parts apart by their numbers. */
function inParts(query: EventQuery, parts: readonly ScanPart[]): EventQuery {
  if (parts.length === 1) return query
  const numbers = new Map(parts.flatMap(({ datasets }, number) => datasets.map(({ id }) => [id, String(number)] as const)))
  return { ...query, sources: query.sources.map((source) => ({ ...source, part: numbers.get(source.logId) ?? '' })) }
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
async function readUsage(world: World, actor: Actor, scanParts: readonly ScanPart[]): Promise<SeriesMeasures[][]> {
  const datasets = scanParts.flatMap((part) => part.datasets)
  const [first] = scanParts.flatMap(({ series }) => series)
  if (!first) return []
  const { fromMs, toMs, stepMs, groups, spend } = first
  const inMinutes = (atMs: number) => Math.floor(atMs / MINUTE_MS) * MINUTE_MS
  const bounds = { fromMs: inMinutes(fromMs), toMs: inMinutes(toMs + MINUTE_MS - 1) }
  const slices = Math.max(1, Math.round((toMs - fromMs) / stepMs))
  const filters = await eventFiltersOf(world, actor, datasets)
  const byId = new Map(datasets.flatMap((dataset) => (filters?.[dataset.id] === undefined ? [[dataset.id, dataset] as const] : [])))
  if (spend) {
    const timesMs = Array.from({ length: slices }, (_, slice) => fromMs + (slice + 1) * stepMs)
    const found = await watchSpend(world, actor, { datasets: [...byId.values()], timesMs, measure: spend })
    const measures = found.map(({ value, evidence }) => new Map(value === undefined ? [] : [['', { count: 1, value, evidence }]]))
    return scanParts.map(({ series }) => series.map(() => measures))
  }
  const { parts } = await readParts(world, actor, 'ingestion', { bounds, slices, logIds: [...byId.keys()], isByLog: true })
  const byLog = Map.groupBy(parts, ({ logId }) => logId)
  return scanParts.map((scanPart) => {
    const cells: Map<string, GroupMeasure>[] = Array.from({ length: slices }, () => new Map())
    for (const dataset of scanPart.datasets) {
      const id = idOf(
        groups,
        groups.map((key) => (key === '@collection' ? dataset.collection : dataset.dataset)),
      )
      for (const { slice, count, sum } of byLog.get(dataset.id) ?? []) {
        const window = cells[Math.min(slice, slices - 1)]
        if (!window || count === 0) continue
        const known = window.get(id) ?? { count: 0, value: 0 }
        window.set(id, { count: known.count + count, value: (known.value ?? 0) + sum })
      }
    }
    return scanPart.series.map((): readonly GroupMeasures[] => cells)
  })
}
