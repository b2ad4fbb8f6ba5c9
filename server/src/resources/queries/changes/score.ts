/** How many events have something, of how many, in how much time: in the range and in the baseline. */
export type ComparedCounts = {
  readonly now: number
  readonly before: number
  readonly nowOf: number
  readonly beforeOf: number
  readonly nowMs: number
  readonly beforeMs: number
}

export type ChangeScore = {
  readonly change: 'NEW' | 'INCREASED' | 'DECREASED' | 'VANISHED'
  readonly score: number
  /** The G statistic of the share or of the rate, whichever is smaller. */
  readonly surprise: number
}

/** The minimum ratio of the odds. A share of a third has to become 43 %, one of 1 % has to become 1.5 %. */
const ODDS_RATIO_MIN = 1.5
/** The minimum ratio of the rates. */
const RATE_RATIO_MIN = 1.25
/** A decrease is worth less: what came explains more than what went. */
const DECREASE_WEIGHT = 0.5

/**
 * Scores a change. Share and rate must have changed in the same direction: a value whose share drops because others grow, and one that
 * grows like everything else, are no changes. The score is the information per event, in nats, that the later share carries beyond the
 * earlier one, or that the rate does, whichever is smaller; it grows with the share and with the lift, and not with the number of events.
 */
export function scoreOf(counts: ComparedCounts): ChangeScore | undefined {
  const { now, before, nowOf, beforeOf, nowMs, beforeMs } = counts
  if (nowOf === 0 || beforeOf === 0) return undefined
  const isIncrease = now * beforeOf > before * nowOf
  const [later, earlier] = [
    { count: now, of: nowOf, ms: Math.max(1, nowMs) },
    { count: before, of: beforeOf, ms: Math.max(1, beforeMs) },
  ]
  // A decrease is an increase seen from the other side.
  const [more, less] = isIncrease ? [later, earlier] : [earlier, later]
  if (oddsOf(more) < ODDS_RATIO_MIN * oddsOf(less) || rateOf(more) < RATE_RATIO_MIN * rateOf(less)) return undefined
  const score = Math.min(shareInformation(more, less), rateInformation(more, less)) * (isIncrease ? 1 : DECREASE_WEIGHT)
  if (!(score > 0)) return undefined
  const change = isIncrease ? (before === 0 ? 'NEW' : 'INCREASED') : now === 0 ? 'VANISHED' : 'DECREASED'
  return { change, score, surprise: Math.min(shareSurpriseOf(later, earlier), rateSurpriseOf(later, earlier)) }
}

type Side = { readonly count: number; readonly of: number; readonly ms: number }

const shareOf = ({ count, of }: Side): number => count / of
/** A share that is never 0: of an unseen value, half an event is assumed. */
const assumedShare = ({ count, of }: Side): number => (count + 0.5) / (of + 1)
const oddsOf = ({ count, of }: Side): number => (count + 0.5) / (of - count + 0.5)
const rateOf = ({ count, ms }: Side): number => count / ms

/** The divergence of the greater share from the smaller one. */
function shareInformation(more: Side, less: Side): number {
  const [high, low] = [shareOf(more), assumedShare(less)]
  return term(high, low) + term(1 - high, 1 - low)
}

/** The divergence of the greater rate from the smaller one, both per event of the side with the smaller share. */
function rateInformation(more: Side, less: Side): number {
  const [high, low] = [rateOf(more) / rateOf({ ...less, count: less.of }), assumedShare(less)]
  return term(high, low) - (high - low)
}

const term = (part: number, expected: number): number => (part <= 0 ? 0 : part * Math.log(part / expected))

/** The G statistic of the two-by-two table: how badly one common share fits both. */
export function shareSurpriseOf(one: Omit<Side, 'ms'>, other: Omit<Side, 'ms'>): number {
  const [have, all] = [one.count + other.count, one.of + other.of]
  const expected = ({ of }: Omit<Side, 'ms'>) => (have * of) / all
  const rest = (side: Omit<Side, 'ms'>) => term(side.of - side.count, side.of - expected(side))
  return Math.max(0, 2 * (term(one.count, expected(one)) + term(other.count, expected(other)) + rest(one) + rest(other)))
}

/** The G statistic of two rates: how badly one common rate fits both. */
function rateSurpriseOf(one: Side, other: Side): number {
  const [have, allMs] = [one.count + other.count, one.ms + other.ms]
  const expected = ({ ms }: Side) => (have * ms) / allMs
  return Math.max(0, 2 * (term(one.count, expected(one)) + term(other.count, expected(other))))
}

/** The accepted probability that an answer names something although nothing has changed, as a negative decimal logarithm. */
export const SIGNIFICANCE_MIN = 2

/**
 * The negative decimal logarithm of the probability that chance alone makes such a surprise in any of a number of comparisons. The tail of the
 * distribution of G lies below exp(-g / 2).
 */
export const significanceOf = (surprise: number, comparisons: number): number =>
  (surprise / 2 - Math.log(Math.max(1, comparisons))) / Math.LN10
