import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { readSeries, type SeriesMeasures, type WindowSeries } from '../observations/observations.ts'

/**
 * Calls whose results over windows of several lengths can be computed exactly in one scan. Percentiles and unique counts are estimates, so
 * their results could differ slightly.
 */
const TAILS: ReadonlySet<string> = new Set(['count', 'rate', 'sum', 'avg', 'min', 'max', 'first', 'last'])

/** True for a series of one window. Such series that end at one time can share a scan, whatever their length. */
const isTail = ({ query, isUsage, fromMs, toMs, windowMs }: WindowSeries): boolean =>
  !isUsage && windowMs === toMs - fromMs && TAILS.has(query.call.call.name)

/** A series, the datasets it reads, and the actor as whom it reads. */
export type SeriesRequest = { readonly series: WindowSeries; readonly datasets: readonly DatasetRow[]; readonly actor: Actor }

/** Equal for series that read the same events by the same groups, whatever they compute and over which windows. */
export function sourceKey({ series: { query, groups, isUsage }, datasets, actor }: SeriesRequest): string {
  const who = [actor.orgId, actor.identity.type, actor.identity.id]
  return JSON.stringify([who, isUsage, query.query.where.trim(), groups, datasets.map(({ id }) => id).sort()])
}

export const windowsKey = ({ fromMs, toMs, stepMs, windowMs }: WindowSeries): string => JSON.stringify([fromMs, toMs, stepMs, windowMs])

/**
 * Groups series that one statement can read: equal sources over equal windows, then scans of tails that end at one time. A scan that is
 * needed anyway keeps its own tails, so the number of scans never grows.
 */
export function groupIntoScans(requests: readonly SeriesRequest[]): SeriesRequest[][] {
  const alike = Map.groupBy(requests, (one) => `${sourceKey(one)} ${windowsKey(one.series)}`)
  const joined = Map.groupBy(alike, ([key, scan]) => {
    const [first] = scan
    return first && scan.every(({ series }) => isTail(series)) ? `${sourceKey(first)} until ${first.series.toMs}` : key
  })
  return [...joined.values()].map((scans) => scans.flatMap(([, scan]) => scan))
}

/** The error of a failed scan. */
export type FailedReading = { readonly thrown: unknown }

/** Reads the series of one scan. If it fails because a long window is too expensive, each length is read on its own. */
export async function readScan(
  world: World,
  scan: readonly SeriesRequest[],
  signal: AbortSignal,
): Promise<ReadonlyMap<WindowSeries, SeriesMeasures | FailedReading>> {
  const [first] = scan
  if (!first) return new Map()
  const series = scan.map((one) => one.series)
  try {
    const readings = await readSeries(world, first.actor, series, first.datasets, signal)
    return new Map(series.map((one, index) => [one, readings[index] ?? []]))
  } catch (thrown) {
    const lengths = Map.groupBy(scan, (one) => one.series.fromMs)
    if (lengths.size === 1 || signal.aborted) return new Map(series.map((one) => [one, { thrown }]))
    const found = new Map<WindowSeries, SeriesMeasures | FailedReading>()
    for (const alike of lengths.values()) {
      for (const [one, reading] of await readScan(world, alike, signal)) found.set(one, reading)
    }
    return found
  }
}
