import type uPlot from 'uplot'
import type { Colours } from './colours.ts'
import type { ChartBand } from './data.ts'
import type { Shown } from './shown.ts'

const looks = {
  ALERT: { colour: 'error', letter: 'A' },
  WARN: { colour: 'warn', letter: 'W' },
  NO_DATA: { colour: 'soft', letter: 'N' },
  partial: { colour: 'soft', letter: '' },
} as const satisfies Record<ChartBand['look'], { colour: keyof Colours; letter: string }>

const FONT = 'ui-sans-serif, system-ui, sans-serif'

/** drawBands paints stretches of time behind the series; each bears its letter, for whom colours do not tell. */
export function drawBands(plot: uPlot, { bands, colours }: Pick<Shown, 'bands' | 'colours'>): void {
  const { ctx, bbox, valToPos } = plot
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
    if (look === 'partial') {
      drawHatching(plot, from, width, colours.soft)
      continue
    }
    ctx.globalAlpha = 1
    ctx.fillRect(from, bbox.top, width, 3 * ratio)
    // Letters that would lie on one another are left out; the bar above them stays.
    if (from < letterEnd) continue
    ctx.font = `${11 * ratio}px ${FONT}`
    ctx.textAlign = 'left'
    ctx.textBaseline = 'alphabetic'
    ctx.fillText(letter, from + 2 * ratio, bbox.top + 14 * ratio)
    letterEnd = from + 12 * ratio
  }
  ctx.restore()
}

/** drawHatching marks a slice that is not over, whose value still grows. */
function drawHatching({ ctx, bbox }: uPlot, from: number, width: number, colour: string): void {
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
  ctx.strokeStyle = colour
  ctx.lineWidth = ratio
  ctx.globalAlpha = 0.3
  ctx.stroke()
  ctx.restore()
}

/** drawLevels draws the values that are looked out for, each with its name. */
export function drawLevels({ ctx, bbox, valToPos }: uPlot, { levels, colours, unit }: Pick<Shown, 'levels' | 'colours' | 'unit'>): void {
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
    ctx.font = `${11 * ratio}px ${FONT}`
    // The two levels are named at opposite ends, where they cannot lie on one another.
    const isAlert = look === 'ALERT'
    ctx.textAlign = isAlert ? 'right' : 'left'
    ctx.textBaseline = 'alphabetic'
    ctx.fillText(`${name} ${unit(value)}`, isAlert ? bbox.left + bbox.width - 4 * ratio : bbox.left + 4 * ratio, y - 4 * ratio)
  }
  ctx.restore()
}
