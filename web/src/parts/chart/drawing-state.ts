import type { ChartColors } from './colors.ts'
import type { ChartBand, ChartData, ChartLevel, ChartMark } from './data.ts'

/** DrawingState is read on every paint, so that new data or a new theme needs no new plot. */
export type DrawingState = {
  data: ChartData
  colors: ChartColors
  levels: readonly ChartLevel[]
  bands: readonly ChartBand[]
  marks: readonly ChartMark[]
  unit(value: number): string
  onCursor(at: number | undefined): void
  /** onRead receives the moment under the pointer, and the part over which it drags; nothing when it has left. */
  onRead(atMs: number | undefined, part?: { fromMs: number; toMs: number }): void
  onRange: ((fromMs: number, toMs: number) => void) | undefined
}
