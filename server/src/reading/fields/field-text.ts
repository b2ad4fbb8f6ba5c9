import { and, column, FALSE, joined, not, or, type Param, param, type SqlFragment, sql, using } from '../sql/sql.ts'
import { firstText, type TextSource } from './array-elements.ts'
import { timeText } from './event-time.ts'
import type { KeyLocation, KeyLocations } from './field-locations.ts'
import { hasOverflowKey, overflowText, overflowValue } from './overflow-entries.ts'

/** A condition on the stored text of a key: '' means that the key is absent, and a single NUL that its text is empty. */
export type TextTest = {
  /** Whether the condition may be true for ''. The caller then has to check that the key exists. */
  readonly holdsForAbsent: boolean
  readonly of: (stored: SqlFragment) => SqlFragment
}

/** The value of a key by its stored text; null where it is absent. */
export const storedValue = (stored: string): string | null => (stored === '' ? null : stored === '\0' ? '' : stored)

/** The text itself: an empty one for the NUL that represents it. */
export const readable = (stored: SqlFragment): SqlFragment => sql`if(${stored} = '\\0', '', ${stored})`

/**
 * True where the event has the key and its text meets the test. Each location is tested separately, so that columns with few distinct
 * values stay fast.
 */
export function keyMeets(places: KeyLocations, test: TextTest): SqlFragment {
  return or(
    places.map((locations, rank) => {
      const earlier = places.slice(0, rank).map((before) => not(or(before.map(locationHasText))))
      return and([...earlier, or(locations.map((location) => locationMeets(location, test)))])
    }),
  )
}

/** True where the event has the key. */
export const keyExists = (places: KeyLocations): SqlFragment => or(places.flat().map(locationExists))

/** The stored text of a key, '' where it is absent. */
export function keyText(places: KeyLocations): SqlFragment {
  const locations = places.flat()
  if (mayBeInArray(places)) return firstText(locations.flatMap(sourcesOf))
  const last = locations.at(-1)
  if (last === undefined) return sql`''`
  const tried = locations.slice(0, -1).map((location) => sql`${locationExists(location)}, toString(${readText(location)})`)
  return tried.length === 0 ? readText(last) : using('costlyValue', sql`multiIf(${joined(tried)}, toString(${readText(last)}))`)
}

/** Whether a key may be a value in an array. Its text takes the store long to prepare. */
export const mayBeInArray = (places: KeyLocations): boolean => places.flat().some(({ kind }) => kind === 'element')

/** Computes something from the text of a key, which a statement then has only once if it is long. */
export const fromKeyText = (places: KeyLocations, of: (text: SqlFragment) => SqlFragment): SqlFragment =>
  mayBeInArray(places) ? fromCostlyText(keyText(places), of) : of(keyText(places))

/** The same for a text that takes the store long to prepare, such as a rebuilt line. */
export const fromCostlyText = (text: SqlFragment, of: (text: SqlFragment) => SqlFragment): SqlFragment =>
  using('costlyValue', sql`arrayMap(value -> ${of(sql`value`)}, [toString(${text})])[1]`)

const sourcesOf = (location: KeyLocation): readonly TextSource[] =>
  location.kind === 'element' ? location.arrays.map(({ of, path }) => ({ array: keyText([of]), path })) : [{ text: storedText(location) }]

function locationMeets(location: KeyLocation, test: TextTest): SqlFragment {
  const condition = test.of(storedText(location))
  if (condition === FALSE) return FALSE
  // Checking the shape is cheap. The text of a time is computed only where the shape contains the key.
  const guarded = test.holdsForAbsent || location.kind === 'time'
  return guarded ? and([locationHasText(location), condition]) : condition
}

/** The name of an overflow entry is enough. */
const locationExists = (location: KeyLocation): SqlFragment =>
  location.kind === 'more' ? hasOverflowKey(location.path) : locationHasText(location)

function locationHasText(location: KeyLocation): SqlFragment {
  if (location.kind === 'time') return sql`match(${column('shape')}, ${timeReferenceOf(location.path)})`
  return sql`${storedText(location)} != ''`
}

/** The same as a result. Here finding the entry by the number of its name takes a quarter less time; in a condition it takes more. */
const readText = (location: KeyLocation): SqlFragment => (location.kind === 'more' ? overflowValue(location.path) : storedText(location))

function storedText(location: KeyLocation): SqlFragment {
  switch (location.kind) {
    case 'slot':
      return location.text
    case 'more':
      return overflowText(location.path)
    case 'time':
      return sql`if(${locationHasText(location)}, ${timeText}, '')`
    case 'element':
      return firstText(sourcesOf(location))
  }
}

/** Matches shapes in which the time of the event replaces the value of the key. In JSON such a key is never in a nested object. */
function timeReferenceOf(path: string): Param {
  const key = path.replace(/[^\w]/g, '\\$&')
  return param.text(`(?s)^[ \\t\\r\\n]*\\{.*"${key}"\\s*:\\s*"?\\x01t`)
}
