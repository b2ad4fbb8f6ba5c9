import type { Event } from '@dendro/api'
import type { Zone } from '../../../../parts/time/time-range.ts'
import type { Highlights } from '../find/line-text.ts'
import type { ColumnFormat } from './column-format.ts'
import type { Density } from './row-options.ts'

/** The actions of an event row. */
export type RowActions = {
  toggle(event: Event): void
  showContext(event: Event): void
  pin(event: Event): void
  /** Shows all times relative to this event, or stops that. */
  measureFrom(event: Event): void
  /** Expands or collapses the run of repeats that begins here. */
  toggleRun(event: Event): void
}

/** The display options of all rows of a list. */
export type RowStyle = {
  zone: Zone
  columns: readonly string[]
  /** widths are those that the user has chosen. */
  widths: Readonly<Record<string, number>>
  formats: ReadonlyMap<string, ColumnFormat>
  /** Shows the dataset of each row; needless when all rows have the same. */
  hasDataset: boolean
  isWrapped: boolean
  /** Shows the time between rows. */
  hasGaps: boolean
  density: Density
  highlights: Highlights
  datasetName(id: string): string
}
