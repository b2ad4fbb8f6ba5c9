/** How many of how many events have something, in the window and before. */
export type ShareCounts = { readonly now: number; readonly nowOf: number; readonly before: number; readonly beforeOf: number }

/**
 * The G statistic of a two-by-two table: how badly one common share fits both shares. It is 0 for equal shares and grows with the
 * difference and the number of events. Without a change it follows a chi-squared distribution with one degree of freedom.
 */
export function shareSurprise({ now, nowOf, before, beforeOf }: ShareCounts): number {
  const [have, all] = [now + before, nowOf + beforeOf]
  if (all === 0) return 0
  const cells = [
    [now, (have * nowOf) / all],
    [before, (have * beforeOf) / all],
    [nowOf - now, ((all - have) * nowOf) / all],
    [beforeOf - before, ((all - have) * beforeOf) / all],
  ] as const
  return gStatistic(cells)
}

/** The number of events in the window and before, and the length of both. */
export type RateCounts = { readonly now: number; readonly nowMs: number; readonly before: number; readonly beforeMs: number }

/** The G statistic of two rates: how badly one common rate fits both. */
export function rateSurprise({ now, nowMs, before, beforeMs }: RateCounts): number {
  const [have, allMs] = [now + before, nowMs + beforeMs]
  if (allMs === 0) return 0
  return gStatistic([
    [now, (have * nowMs) / allMs],
    [before, (have * beforeMs) / allMs],
  ])
}

/** Rounding could make the result slightly negative. */
const gStatistic = (cells: readonly (readonly [seen: number, expected: number])[]): number =>
  Math.max(0, 2 * cells.reduce((sum, [seen, expected]) => sum + (seen === 0 ? 0 : seen * Math.log(seen / expected)), 0))

/** The accepted probability that a report names something although nothing has changed. */
const ERROR = 0.01

/**
 * The minimum surprise among a number of comparisons: the tail of the distribution lies below exp(-g / 2), and the error is divided by the
 * number of comparisons (Bonferroni).
 */
export const surpriseMin = (comparisons: number): number => 2 * Math.log(Math.max(1, comparisons) / ERROR)

/** Keeps what is significant among a number of comparisons, the greatest surprise first. */
export const significantOnly = <T extends { readonly surprise: number }>(found: readonly T[], comparisons: number): T[] =>
  found.filter(({ surprise }) => surprise >= surpriseMin(comparisons)).sort((one, other) => other.surprise - one.surprise)
