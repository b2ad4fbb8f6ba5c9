import type uPlot from 'uplot'
import type { ChartColors } from './colors.ts'
import type { ChartBand, ChartLevel } from './data.ts'
import type { DrawingState } from './drawing-state.ts'
import { labelBoxes } from './level-labels.ts'

const bandStyles = {
  ALERT: { color: 'error', symbol: 'A' },
  WARN: { color: 'warn', symbol: 'W' },
  NO_DATA: { color: 'soft', symbol: 'N' },
  partial: { color: 'soft', symbol: '' },
  selected: { color: 'accent', symbol: '' },
} as const satisfies Record<ChartBand['kind'], { color: keyof ChartColors; symbol: string }>

/** The typeface of the page, for texts on a canvas. */
export const FONT = '"Inter Variable", "Inter fallback", ui-sans-serif, system-ui, sans-serif'

/** Paints time spans behind the series, each with a letter for users who cannot tell the colors apart. */
export function drawBands(plot: uPlot, { bands, colors }: Pick<DrawingState, 'bands' | 'colors'>): void {
  const { ctx, bbox, valToPos } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  let symbolEnd = Number.NEGATIVE_INFINITY
  for (const { fromMs, toMs, kind } of bands) {
    const { color, symbol } = bandStyles[kind]
    const { from, width } = bandBox(valToPos(fromMs, 'x', true), valToPos(toMs, 'x', true), ratio)
    ctx.fillStyle = colors[color]
    ctx.globalAlpha = kind === 'partial' || kind === 'NO_DATA' ? 0.07 : 0.16
    ctx.fillRect(from, bbox.top, width, bbox.height)
    if (kind === 'partial') {
      drawHatching(plot, from, width, colors.soft)
      continue
    }
    ctx.globalAlpha = 1
    ctx.fillRect(from, bbox.top, width, 3 * ratio)
    // Overlapping letters are omitted; the bar above them stays.
    if (from < symbolEnd) continue
    ctx.font = `${11 * ratio}px ${FONT}`
    ctx.textAlign = 'left'
    ctx.textBaseline = 'alphabetic'
    ctx.fillText(symbol, from + 2 * ratio, bbox.top + 14 * ratio)
    symbolEnd = from + 12 * ratio
  }
  ctx.restore()
}

/** A band is at least this wide: one of ten minutes would be less than a pixel in a week. */
const BAND_LEAST_PX = 4

/** The place of a band; a narrow one is widened on both sides. */
export function bandBox(from: number, to: number, ratio: number): { from: number; width: number } {
  const width = Math.max(BAND_LEAST_PX * ratio, to - from)
  return { from: from - (width - (to - from)) / 2, width }
}

/** Marks a slice in progress, whose value still grows. */
function drawHatching({ ctx, bbox }: uPlot, from: number, width: number, color: string): void {
  const ratio = devicePixelRatio
  ctx.save()
  ctx.beginPath()
  ctx.rect(from, bbox.top, width, bbox.height)
  ctx.clip()
  ctx.beginPath()
  for (let at = -bbox.height; at < width; at += 6 * ratio) {
    ctx.moveTo(from + at, bbox.top + bbox.height)
    ctx.lineTo(from + at + bbox.height, bbox.top)
  }
  ctx.strokeStyle = color
  ctx.lineWidth = ratio
  ctx.globalAlpha = 0.3
  ctx.stroke()
  ctx.restore()
}

/** Draws the levels, with their names where they have room. */
export function drawLevels(
  { ctx, bbox, valToPos }: uPlot,
  { levels, colors, unit }: Pick<DrawingState, 'levels' | 'colors' | 'unit'>,
): void {
  if (levels.length === 0) return
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = `${11 * ratio}px ${FONT}`
  ctx.textAlign = 'left'
  ctx.textBaseline = 'middle'
  ctx.lineJoin = 'round'
  const lines = levels.map(({ value, name, kind }) => {
    const text = levelText({ value, name }, unit)
    return { text, kind, y: Math.round(valToPos(value, 'y', true)), width: ctx.measureText(text).width }
  })
  for (const { y, kind } of lines) {
    ctx.strokeStyle = colors[kind === 'ALERT' ? 'error' : 'warn']
    ctx.lineWidth = ratio
    ctx.setLineDash(levelDashes[kind].map((part) => part * ratio))
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
  }
  ctx.setLineDash([])
  const area = { ...bbox, textHeight: 13 * ratio, gap: 4 * ratio }
  const boxes = labelBoxes(
    lines.map(({ y, width, kind }) => ({ y, width, side: kind === 'ALERT' ? 'right' : 'left' })),
    area,
  )
  for (const [at, { text, kind }] of lines.entries()) {
    const box = boxes[at]
    if (!box) continue
    const middle = box.top + box.height / 2
    // A rim in the color of the panel separates the name from the lines of the series.
    ctx.strokeStyle = colors.panel
    ctx.lineWidth = 3 * ratio
    ctx.strokeText(text, box.left, middle)
    ctx.fillStyle = colors[kind === 'ALERT' ? 'error' : 'warn']
    ctx.fillText(text, box.left, middle)
  }
  ctx.restore()
}

/** A level with its value. */
export const levelText = ({ value, name }: Pick<ChartLevel, 'value' | 'name'>, unit: (value: number) => string): string =>
  `${name} ${unit(value)}`

const levelDashes = { ALERT: [7, 4], WARN: [2, 3] } as const satisfies Record<ChartLevel['kind'], readonly number[]>

/** Draws moments as lines with a flag at the top; the legend names them. */
export function drawMarks({ ctx, bbox, valToPos, scales }: uPlot, { marks, colors }: Pick<DrawingState, 'marks' | 'colors'>): void {
  const ratio = devicePixelRatio
  const [first, last] = [scales.x?.min ?? 0, scales.x?.max ?? 0]
  ctx.save()
  ctx.strokeStyle = colors.accent
  ctx.fillStyle = colors.accent
  ctx.lineWidth = ratio
  for (const { atMs } of marks) {
    if (atMs < first || atMs > last) continue
    const x = Math.round(valToPos(atMs, 'x', true))
    ctx.setLineDash([3 * ratio, 2 * ratio])
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x + 7 * ratio, bbox.top + 4 * ratio)
    ctx.lineTo(x, bbox.top + 8 * ratio)
    ctx.fill()
  }
  ctx.restore()
}
