import type uPlot from 'uplot'

/** Each series is one path. A stacked series is painted only above the one below it, so that each pixel is painted once. */

const BAR_MAX_PX = 64
const GAP_LEAST_PX = 4
const GAP_SHARE = 0.1

/** barPaths align bars to whole pixels; narrow bars touch and become one outline of steps. */
export function barPaths(plot: uPlot, at: number): uPlot.Series.Paths {
  const fill = new Path2D()
  const { times, tops, below, x, y } = stackOf(plot, at)
  const step = x((times[1] ?? 0) - (times[0] ?? 0)) - x(0)
  if (step < GAP_LEAST_PX) {
    const edges = Array.from({ length: times.length + 1 }, (_, slice) => Math.round(x(times[slice] ?? 0)))
    edges[times.length] = Math.round(x(times[times.length - 1] ?? 0) + step)
    outline(fill, edges, (slice) => Math.round(y(tops[slice] ?? 0)), 1)
    outline(fill, edges, (slice) => Math.round(y(below?.[slice] ?? 0)), -1)
    fill.closePath()
    return { fill, stroke: null, flags: 0 }
  }
  const gap = Math.max(1, Math.round(step * GAP_SHARE))
  const isAlone = plot.data.length === 2
  for (let slice = 0; slice < times.length; slice += 1) {
    const [top, bottom] = [tops[slice] ?? 0, below?.[slice] ?? 0]
    if (top === bottom) continue
    const left = Math.round(x(times[slice] ?? 0))
    const width = Math.min(BAR_MAX_PX * devicePixelRatio, Math.round(x(times[slice] ?? 0) + step) - left - gap)
    const [upper, lower] = [Math.round(y(Math.max(top, bottom))), Math.round(y(Math.min(top, bottom)))]
    // A small value is at least one pixel high; stacked, it would cover its neighbors.
    const height = isAlone ? Math.max(1, lower - upper) : lower - upper
    if (height > 0) fill.rect(left, lower - height, Math.max(1, width), height)
  }
  return { fill, stroke: null, flags: 0 }
}

/** Follows the tops of the bars and omits collinear points. */
function outline(path: Path2D, edges: readonly number[], heightOf: (slice: number) => number, direction: 1 | -1): void {
  const last = edges.length - 2
  let before: number | undefined
  for (let done = 0; done <= last; done += 1) {
    const slice = direction === 1 ? done : last - done
    const height = heightOf(slice)
    const edge = edges[direction === 1 ? slice : slice + 1] ?? 0
    if (before === undefined && direction === 1) path.moveTo(edge, height)
    else if (before === undefined) path.lineTo(edge, height)
    else if (height !== before) {
      path.lineTo(edge, before)
      path.lineTo(edge, height)
    }
    before = height
  }
  path.lineTo(edges[direction === 1 ? last + 1 : 0] ?? 0, before ?? 0)
}

/** linePaths connect values; a missing value interrupts the line. */
export function linePaths(plot: uPlot, at: number): uPlot.Series.Paths {
  const stroke = new Path2D()
  const { times, tops, x, y } = stackOf(plot, at)
  let isOpen = false
  for (let slice = 0; slice < times.length; slice += 1) {
    const value = tops[slice]
    if (value === null || value === undefined) isOpen = false
    else if (isOpen) stroke.lineTo(x(times[slice] ?? 0), y(value))
    else {
      stroke.moveTo(x(times[slice] ?? 0), y(value))
      isOpen = true
    }
  }
  return { stroke, fill: null, flags: 0 }
}

/** areaPaths fill the area above the series below, with an optional line on top. */
export const areaPaths =
  (hasLine: boolean) =>
  (plot: uPlot, at: number): uPlot.Series.Paths => {
    const [fill, stroke] = [new Path2D(), new Path2D()]
    const { times, tops, below, x, y } = stackOf(plot, at)
    for (let slice = 0; slice < times.length; slice += 1) {
      const [left, top] = [x(times[slice] ?? 0), y(tops[slice] ?? 0)]
      if (slice === 0) {
        fill.moveTo(left, top)
        stroke.moveTo(left, top)
      } else {
        fill.lineTo(left, top)
        stroke.lineTo(left, top)
      }
    }
    for (let slice = times.length - 1; slice >= 0; slice -= 1) fill.lineTo(x(times[slice] ?? 0), y(below?.[slice] ?? 0))
    fill.closePath()
    return { fill, stroke: hasLine ? stroke : null, flags: 0 }
  }

type Numbers = ArrayLike<number | null | undefined>

/** A series, the one below it, and the mapping to the canvas. */
function stackOf(plot: uPlot, at: number) {
  const { data, scales, bbox } = plot
  const [times, tops] = [data[0] as ArrayLike<number>, data[at] as Numbers]
  const below = at > 1 ? (data[at - 1] as Numbers) : undefined
  const [fromX, toX] = [scales.x?.min ?? 0, scales.x?.max ?? 1]
  const [fromY, toY] = [scales.y?.min ?? 0, scales.y?.max ?? 1]
  const [perX, perY] = [bbox.width / (toX - fromX), bbox.height / (toY - fromY)]
  return {
    times,
    tops,
    below,
    x: (ms: number) => bbox.left + (ms - fromX) * perX,
    y: (value: number) => bbox.top + (toY - value) * perY,
  }
}
