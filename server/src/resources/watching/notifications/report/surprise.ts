/** A Split is how many of how many events have something, now and before. */
export type Split = { readonly now: number; readonly nowOf: number; readonly before: number; readonly beforeOf: number }

/**
 * shareSurprise is the G statistic of a table of two by two: how badly the two shares fit one share of both. It is 0 when they are equal, grows
 * with the difference and with the number of events, and follows the chi-squared distribution of one degree when nothing has changed.
 */
export function shareSurprise({ now, nowOf, before, beforeOf }: Split): number {
  const [have, all] = [now + before, nowOf + beforeOf]
  if (all === 0) return 0
  const cells = [
    [now, (have * nowOf) / all],
    [before, (have * beforeOf) / all],
    [nowOf - now, ((all - have) * nowOf) / all],
    [beforeOf - before, ((all - have) * beforeOf) / all],
  ] as const
  return doubled(cells)
}

/** A Pace is how many events came now and before, and how long each time was. */
export type Pace = { readonly now: number; readonly nowMs: number; readonly before: number; readonly beforeMs: number }

/** paceSurprise is the same for two paces: how badly they fit one pace of both. */
export function paceSurprise({ now, nowMs, before, beforeMs }: Pace): number {
  const [have, allMs] = [now + before, nowMs + beforeMs]
  if (allMs === 0) return 0
  return doubled([
    [now, (have * nowMs) / allMs],
    [before, (have * beforeMs) / allMs],
  ])
}

/** Rounding could leave a little less than nothing. */
const doubled = (cells: readonly (readonly [seen: number, expected: number])[]): number =>
  Math.max(0, 2 * cells.reduce((sum, [seen, expected]) => sum + (seen === 0 ? 0 : seen * Math.log(seen / expected)), 0))

/** ERROR is how often a report may name something although nothing has changed. */
const ERROR = 0.01

/**
 * surpriseMin is what the surprise of one of so many comparisons must reach: the tail of the distribution lies below exp(-g / 2), and the error is
 * shared out among all that were compared.
 */
export const surpriseMin = (comparisons: number): number => 2 * Math.log(Math.max(1, comparisons) / ERROR)

/** standingOut keeps what surprises more than chance does among so many comparisons, the greatest surprise first. */
export const standingOut = <T extends { readonly surprise: number }>(found: readonly T[], comparisons: number): T[] =>
  found.filter(({ surprise }) => surprise >= surpriseMin(comparisons)).sort((one, other) => other.surprise - one.surprise)
