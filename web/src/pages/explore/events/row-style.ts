import type { Event } from '@dendro/api'
import type { Zone } from '../../../parts/time-range.ts'
import type { Highlights } from './line-text.ts'
import type { Density } from './row-options.ts'

/** RowActs are what can be done with an event wherever its row is shown. */
export type RowActions = {
  toggle(event: Event): void
  showContext(event: Event): void
  pin(event: Event): void
  /** measure has the times of all rows counted from this event, or no longer. */
  measureFrom(event: Event): void
  /** spread shows all of the run that begins here, or one row for it again. */
  toggleRun(event: Event): void
}

/** RowLook is how all rows of a list are shown. */
export type RowStyle = {
  zone: Zone
  columns: readonly string[]
  widths: Readonly<Record<string, number>>
  isWrapped: boolean
  /** isGap shows the time between rows. */
  hasGaps: boolean
  density: Density
  /** marking is what is marked in lines. */
  highlights: Highlights
  datasetName(id: string): string
}
