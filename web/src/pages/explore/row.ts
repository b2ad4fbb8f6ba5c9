import type { Event } from '@dendro/api'
import type { Zone } from '../../parts/time-range.ts'
import type { Marking } from './line-text.ts'
import type { Density } from './reading.ts'

/** RowActs are what can be done with an event wherever its row is shown. */
export type RowActs = {
  toggle(event: Event): void
  showContext(event: Event): void
  pin(event: Event): void
  /** measure has the times of all rows counted from this event, or no longer. */
  measure(event: Event): void
  /** spread shows all of the run that begins here, or one row for it again. */
  spread(event: Event): void
}

/** RowLook is how all rows of a list are shown. */
export type RowLook = {
  zone: Zone
  columns: readonly string[]
  widths: Readonly<Record<string, number>>
  isWrapped: boolean
  /** isGap shows the time between rows. */
  isGap: boolean
  density: Density
  /** marking is what is marked in lines. */
  marking: Marking
  nameOf(id: string): string
}
