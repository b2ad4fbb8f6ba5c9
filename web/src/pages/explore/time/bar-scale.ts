import { roundTop } from '../../../parts/chart/stack.ts'

/** A BarScale is the value at the top of the histogram. Bars above it are giants, which are cut off and marked. */
export type BarScale = { top: number; giants: ReadonlySet<number> }

/** How many times as high as every other bar a giant is. */
const GIANT_RATIO = 5
const GIANTS_MAX = 3
/** The bars that must be left to be worth reading. */
const OTHERS_MIN = 6

/** barScale cuts off a few giant bars, next to which all others would be flat. `others` are further bars that have to fit, such as those of an earlier period. */
export function barScale(counts: readonly number[], others: readonly number[] = []): BarScale {
  const descending = counts.map((count, at) => ({ count, at })).sort((a, b) => b.count - a.count)
  const filled = descending.filter(({ count }) => count > 0)
  const whole = Math.max(1, filled[0]?.count ?? 0, ...others)
  for (let giants = Math.min(GIANTS_MAX, filled.length - OTHERS_MIN); giants > 0; giants -= 1) {
    const [least, next] = [filled[giants - 1]?.count ?? 0, Math.max(1, filled[giants]?.count ?? 0, ...others)]
    if (least >= GIANT_RATIO * next)
      return { top: roundTop(Math.ceil(next * HEADROOM)), giants: new Set(filled.slice(0, giants).map(({ at }) => at)) }
  }
  return { top: roundTop(whole), giants: new Set() }
}

/** Keeps the highest of the other bars below the cut. */
const HEADROOM = 1.25

/** A TimeTick is a labeled round time of the axis; `at` is its place from 0 to 1. */
export type TimeTick = { ms: number; at: number }

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TICK_STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 20, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 4, 6, 8, 12].map((n) => n * HOUR),
  ...[1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 60, 90, 180, 365, 730].map((n) => n * DAY),
]
/** The number of labels that fit; the next coarser step gives at least four of them in all but odd ranges. */
const TICKS_MAX = 6
/** How far from both ends a tick stays, so that its label fits. */
const EDGE = 0.03

/** timeTicks are 4 to 6 round times within a range. `offsetMs` is the distance of the shown zone from UTC. */
export function timeTicks(fromMs: number, toMs: number, offsetMs: number): TimeTick[] {
  const length = toMs - fromMs
  const ticksOf = (stepMs: number): TimeTick[] => {
    const first = Math.ceil((fromMs + offsetMs) / stepMs) * stepMs - offsetMs
    const count = Math.max(0, Math.floor((toMs - first) / stepMs) + 1)
    if (count > 4 * TICKS_MAX) return []
    return Array.from({ length: count }, (_, index) => first + index * stepMs)
      .map((ms) => ({ ms, at: (ms - fromMs) / length }))
      .filter(({ at }) => at >= EDGE && at <= 1 - EDGE)
  }
  if (!(length > 0)) return []
  const fitting = TICK_STEPS.map(ticksOf).filter((ticks) => ticks.length > 0 && ticks.length <= TICKS_MAX)
  return fitting[0] ?? []
}
