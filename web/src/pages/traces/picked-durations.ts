import type { TraceList } from '@dendro/api'
import { readDuration } from '@dendro/language/nanoseconds'

/** A Step is the number of spans of about one duration. */
export type Step = NonNullable<TraceList['durations']>[number]
/** The first and the last selected step. */
export type Picked = { first: number; last: number }

export const between = (one: number, other: number): Picked => ({ first: Math.min(one, other), last: Math.max(one, other) })

/** The steps that a selection of durations overlaps; undefined for all. */
export function pickedSteps(steps: readonly Step[], min: string | undefined, max: string | undefined): Picked | undefined {
  if (min === undefined && max === undefined) return undefined
  const from = (min === undefined ? undefined : readDuration(min)) ?? 0
  const to = (max === undefined ? undefined : readDuration(max)) ?? Number.POSITIVE_INFINITY
  const inside = steps.map(({ from_nano, to_nano = Number.POSITIVE_INFINITY }) => from_nano <= to && to_nano > from)
  return { first: inside.indexOf(true), last: inside.lastIndexOf(true) }
}

/** The conditions of a selection. The end of a step is exclusive. */
export function durationsOf(steps: readonly Step[], { first, last }: Picked): { min: string | undefined; max: string | undefined } {
  const [from, to] = [steps[first]?.from_nano ?? 0, steps[last]?.to_nano]
  return { min: from === 0 ? undefined : `${from}ns`, max: to === undefined ? undefined : `${to - 1}ns` }
}

/** The step at a place in the row of bars. */
export const stepAt = (count: number, place: number, width: number): number =>
  Math.min(count - 1, Math.max(0, Math.floor((place / Math.max(1, width)) * count)))
