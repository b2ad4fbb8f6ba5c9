/** A LabelLevel is a level as drawn: the height of its line, the width of its name, and the side that it prefers. */
export type LabelLevel = { y: number; width: number; side: 'left' | 'right' }

/** A LabelBox is the place of a name. */
export type LabelBox = { left: number; top: number; width: number; height: number }

/** A LabelArea is the area of a plot with the height of a text and its distance from lines. */
export type LabelArea = LabelBox & { textHeight: number; gap: number }

/**
 * labelBoxes places the name of every level above or below its line, at either end, where it covers no line of a level and no other name.
 * A level whose name fits nowhere has no box: the legend names it.
 */
export function labelBoxes(levels: readonly LabelLevel[], area: LabelArea): (LabelBox | undefined)[] {
  const placed: LabelBox[] = []
  return levels.map((level) => {
    const box = candidates(level, area).find(
      (one) => isWithin(one, area) && placed.every((other) => !overlap(one, other)) && levels.every(({ y }) => !covers(one, y)),
    )
    if (box) placed.push(box)
    return box
  })
}

function candidates({ y, width, side }: LabelLevel, { left, width: areaWidth, textHeight: height, gap }: LabelArea): LabelBox[] {
  const lefts = { left: left + gap, right: left + areaWidth - gap - width }
  const sides = side === 'left' ? [lefts.left, lefts.right] : [lefts.right, lefts.left]
  return sides.flatMap((x) => [y - gap / 2 - height, y + gap / 2].map((top) => ({ left: x, top, width, height })))
}

const isWithin = (one: LabelBox, area: LabelBox): boolean =>
  one.left >= area.left &&
  one.top >= area.top &&
  one.left + one.width <= area.left + area.width &&
  one.top + one.height <= area.top + area.height

const overlap = (a: LabelBox, b: LabelBox): boolean =>
  a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height

const covers = ({ top, height }: LabelBox, y: number): boolean => top < y && y < top + height
