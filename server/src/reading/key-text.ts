import { timeText } from './event-time.ts'
import type { KeyLocation, KeyLocations } from './key-locations.ts'
import { hasOverflowKey, overflowValue } from './overflow-entries.ts'
import { and, constant, FALSE, not, or, type Param, param, type SqlFragment, sql } from './statement.ts'

/** A condition on the stored text of a key: '' means that the key is absent, and a single NUL that its text is empty. */
export type TextTest = {
  /** Whether the condition may be true for ''. The caller then has to check that the key exists. */
  readonly holdsForAbsent: boolean
  readonly of: (stored: SqlFragment) => SqlFragment
}

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
  const [first, ...others] = places.flat()
  if (first === undefined) return sql`''`
  if (others.length === 0) return readText(first)
  const tried = [first, ...others].map((location) => sql`${locationExists(location)}, toString(${readText(location)})`)
  return sql`multiIf(${{ texts: ['', ...tried.slice(1).map(() => ', '), ''], between: tried }}, '')`
}

function locationMeets(location: KeyLocation, test: TextTest): SqlFragment {
  const met = test.of(storedText(location))
  if (met === FALSE) return FALSE
  // Checking the shape is cheap. The text of a time is computed only where the shape contains the key.
  const guarded = test.holdsForAbsent || location.kind === 'time'
  return guarded ? and([locationHasText(location), met]) : met
}

/** The name of an overflow entry is enough. */
const locationExists = (location: KeyLocation): SqlFragment =>
  location.kind === 'more' ? hasOverflowKey(location.path) : locationHasText(location)

function locationHasText(location: KeyLocation): SqlFragment {
  if (location.kind === 'time') return sql`match(shape, ${timeReferenceOf(location.path)})`
  return sql`${storedText(location)} != ''`
}

/** The same as a result. Here finding the entry by the number of its name takes a quarter less time; in a condition it takes more. */
const readText = (location: KeyLocation): SqlFragment => (location.kind === 'more' ? overflowValue(location.path) : storedText(location))

function storedText(location: KeyLocation): SqlFragment {
  switch (location.kind) {
    case 'slot':
      return location.text
    case 'more':
      return sql`more[${param.text(location.path)}]`
    case 'time':
      return sql`if(${locationHasText(location)}, ${timeText}, '')`
    case 'element':
      return element(location.of, location.index)
  }
}

/** Matches shapes in which the time of the event replaces the value of the key. In JSON such a key is never in a nested object. */
function timeReferenceOf(path: string): Param {
  const key = path.replace(/[^\w]/g, '\\$&')
  return param.text(`(?s)^[ \\t\\r\\n]*\\{.*"${key}"\\s*:\\s*"?\\x01t`)
}

/** The text of an array element. Arrays are stored as written. */
function element(of: readonly KeyLocation[], index: number): SqlFragment {
  const written = sql`extract(${keyText([of])}, ${constant(`'${elementPattern(index)}'`)})`
  return sql`multiIf(startsWith(${written}, '"'), ${decoded(written)}, ${written} = 'null', '', ${written})`
}

const decoded = (written: SqlFragment): SqlFragment =>
  sql`if(${written} = '""', '\\0', replaceAll(JSONExtractString(concat('[', ${written}, ']'), 1), '\\0', ''))`

/** How deep the elements before the requested one may be nested. */
const NESTING_MAX = 4

/** A regular expression that captures the element of an array, escaped for a statement. */
function elementPattern(index: number): string {
  const space = '\\s*'
  const quoted = '"(?:[^"\\\\]|\\\\.)*"'
  let any = `${quoted}|[^\\s",\\[\\]{}]+`
  let nested = any
  for (let depth = 0; depth < NESTING_MAX; depth += 1) nested = `${any}|[\\[{](?:${nested}|[\\s,:])*[\\]}]`
  any = `(?:${nested})`
  const pattern = `(?s)^\\[${index === 0 ? '' : `(?:${space}${any}${space},){${index}}`}${space}(${any})${space}[,\\]]`
  return pattern.replaceAll('\\', '\\\\')
}
