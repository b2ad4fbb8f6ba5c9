import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import type { Reading, Series } from '../monitors/monitors.ts'
import { readSeries } from '../monitors/monitors.ts'

/**
 * TAILS are the calls that windows of several lengths give in one scan just as they give them one by one: what was counted of the parts of a window
 * is put together without loss. Percentiles and numbers of unique values are estimates, which would come out a little different.
 */
const TAILS: ReadonlySet<string> = new Set(['count', 'rate', 'sum', 'avg', 'min', 'max', 'first', 'last'])

/** isTail tells series of one window that ends where it likes: all that end at one time can be read together, however long they are. */
const isTail = ({ query, isUsage, fromMs, toMs, windowMs }: Series): boolean =>
  !isUsage && windowMs === toMs - fromMs && TAILS.has(query.call.call.name)

/** An Asked is a series with what it reads and as whom. */
export type Asked = { readonly series: Series; readonly datasets: readonly DatasetRow[]; readonly actor: Actor }

/** questionKey is the same for what asks the same events for the same groups, whatever is made of them and over which windows. */
export function questionKey({ series: { query, groups, isUsage }, datasets, actor }: Asked): string {
  const who = [actor.orgId, actor.identity.type, actor.identity.id]
  return JSON.stringify([who, isUsage, query.query.where.trim(), groups, datasets.map(({ id }) => id).sort()])
}

export const windowsKey = ({ fromMs, toMs, stepMs, windowMs }: Series): string => JSON.stringify([fromMs, toMs, stepMs, windowMs])

/**
 * scansOf puts together what one statement can answer: the same question over the same windows, and then scans of tails alone that end at one time.
 * A scan that has to be made anyway keeps its own tails, so that there are never more scans than without.
 */
export function scansOf(asked: readonly Asked[]): Asked[][] {
  const alike = Map.groupBy(asked, (one) => `${questionKey(one)} ${windowsKey(one.series)}`)
  const joined = Map.groupBy(alike, ([key, scan]) => {
    const [first] = scan
    return first && scan.every(({ series }) => isTail(series)) ? `${questionKey(first)} until ${first.series.toMs}` : key
  })
  return [...joined.values()].map((scans) => scans.flatMap(([, scan]) => scan))
}

/** A Failed is why a scan gave nothing. */
export type Failed = { readonly thrown: unknown }

/**
 * readScan reads series that scansOf has put together. What a long window costs too much for is no reason for a short one to fail: then each length
 * is read by itself.
 */
export async function readScan(world: World, scan: readonly Asked[], signal: AbortSignal): Promise<ReadonlyMap<Series, Reading | Failed>> {
  const [first] = scan
  if (!first) return new Map()
  const series = scan.map((one) => one.series)
  try {
    const readings = await readSeries(world, first.actor, series, first.datasets, signal)
    return new Map(series.map((one, index) => [one, readings[index] ?? []]))
  } catch (thrown) {
    const lengths = Map.groupBy(scan, (one) => one.series.fromMs)
    if (lengths.size === 1 || signal.aborted) return new Map(series.map((one) => [one, { thrown }]))
    const found = new Map<Series, Reading | Failed>()
    for (const alike of lengths.values()) {
      for (const [one, reading] of await readScan(world, alike, signal)) found.set(one, reading)
    }
    return found
  }
}
