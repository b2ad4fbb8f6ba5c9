import uPlot from 'uplot'
import { clockOf, type Zone } from '../time-range.ts'
import type { ChartBand, ChartData, ChartLevel, Shape } from './chart.tsx'
import { type Colours, colourOf, dashOf } from './colours.ts'
import { stacked } from './stack.ts'

/** A Drawing is all that decides how a chart looks, beside its numbers. */
export type Drawing = {
  shape: Shape
  zone: Zone
  colours: Colours
  levels: readonly ChartLevel[]
  bands: readonly ChartBand[]
  unit(value: number): string
  size: { width: number; height: number }
  /** room is the name under which charts of a page share their crosshair. */
  room: string | undefined
  onCursor(at: number | undefined): void
  onRange: ((fromMs: number, toMs: number) => void) | undefined
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const FEW_POINTS = 40
const LINE_WIDTH = 1.5
const DRAG_LEAST_PX = 4

/** plotted are the numbers as they are drawn: piled up for bars and areas, the tallest first, since it is painted below the others. */
export function plotted({ times, series }: ChartData, shape: Shape): uPlot.AlignedData {
  const values = series.map((one) => one.values)
  const drawn = shape === 'line' ? values : stacked(values).reverse()
  return [times, ...drawn] as uPlot.AlignedData
}

export function optionsOf(data: ChartData, drawing: Drawing): uPlot.Options {
  const { shape, zone, colours, size, room, levels } = drawing
  return {
    ...size,
    ms: 1,
    ...(zone === 'utc' ? { tzDate: (ms: number) => uPlot.tzDate(new Date(ms), 'Etc/UTC') } : {}),
    padding: [10, 12, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: true, range: () => spanOf(data, shape) },
      y: { range: (_plot, low, high) => heightOf(low, high, levels) },
    },
    axes: [
      { ...axis(colours, 28), values: (_plot, ticks, _axis, _space, stepMs) => ticks.map((ms) => tickText(ms, stepMs, zone)) },
      { ...axis(colours, 64), values: (_plot, ticks) => ticks.map((tick) => drawing.unit(tick)) },
    ],
    series: [{}, ...seriesOf(data, drawing)],
    cursor: {
      y: false,
      points: { show: shape === 'line' && data.series.length <= 20 },
      drag: { x: drawing.onRange !== undefined, y: false, setScale: false },
      ...(room === undefined ? {} : { sync: { key: room, setSeries: false } }),
    },
    hooks: hooksOf(data, drawing),
  }
}

const axis = (colours: Colours, size: number): uPlot.Axis => ({
  size,
  stroke: colours.soft,
  font: '11px ui-sans-serif, system-ui, sans-serif',
  grid: { stroke: colours.line, width: 1 },
  ticks: { show: false },
})

/** spanOf is the range that is drawn, to the end of the last slice; a single point of a line has room on both sides. */
function spanOf({ times, stepMs }: ChartData, shape: Shape): [number, number] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0]
  return [first === last && shape === 'line' ? first - stepMs : first, last + stepMs]
}

/** tickText names a moment as finely as its neighbours are apart; midnight is named by its day. */
function tickText(ms: number, stepMs: number, zone: Zone): string {
  const { day, clock } = clockOf(ms, zone)
  if (stepMs >= DAY_MS || clock.startsWith('00:00:00.')) return day.slice(5)
  return stepMs >= MINUTE_MS ? clock.slice(0, 5) : clock.slice(0, stepMs >= 1_000 ? 8 : 12)
}

function seriesOf({ series, times }: ChartData, { shape, colours }: Drawing): uPlot.Series[] {
  const all = series.map((_, index): uPlot.Series => {
    const stroke = colourOf(colours.series, index)
    if (shape === 'line')
      return {
        stroke,
        width: LINE_WIDTH,
        dash: dashOf(index),
        points: { show: times.length <= FEW_POINTS },
      }
    const fill = shape === 'bar' ? stroke : colourOf(colours.faint, index)
    if (shape === 'area') return { stroke, fill, width: LINE_WIDTH, points: { show: false } }
    const paths = uPlot.paths.bars?.({ size: [0.9, 64], align: 1 })
    return { fill, width: 0, points: { show: false }, ...(paths ? { paths } : {}) }
  })
  return shape === 'line' ? all : all.reverse()
}

/** heightOf leaves room above the values and the levels, and stands on 0 where nothing is below it. */
function heightOf(low: number | null, high: number | null, levels: readonly ChartLevel[]): [number, number] {
  const values = [low ?? 0, high ?? 0, ...levels.map(({ value }) => value)].filter(Number.isFinite)
  const [bottom, top] = [Math.min(0, ...values), Math.max(0, ...values)]
  if (bottom === top) return [0, 1]
  const room = (top - bottom) * 0.08
  return [bottom < 0 ? bottom - room : 0, top + (top > 0 ? room : 0)]
}

function hooksOf(data: ChartData, drawing: Drawing): uPlot.Hooks.Arrays {
  return {
    drawClear: [(plot) => drawBands(plot, drawing)],
    draw: [(plot) => drawLevels(plot, drawing)],
    setCursor: [(plot) => drawing.onCursor(plot.cursor.idx ?? undefined)],
    setSelect: [
      (plot) => {
        const { left, width } = plot.select
        if (width < DRAG_LEAST_PX) return
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        const [first, last] = [plot.posToIdx(left), plot.posToIdx(left + width)]
        const [fromMs, toMs] = [data.times[first], data.times[last]]
        if (fromMs !== undefined && toMs !== undefined) drawing.onRange?.(fromMs, toMs + data.stepMs)
      },
    ],
  }
}

const looks = {
  ALERT: { colour: 'error', letter: 'A' },
  WARN: { colour: 'warn', letter: 'W' },
  NO_DATA: { colour: 'soft', letter: 'N' },
  partial: { colour: 'soft', letter: '' },
} as const satisfies Record<ChartBand['look'], { colour: keyof Colours; letter: string }>

/** drawBands paints stretches of time behind the series; each bears its letter, for whom colours do not tell. */
function drawBands({ ctx, bbox, valToPos }: uPlot, { bands, colours }: Drawing): void {
  const ratio = devicePixelRatio
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  let letterEnd = Number.NEGATIVE_INFINITY
  for (const { fromMs, toMs, look } of bands) {
    const { colour, letter } = looks[look]
    const from = valToPos(fromMs, 'x', true)
    const width = Math.max(ratio, valToPos(toMs, 'x', true) - from)
    ctx.fillStyle = colours[colour]
    ctx.globalAlpha = look === 'partial' || look === 'NO_DATA' ? 0.07 : 0.16
    ctx.fillRect(from, bbox.top, width, bbox.height)
    ctx.globalAlpha = 1
    if (look === 'partial') continue
    ctx.fillRect(from, bbox.top, width, 3 * ratio)
    // Letters that would lie on one another are left out; the bar above them stays.
    if (from < letterEnd) continue
    ctx.font = `${11 * ratio}px ui-sans-serif, system-ui, sans-serif`
    ctx.fillText(letter, from + 2 * ratio, bbox.top + 14 * ratio)
    letterEnd = from + 12 * ratio
  }
  ctx.restore()
}

function drawLevels({ ctx, bbox, valToPos }: uPlot, { levels, colours, unit }: Drawing): void {
  const ratio = devicePixelRatio
  ctx.save()
  for (const { value, name, look } of levels) {
    const y = Math.round(valToPos(value, 'y', true))
    const colour = colours[look === 'ALERT' ? 'error' : 'warn']
    ctx.strokeStyle = colour
    ctx.fillStyle = colour
    ctx.lineWidth = ratio
    ctx.setLineDash(look === 'ALERT' ? [7 * ratio, 4 * ratio] : [2 * ratio, 3 * ratio])
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
    ctx.font = `${11 * ratio}px ui-sans-serif, system-ui, sans-serif`
    // The two levels are named at opposite ends, where they cannot lie on one another.
    const isAlert = look === 'ALERT'
    ctx.textAlign = isAlert ? 'right' : 'left'
    ctx.fillText(`${name} ${unit(value)}`, isAlert ? bbox.left + bbox.width - 4 * ratio : bbox.left + 4 * ratio, y - 4 * ratio)
  }
  ctx.restore()
}
