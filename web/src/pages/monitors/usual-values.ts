import type { FormOperator } from './labels.ts'

/** How far a threshold lies beyond the outermost value. */
const MARGIN = 1.25

/**
 * The outermost value of a time that counts as usual, and a threshold beyond it, with two digits. Undefined without values, for operators that name no side,
 * and where the threshold lies beyond it already.
 */
export function beyondUsual(
  operator: FormOperator,
  threshold: number,
  values: readonly (number | null)[],
): { outermost: number; threshold: number } | undefined {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value))
  const isAbove = operator.startsWith('ABOVE')
  if (known.length === 0 || !(isAbove || operator.startsWith('BELOW'))) return undefined
  const outermost = known.reduce((one, other) => (isAbove ? Math.max(one, other) : Math.min(one, other)))
  if (isAbove ? threshold > outermost : threshold < outermost) return undefined
  const grows = isAbove === outermost > 0
  const beyond = twoDigits(grows ? outermost * MARGIN : outermost / MARGIN, isAbove)
  return outermost === 0 || (isAbove ? beyond <= outermost : beyond >= outermost) ? undefined : { outermost, threshold: beyond }
}

/** Rounds to two digits, away from the usual values. */
function twoDigits(value: number, isUp: boolean): number {
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1)
  const steps = isUp ? Math.ceil(value / step) : Math.floor(value / step)
  return Number((steps * step).toPrecision(2))
}
