import uPlot from 'uplot'
import { clockOf, type Zone } from '../time-range.ts'
import { colorOf, dashOf } from './colors.ts'
import type { ChartData, ChartLevel, ChartShape } from './data.ts'
import type { DrawingState } from './drawing-state.ts'
import { drawBands, drawLevels } from './marks.ts'
import { areaPaths, barPaths, linePaths } from './paths.ts'
import { roundTop, sliceAt, stacked, summed } from './stack.ts'

/** A Drawing is what a chart is made of once. */
export type Drawing = {
  shape: ChartShape
  zone: Zone
  size: { width: number; height: number }
  /** room is the name under which charts of a page share their crosshair. */
  syncKey: string | undefined
  /** canDrag tells whether a range can be drawn with the pointer. */
  canDrag: boolean
  shown(): DrawingState
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const FEW_POINTS = 40
const FEW_SERIES = 20
const LINE_WIDTH = 1.5
const DRAG_LEAST_PX = 4
const BEFORE_DASH = [2, 3]

/** plotted are the numbers as they are drawn, piled up for bars and areas; after them what was in the period before. */
export function plotted(data: ChartData, shape: ChartShape): uPlot.AlignedData {
  const values = data.series.map((one) => one.values)
  const drawn = shape === 'line' ? values : stacked(values)
  return [data.times, ...drawn, ...beforesOf(data, shape).map((one) => one.values)] as uPlot.AlignedData
}

/** beforesOf are the lines of the period before: of each series, or of all together where they are piled up. */
function beforesOf({ series }: ChartData, shape: ChartShape): { at: number | undefined; values: readonly (number | null)[] }[] {
  const own = series.flatMap(({ before }, at) => (before ? [{ at, values: before }] : []))
  if (shape === 'line' || own.length === 0) return own
  return [{ at: undefined, values: summed(own.map(({ values }) => values)) }]
}

/** formOf is all of the numbers that a drawing cannot change; another form needs a new one. */
export const formOf = (data: ChartData, shape: ChartShape): string =>
  JSON.stringify([data.series.length, beforesOf(data, shape).map(({ at }) => at), data.times.length <= FEW_POINTS])

export function optionsOf(drawing: Drawing): uPlot.Options {
  const { shape, zone, size, syncKey, canDrag, shown } = drawing
  return {
    ...size,
    ms: 1,
    ...(zone === 'utc' ? { tzDate: (ms: number) => uPlot.tzDate(new Date(ms), 'Etc/UTC') } : {}),
    padding: [10, 20, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: true, range: () => spanOf(shown().data, shape) },
      y: { range: (_plot, low, high) => heightOf(low, high, shown().levels) },
    },
    axes: [
      { ...axis(shown, 28), values: (_plot, ticks, _axis, _space, stepMs) => ticks.map((ms) => tickText(ms, stepMs, zone)) },
      { ...axis(shown, 64), values: (_plot, ticks) => ticks.map((tick) => shown().unit(tick)) },
    ],
    series: [{}, ...seriesOf(drawing)],
    cursor: {
      y: false,
      points: { show: shape === 'line' && shown().data.series.length <= FEW_SERIES },
      drag: { x: canDrag, y: false, setScale: false },
      ...(syncKey === undefined ? {} : { sync: { key: syncKey, setSeries: false } }),
    },
    hooks: hooksOf(drawing),
  }
}

const axis = (shown: () => DrawingState, size: number): uPlot.Axis => ({
  size,
  stroke: () => shown().colors.soft,
  font: '11px ui-sans-serif, system-ui, sans-serif',
  grid: { stroke: () => shown().colors.line, width: 1 },
  ticks: { show: false },
})

/** spanOf is the range that is drawn, to the end of the last slice; a single point of a line has room on both sides. */
function spanOf({ times, stepMs }: ChartData, shape: ChartShape): [number, number] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0]
  return [first === last && shape === 'line' ? first - stepMs : first, last + stepMs]
}

/** tickText names a moment as finely as its neighbours are apart; midnight is named by its day. */
function tickText(ms: number, stepMs: number, zone: Zone): string {
  const { day, clock } = clockOf(ms, zone)
  if (stepMs >= DAY_MS || clock.startsWith('00:00:00.')) return day.slice(5)
  return stepMs >= MINUTE_MS ? clock.slice(0, 5) : clock.slice(0, stepMs >= 1_000 ? 8 : 12)
}

function seriesOf({ shape, shown }: Drawing): uPlot.Series[] {
  const { data } = shown()
  const isFew = data.series.length <= FEW_SERIES
  const one = (_: unknown, index: number): uPlot.Series => {
    const stroke = () => colorOf(shown().colors.series, index)
    const fill = () => colorOf(shown().colors.faint, index)
    if (shape === 'bar') return { fill: stroke, width: 0, points: { show: false }, paths: barPaths }
    if (shape === 'area') {
      return { stroke, fill, width: isFew ? LINE_WIDTH : 0, points: { show: false }, paths: areaPaths(isFew) }
    }
    return {
      stroke,
      width: LINE_WIDTH,
      // Where there are many, dashes tell nobody anything, and take long to paint.
      dash: isFew ? dashOf(index) : [],
      paths: linePaths,
      points: data.times.length <= FEW_POINTS ? { show: true } : { show: false, filter: lonely },
    }
  }
  const before = ({ at }: { at: number | undefined }): uPlot.Series => ({
    stroke: () => (at === undefined ? shown().colors.ink : colorOf(shown().colors.series, at)),
    width: 1,
    dash: BEFORE_DASH,
    points: { show: false },
  })
  return [...data.series.map(one), ...beforesOf(data, shape).map(before)]
}

/** lonely are the values without a neighbour, which a line would not show. */
function lonely(plot: uPlot, at: number): number[] | null {
  const values = plot.data[at] as ArrayLike<number | null | undefined>
  const found: number[] = []
  for (let slice = 0; slice < values.length; slice += 1) {
    if (values[slice] != null && values[slice - 1] == null && values[slice + 1] == null) found.push(slice)
  }
  return found.length > 0 ? found : null
}

/** heightOf ends at a round number above the values and the levels, and stands on 0 where nothing is below it. */
function heightOf(low: number | null, high: number | null, levels: readonly ChartLevel[]): [number, number] {
  const values = [low ?? 0, high ?? 0, ...levels.map(({ value }) => value)].filter(Number.isFinite)
  const [bottom, top] = [Math.min(0, ...values), Math.max(0, ...values)]
  if (bottom === top) return [0, 1]
  const headroom = (top - bottom) * 0.04
  return [bottom < 0 ? -roundTop(headroom - bottom) : 0, top > 0 ? roundTop(top + headroom) : 0]
}

function hooksOf({ shape, shown }: Drawing): uPlot.Hooks.Arrays {
  const sliceOf = (plot: uPlot, left: number) => sliceAt(shown().data.times, plot.posToVal(left, 'x'))
  return {
    drawClear: [(plot) => drawBands(plot, shown())],
    draw: [(plot) => drawLevels(plot, shown())],
    setCursor: [
      (plot) => {
        const { idx, left = -1 } = plot.cursor
        // A bar fills its slice, a point of a line stands at its beginning.
        const at = idx === null || idx === undefined ? undefined : shape === 'bar' && left >= 0 ? sliceOf(plot, left) : idx
        shown().onCursor(at)
      },
    ],
    setSelect: [
      (plot) => {
        const { left, width } = plot.select
        if (width < DRAG_LEAST_PX) return
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        const { data, onRange } = shown()
        const [first, last] = [data.times[sliceOf(plot, left) ?? 0], data.times[sliceOf(plot, left + width) ?? 0]]
        if (first !== undefined && last !== undefined) onRange?.(first, last + data.stepMs)
      },
    ],
  }
}
