import { notBuilt } from '../errors.ts'
import type { Slots } from './places.ts'
import type { Sql } from './statement.ts'

/** rawLine is the line of an event as it was received. */
export function rawLine(_slots: Slots): Sql {
  throw notBuilt('conditions on @raw cannot be answered yet')
}

/** lineHolds is true where the line holds a text, ignoring case. */
export function lineHolds(_text: string, _slots: Slots): Sql {
  throw notBuilt('free text cannot be searched for yet')
}
