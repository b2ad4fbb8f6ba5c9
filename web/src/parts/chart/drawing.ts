import uPlot from 'uplot'
import { clockOf, type Zone } from '../time/time-range.ts'
import { colorOf, dashOf } from './colors.ts'
import type { ChartData, ChartLevel, ChartShape } from './data.ts'
import type { DrawingState } from './drawing-state.ts'
import { drawBands, drawLevels, drawMarks, FONT } from './marks.ts'
import { colorsOf, repeatsOf } from './name-colors.ts'
import { areaPaths, barPaths, linePaths } from './paths.ts'
import { roundTop, sliceAt, stacked, summed } from './stack.ts'

/** A Drawing is the fixed part of a chart. */
export type Drawing = {
  shape: ChartShape
  zone: Zone
  size: { width: number; height: number }
  /** canDrag allows the selection of a range with the pointer. */
  canDrag: boolean
  shown(): DrawingState
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const FEW_POINTS = 40
const FEW_SERIES = 20
const LINE_WIDTH = 1.5
const TICK_PX = 50
const SECONDS_TICK_PX = 72
const MILLISECONDS_TICK_PX = 92
const DRAG_LEAST_PX = 4
const BEFORE_DASH = [2, 3]

/** The values as drawn, stacked for bars and areas, followed by the previous period. */
export function plotted(data: ChartData, shape: ChartShape): uPlot.AlignedData {
  const values = data.series.map((one) => one.values)
  const drawn = shape === 'line' ? values : stacked(values)
  return [data.times, ...drawn, ...beforesOf(data, shape).map((one) => one.values)] as uPlot.AlignedData
}

/** The series of the previous period: one each, or their sum when stacked. */
function beforesOf({ series }: ChartData, shape: ChartShape): { at: number | undefined; values: readonly (number | null)[] }[] {
  const own = series.flatMap(({ before }, at) => (before ? [{ at, values: before }] : []))
  if (shape === 'line' || own.length === 0) return own
  return [{ at: undefined, values: summed(own.map(({ values }) => values)) }]
}

/** Identifies the properties of the data that an existing plot cannot change. */
export const formOf = (data: ChartData, shape: ChartShape): string =>
  JSON.stringify([data.series.length, beforesOf(data, shape).map(({ at }) => at), data.times.length <= FEW_POINTS, repeats(data)])

const repeats = ({ series }: ChartData): number[] => repeatsOf(colorsOf(series.map(({ name }) => name)))

export function optionsOf(drawing: Drawing): uPlot.Options {
  const { shape, zone, size, canDrag, shown } = drawing
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
      {
        ...axis(shown, 30),
        gap: 8,
        space: (_plot, _axis, low, high, px) => tickSpace(high - low, px),
        values: (_plot, ticks, _axis, _space, stepMs) => ticks.map((ms) => tickText(ms, stepMs, zone)),
      },
      {
        ...axis(shown, 64),
        // Where nothing was measured, fractions of an arbitrary height would be read as values.
        values: (_plot, ticks) => ticks.map((tick) => (tick === 0 || hasHeight(shown()) ? shown().unit(tick) : '')),
      },
    ],
    series: [{}, ...seriesOf(drawing)],
    cursor: {
      y: false,
      // A bar fills its slice and a point of a line is at its start: under one pointer both are read at one time.
      dataIdx: (_plot, _series, closest, x) => sliceAt(shown().data.times, x) ?? closest,
      points: { show: shape === 'line' && shown().data.series.length <= FEW_SERIES },
      drag: { x: canDrag, y: false, setScale: false },
    },
    hooks: hooksOf(drawing),
  }
}

const axis = (shown: () => DrawingState, size: number): uPlot.Axis => ({
  size,
  stroke: () => shown().colors.soft,
  font: `11px ${FONT}`,
  grid: { stroke: () => shown().colors.line, width: 1 },
  ticks: { show: false },
})

/** The drawn range up to the end of the last slice; a single point of a line gets space on both sides. */
function spanOf({ times, stepMs }: ChartData, shape: ChartShape): [number, number] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0]
  return [first === last && shape === 'line' ? first - stepMs : first, last + stepMs]
}

/** The least pixels from one time to the next: seconds need more than minutes, and less than milliseconds. */
function tickSpace(rangeMs: number, px: number): number {
  const stepMs = (rangeMs * TICK_PX) / Math.max(1, px)
  return stepMs >= MINUTE_MS ? TICK_PX : stepMs >= 1_000 ? SECONDS_TICK_PX : MILLISECONDS_TICK_PX
}

/** Formats a time as finely as the tick distance; midnight shows its day. */
function tickText(ms: number, stepMs: number, zone: Zone): string {
  const { day, clock } = clockOf(ms, zone)
  if (stepMs >= DAY_MS || clock.startsWith('00:00:00.')) return day.slice(5)
  return stepMs >= MINUTE_MS ? clock.slice(0, 5) : clock.slice(0, stepMs >= 1_000 ? 8 : 12)
}

function seriesOf({ shape, shown }: Drawing): uPlot.Series[] {
  const { data } = shown()
  const isFew = data.series.length <= FEW_SERIES
  const repeated = repeats(data)
  const indexOf = (at: number): number => colorsOf([shown().data.series[at]?.name ?? ''])[0] ?? 0
  const one = (_: unknown, index: number): uPlot.Series => {
    const stroke = () => colorOf(shown().colors.series, indexOf(index))
    const fill = () => colorOf(shown().colors.faint, indexOf(index))
    if (shape === 'bar') return { fill: stroke, width: 0, points: { show: false }, paths: barPaths }
    if (shape === 'area') {
      return { stroke, fill, width: isFew ? LINE_WIDTH : 0, points: { show: false }, paths: areaPaths(isFew) }
    }
    return {
      stroke,
      width: LINE_WIDTH,
      // Dashes of many series cannot be told apart and are slow to paint.
      dash: isFew ? dashOf(repeated[index] ?? 0) : [],
      paths: linePaths,
      points: data.times.length <= FEW_POINTS ? { show: true } : { show: false, filter: lonely },
    }
  }
  const before = ({ at }: { at: number | undefined }): uPlot.Series => ({
    stroke: () => (at === undefined ? shown().colors.ink : colorOf(shown().colors.series, indexOf(at))),
    width: 1,
    dash: BEFORE_DASH,
    points: { show: false },
  })
  return [...data.series.map(one), ...beforesOf(data, shape).map(before)]
}

/** The values without a neighbor, which a line would not show. */
function lonely(plot: uPlot, at: number): number[] | null {
  const values = plot.data[at] as ArrayLike<number | null | undefined>
  const found: number[] = []
  for (let slice = 0; slice < values.length; slice += 1) {
    if (values[slice] != null && values[slice - 1] == null && values[slice + 1] == null) found.push(slice)
  }
  return found.length > 0 ? found : null
}

const hasHeight = ({ data: { series }, levels }: DrawingState): boolean =>
  levels.length > 0 || series.some(({ values, before = [] }) => [values, before].some((own) => own.some(Boolean)))

/** The y range: a round number above values and levels, from 0 unless values are negative. */
function heightOf(low: number | null, high: number | null, levels: readonly ChartLevel[]): [number, number] {
  const values = [low ?? 0, high ?? 0, ...levels.map(({ value }) => value)].filter(Number.isFinite)
  const [bottom, top] = [Math.min(0, ...values), Math.max(0, ...values)]
  if (bottom === top) return [0, 1]
  const headroom = (top - bottom) * 0.04
  return [bottom < 0 ? -roundTop(headroom - bottom) : 0, top > 0 ? roundTop(top + headroom) : 0]
}

function hooksOf({ canDrag, shown }: Drawing): uPlot.Hooks.Arrays {
  const sliceOf = (plot: uPlot, left: number) => sliceAt(shown().data.times, plot.posToVal(left, 'x'))
  /** The whole slices between two places. */
  const partOf = (plot: uPlot, left: number, right: number) => {
    const { data } = shown()
    const [fromMs, lastMs] = [data.times[sliceOf(plot, left) ?? 0], data.times[sliceOf(plot, right) ?? 0]]
    return fromMs === undefined || lastMs === undefined ? undefined : { fromMs, toMs: lastMs + data.stepMs }
  }
  return {
    drawClear: [(plot) => drawBands(plot, shown())],
    draw: [
      (plot) => {
        drawMarks(plot, shown())
        drawLevels(plot, shown())
      },
    ],
    setCursor: [
      (plot) => {
        const { idx, left = -1 } = plot.cursor
        shown().onCursor(idx === null || idx === undefined ? undefined : left >= 0 ? (sliceOf(plot, left) ?? idx) : idx)
      },
    ],
    ready: [(plot) => followPointer(plot, (atMs, part) => shown().onRead(atMs, part), canDrag ? partOf : () => undefined)],
    setSelect: [
      (plot) => {
        const { left, width } = plot.select
        if (width < DRAG_LEAST_PX) return
        const part = partOf(plot, left, left + width)
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        const { left: pointed = -1 } = plot.cursor
        shown().onRead(pointed < 0 ? undefined : plot.posToVal(pointed, 'x'))
        if (part) shown().onRange?.(part.fromMs, part.toMs)
      },
    ],
  }
}

type PartOf = (plot: uPlot, left: number, right: number) => { fromMs: number; toMs: number } | undefined

/** Reports the moment under the pointer, and the part over which it drags, until it leaves. */
function followPointer(plot: uPlot, onRead: DrawingState['onRead'], partOf: PartOf): void {
  let pressed: number | undefined
  const placeOf = ({ clientX }: MouseEvent): number => {
    const { left, width } = plot.over.getBoundingClientRect()
    return Math.min(width, Math.max(0, clientX - left))
  }
  plot.over.addEventListener('mousedown', (event) => {
    pressed = placeOf(event)
  })
  plot.over.addEventListener('mousemove', (event) => {
    const place = placeOf(event)
    if (event.buttons === 0) pressed = undefined
    const isDrag = pressed !== undefined && Math.abs(place - pressed) >= DRAG_LEAST_PX
    const [from, to] = [Math.min(pressed ?? 0, place), Math.max(pressed ?? 0, place)]
    onRead(plot.posToVal(place, 'x'), isDrag ? partOf(plot, from, to) : undefined)
  })
  plot.over.addEventListener('mouseleave', (event) => {
    if (event.buttons === 0) onRead(undefined)
  })
}
