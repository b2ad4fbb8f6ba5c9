import { type RangeParams, rangeOf } from '../../../parts/time/range-params.ts'
import type { Range } from '../../../parts/time/time-range.ts'
import type { Pattern } from '../patterns/patterns.ts'
import type { ExploreQuery } from '../query/explore-query.ts'
import type { Bar, Bars } from '../time/bars.ts'
import { earlierRange } from '../time/compare.ts'
import type { TimeSpan } from '../time/time-span.ts'

/** The parameters of side B: its query, and its range as words or two times. */
export type SideParams = { bq?: string; br?: string; bf?: number; bt?: number }

/** Side B is another query at the same time, or the same query in the time before; both may be chosen. */
export function otherSide({ bq, br, bf, bt }: SideParams, query: ExploreQuery, nowMs: number): ExploreQuery {
  const otherwise = bq === undefined ? earlierRange(query.range, 'previous', nowMs) : query.range
  return { ...query, where: bq ?? query.where, range: rangeOf(rangeParams(br, bf, bt), otherwise) }
}

const rangeParams = (r: string | undefined, f: number | undefined, t: number | undefined): RangeParams => ({
  ...(r === undefined ? {} : { r }),
  ...(f === undefined || t === undefined ? {} : { f, t }),
})

export const sideRange = (range: Range): SideParams => ('words' in range ? { br: range.words } : { bf: range.fromMs, bt: range.toMs })

/** A PatternPair is a pattern with its number of events on both sides. */
export type PatternPair = { id: string; template: string; a: number; b: number }

/** The patterns of both sides, those first whose shares differ most: the sides may be of different lengths. */
export function pairPatterns(a: readonly Pattern[], b: readonly Pattern[]): PatternPair[] {
  const pairs = new Map<string, PatternPair>(a.map(({ id, template, count }) => [id, { id, template, a: count, b: 0 }]))
  for (const { id, template, count } of b) pairs.set(id, { ...(pairs.get(id) ?? { id, template, a: 0 }), b: count })
  const [allA, allB] = [Math.max(1, sumOf(a)), Math.max(1, sumOf(b))]
  const gap = (pair: PatternPair) => Math.abs(pair.a / allA - pair.b / allB)
  return [...pairs.values()].toSorted((one, other) => gap(other) - gap(one) || other.a + other.b - one.a - one.b)
}

const sumOf = (patterns: readonly Pattern[]): number => patterns.reduce((sum, { count }) => sum + count, 0)

/** A part of a time axis, from 0 to 1. Its ends may be in either order. */
export type Brush = { from: number; to: number }

/** The bar at a place of the time axis. */
export const barAt = (place: number, bars: readonly Bar[]): number =>
  Math.min(bars.length - 1, Math.max(0, Math.floor(place * bars.length)))

/** The whole bars in a part of a time axis. */
export function brushedBars({ from, to }: Brush, bars: readonly Bar[]): { first: number; count: number } {
  const [first, last] = [barAt(Math.min(from, to), bars), barAt(Math.max(from, to), bars)]
  return { first, count: last - first + 1 }
}

/** The times of the whole bars in a part of a time axis; undefined without bars. */
export function brushedTimes(brush: Brush, { bars, stepMs }: Pick<Bars, 'bars' | 'stepMs'>): TimeSpan | undefined {
  const { first, count } = brushedBars(brush, bars)
  const fromMs = bars[first]?.fromMs
  return fromMs === undefined ? undefined : { fromMs, toMs: fromMs + count * stepMs }
}

type Axis = Pick<Bars, 'bars' | 'stepMs'>

/** The moment at a place of the time axis. */
export const timeAt = (place: number, { bars, stepMs }: Axis): number => (bars[0]?.fromMs ?? 0) + place * bars.length * stepMs

/** The place of a moment; undefined outside of the time axis. */
export function placeOf(atMs: number, { bars, stepMs }: Axis): number | undefined {
  const place = (atMs - (bars[0]?.fromMs ?? 0)) / (bars.length * stepMs)
  return place >= 0 && place < 1 ? place : undefined
}

/** The places of a part within the time axis. Its end belongs to the bar before. */
export function partPlaces({ fromMs, toMs }: TimeSpan, axis: Axis): Brush | undefined {
  const { bars, stepMs } = axis
  const [first, last] = [bars[0]?.fromMs ?? 0, bars.at(-1)?.fromMs ?? 0]
  const [from, to] = [placeOf(Math.max(first, fromMs), axis), placeOf(Math.min(last, toMs - 1) + stepMs / 2_000, axis)]
  return from === undefined || to === undefined || toMs <= first ? undefined : { from, to }
}

/** The highest bar of both sides: their charts have one scale. */
export const sharedTop = (...sides: readonly (readonly Bar[])[]): number =>
  sides.flat().reduce((top, { info, warn, error }) => Math.max(top, info + warn + error), 1)
