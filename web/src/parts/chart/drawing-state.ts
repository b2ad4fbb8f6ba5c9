import type { ChartColors } from './colors.ts'
import type { ChartBand, ChartData, ChartLevel } from './data.ts'

/** What a drawing reads anew whenever it paints, so that new numbers and another theme need no new drawing. */
export type DrawingState = {
  data: ChartData
  colors: ChartColors
  levels: readonly ChartLevel[]
  bands: readonly ChartBand[]
  unit(value: number): string
  onCursor(at: number | undefined): void
  onRange: ((fromMs: number, toMs: number) => void) | undefined
}
