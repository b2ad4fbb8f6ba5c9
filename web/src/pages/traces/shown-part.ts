/** The part of a trace that is drawn, in nanoseconds after its start. */
export type ShownPart = { readonly from: number; readonly to: number }

const LEAST_NANO = 100

/** Where a time lies in the part, in percent of its width. */
export const placeIn = ({ from, to }: ShownPart, nano: number): number => (100 * (nano - from)) / Math.max(1, to - from)

/** The bar of something that lasts, cut at the ends of the part. Undefined if it lies outside. */
export function barIn(part: ShownPart, startNano: number, durationNano: number): { left: number; width: number } | undefined {
  const from = Math.max(part.from, startNano)
  const to = Math.min(part.to, startNano + durationNano)
  if (to < from || startNano > part.to) return undefined
  return { left: placeIn(part, from), width: placeIn(part, to) - placeIn(part, from) }
}

/** The part between two places of another, each from 0 to 1. Undefined where it would be too short to be meant. */
export function partBetween(part: ShownPart, one: number, other: number): ShownPart | undefined {
  const [low, high] = one < other ? [one, other] : [other, one]
  const width = part.to - part.from
  const from = Math.round(part.from + Math.max(0, low) * width)
  const to = Math.round(part.from + Math.min(1, high) * width)
  return to - from < Math.max(LEAST_NANO, width / 200) ? undefined : { from, to }
}

/** The part around a span, with a little of what lies beside it. */
export function partAround(span: { readonly start_nano: number; readonly duration_nano: number }, wholeNano: number): ShownPart {
  const margin = Math.max(LEAST_NANO, span.duration_nano / 20)
  return { from: Math.max(0, span.start_nano - margin), to: Math.min(wholeNano, span.start_nano + span.duration_nano + margin) }
}

/** The times at which an axis has labels: about five, in steps of 1, 2 or 5. */
export function ticksIn({ from, to }: ShownPart): number[] {
  const rough = Math.max(1, to - from) / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? 10 * power
  const ticks: number[] = []
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at)
  return ticks
}
