import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import { PART_KEY } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { readScanParts, type SeriesMeasures, type WindowSeries } from '../observations/observations.ts'
import type { ScanSizes } from './scan-sizes.ts'

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

/** Requests that read the same datasets. */
export type ScanRequests = readonly SeriesRequest[]
/** What one statement reads: parts that have no dataset in common. */
export type Scan = readonly ScanRequests[]

/** Equal for series that read the same events by the same groups, whatever they compute and over which windows. */
export const sourceKey = (request: SeriesRequest): string => `${conditionKey(request)} ${datasetsKey(request)}`

/** Equal for series that read in the same way, from whichever datasets. */
function conditionKey({ series: { query, groups, isUsage, spend }, actor }: SeriesRequest): string {
  const who = [actor.orgId, actor.identity.type, actor.identity.id]
  return JSON.stringify([who, spend ?? isUsage, query.query.where.trim(), groups])
}

const datasetsKey = ({ datasets }: SeriesRequest): string => JSON.stringify(datasets.map(({ id }) => id).sort())

export const windowsKey = ({ fromMs, toMs, stepMs, windowMs }: WindowSeries): string => JSON.stringify([fromMs, toMs, stepMs, windowMs])

/** Names a part, whatever the time of its windows. */
export function partKey(part: ScanRequests): string {
  const [first] = part
  if (!first) return ''
  const wanted = part.map(({ series: { query, windowMs } }) => `${JSON.stringify(query.call.call)} ${windowMs}`)
  return `${sourceKey(first)} ${[...new Set(wanted)].sort().join(' ')}`
}

/**
 * Groups series that one statement can read: equal sources over equal windows, then tails that end at one time, then parts that ask the same of other
 * datasets. A scan that is needed anyway keeps its own tails, so the number of scans never grows.
 */
export function groupIntoScans(requests: readonly SeriesRequest[], sizes?: Pick<ScanSizes, 'maxOf'>): Scan[] {
  const alike = Map.groupBy(requests, (one) => `${sourceKey(one)} ${windowsKey(one.series)}`)
  const joined = Map.groupBy(alike, ([key, scan]) => {
    const [first] = scan
    return first && scan.every(({ series }) => isTail(series)) ? `${sourceKey(first)} until ${first.series.toMs}` : key
  })
  const parts = [...joined.values()].map((scans) => scans.flatMap(([, scan]) => scan))
  return [...Map.groupBy(parts, requestKey)].flatMap(([key, own]) => (key === '' ? own.map((part) => [part]) : apart(own, sizes)))
}

/** Equal for parts that can share a statement; empty for a part that cannot. */
function requestKey(part: ScanRequests): string {
  const [first] = part
  if (!first || first.datasets.length === 0 || first.series.spend || first.series.groups.includes(PART_KEY)) return ''
  const requested = new Set(part.map(({ series }) => `${JSON.stringify(series.query.call.call)} ${windowsKey(series)}`))
  const patterns = part.map(({ series }) => JSON.stringify(series.patternBounds ?? null))
  return `${conditionKey(first)} ${[...requested].sort().join(' ')} ${[...new Set(patterns)].sort().join(' ')}`
}

/** Puts parts into as few scans as their sizes permit, so that no dataset is in two parts of a scan. */
function apart(parts: readonly ScanRequests[], sizes: Pick<ScanSizes, 'maxOf'> | undefined): Scan[] {
  const scans: { parts: ScanRequests[]; datasets: Set<string>; max: number }[] = []
  const open = new Map<number, typeof scans>()
  for (const part of parts) {
    const max = sizes?.maxOf(partKey(part)) ?? Number.POSITIVE_INFINITY
    const ids = part[0]?.datasets.map(({ id }) => id) ?? []
    const alike = open.get(max) ?? []
    open.set(max, alike)
    const fitting = alike.find((scan) => ids.every((id) => !scan.datasets.has(id)))
    const scan = fitting ?? { parts: [], datasets: new Set(), max }
    if (!fitting) {
      scans.push(scan)
      alike.push(scan)
    }
    scan.parts.push(part)
    for (const id of ids) scan.datasets.add(id)
    if (scan.parts.length >= max) alike.splice(alike.indexOf(scan), 1)
  }
  return scans.map((scan) => scan.parts)
}

/** The error of a failed scan. */
export type FailedReading = { readonly thrown: unknown }
export type ScanReadings = ReadonlyMap<WindowSeries, SeriesMeasures | FailedReading>

/**
 * Reads the series of one scan. If it fails, its halves are read, and for one part each length, until those are left that fail by themselves: a monitor
 * that asks too much does not spoil its neighbors.
 */
export async function readScan(world: World, scan: Scan, signal: AbortSignal, sizes?: Pick<ScanSizes, 'note'>): Promise<ScanReadings> {
  const [first] = scan.flat()
  if (!first) return new Map()
  const parts = scan.map((part) => ({ series: part.map(({ series }) => series), datasets: part[0]?.datasets ?? [] }))
  try {
    const { measures, rows } = await readScanParts(world, first.actor, parts, { signal })
    sizes?.note(scan.map(partKey), rows)
    return new Map(parts.flatMap(({ series }, part) => series.map((one, index) => [one, measures[part]?.[index] ?? []] as const)))
  } catch (thrown) {
    const smaller = signal.aborted || isOfStore(thrown) ? [] : smallerScans(scan)
    if (smaller.length === 0) return new Map(parts.flatMap(({ series }) => series.map((one) => [one, { thrown }] as const)))
    sizes?.note(scan.map(partKey), Number.POSITIVE_INFINITY)
    const found = new Map<WindowSeries, SeriesMeasures | FailedReading>()
    for (const one of smaller) for (const [series, reading] of await readScan(world, one, signal, sizes)) found.set(series, reading)
    return found
  }
}

/** Whether the event store is away, for smaller scans as well. */
const isOfStore = (thrown: unknown): boolean => thrown instanceof Failure && thrown.status === 503

/** The scans to read instead of one that failed; none when it cannot be made smaller. */
function smallerScans(scan: Scan): Scan[] {
  const middle = Math.ceil(scan.length / 2)
  if (scan.length > 1) return [scan.slice(0, middle), scan.slice(middle)]
  const lengths = Map.groupBy(scan[0] ?? [], ({ series }) => series.fromMs)
  return lengths.size > 1 ? [...lengths.values()].map((part) => [part]) : []
}
