import { param, reading, type SqlFragment, sql } from '../sql/sql.ts'

/** The names of the overflow entries of an event, and their values. The store does not read these columns instead of the whole map by itself. */
export const OVERFLOW_NAMES: SqlFragment = reading(['more'], sql`more.keys`)
export const OVERFLOW_VALUES: SqlFragment = reading(['more'], sql`more.values`)

/**
 * True where the overflow map has an entry for a path. An entry always has a text (an empty one is stored as NUL, and a null is part of the shape), so
 * its name is enough. The names of a block are numbers, which the store compares in a tenth of the time that it takes to read the values.
 */
export const hasOverflowKey = (path: string): SqlFragment => sql`has(${OVERFLOW_NAMES}, ${param.text(path)})`

/** The value of the entry for a path, '' without one. */
export const overflowValue = (path: string): SqlFragment => sql`${OVERFLOW_VALUES}[indexOf(${OVERFLOW_NAMES}, ${param.text(path)})]`

/** The same, where the store should look the entry up. */
export const overflowText = (path: string): SqlFragment => reading(['more'], sql`more[${param.text(path)}]`)

/** Selects the granules whose overflow maps may have one of the keys. The indexes need exactly these expressions, which are not computed for events. */
export const overflowGranules = (paths: readonly string[]): SqlFragment =>
  reading(['more'], sql`indexHint(length(more) > 0 and hasAny(mapKeys(more), ${param.texts(paths)}))`)
