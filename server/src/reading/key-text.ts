import { timeText } from './event-time.ts'
import type { Places, Spot } from './places.ts'
import { and, constant, FALSE, not, or, type Param, param, type Sql, sql } from './statement.ts'

/**
 * The text of a key as the store keeps it: '' says that the key is absent, and a single NUL that its text is empty. A Test is a condition on
 * such a text; it may take '' for a text only when it says so.
 */
export type Test = {
  /** holdsForAbsent says that the condition may hold for '', which must then be kept away from it. */
  readonly holdsForAbsent: boolean
  readonly of: (stored: Sql) => Sql
}

/** readable is the text itself: an empty one for the NUL that stands for it. */
export const readable = (stored: Sql): Sql => sql`if(${stored} = '\\0', '', ${stored})`

/** keyMeets is true where the key is there and meets the test; every place is looked at as it is, so that repetitive values stay quick. */
export function keyMeets(places: Places, test: Test): Sql {
  return or(
    places.map((spots, rank) => {
      const earlier = places.slice(0, rank).map((spotsBefore) => not(or(spotsBefore.map(isThere))))
      return and([...earlier, or(spots.map((spot) => spotMeets(spot, test)))])
    }),
  )
}

/** keyIsThere is true where the event has the key. */
export const keyIsThere = (places: Places): Sql => or(places.flat().map(isThere))

/** keyText is the stored text of a key, '' where it is absent. */
export function keyText(places: Places): Sql {
  const [first, ...others] = places.flat()
  if (first === undefined) return sql`''`
  if (others.length === 0) return storedText(first)
  const tried = [first, ...others].map((spot) => sql`${isThere(spot)}, toString(${storedText(spot)})`)
  return sql`multiIf(${{ texts: ['', ...tried.slice(1).map(() => ', '), ''], between: tried }}, '')`
}

function spotMeets(spot: Spot, test: Test): Sql {
  const met = test.of(storedText(spot))
  if (met === FALSE) return FALSE
  // Whether the shape has the time of a key costs next to nothing; the text of the time is made only where it has.
  const guarded = test.holdsForAbsent || spot.kind === 'time'
  return guarded ? and([isThere(spot), met]) : met
}

function isThere(spot: Spot): Sql {
  if (spot.kind === 'time') return sql`match(shape, ${timeReferenceOf(spot.path)})`
  return sql`${storedText(spot)} != ''`
}

function storedText(spot: Spot): Sql {
  switch (spot.kind) {
    case 'slot':
      return spot.text
    case 'more':
      return sql`more[${param.text(spot.path)}]`
    case 'time':
      return sql`if(${isThere(spot)}, ${timeText}, '')`
    case 'element':
      return element(spot.of, spot.index)
  }
}

/** timeReferenceOf finds, in a shape, the key whose text the time of the event gives back; in JSON such a key never lies in an inner object. */
function timeReferenceOf(path: string): Param {
  const key = path.replace(/[^\w]/g, '\\$&')
  return param.text(`(?s)^[ \\t\\r\\n]*\\{.*"${key}"\\s*:\\s*"?\\x01t`)
}

/** element is the text of an element of an array, which lies in the store as it was written. */
function element(of: readonly Spot[], index: number): Sql {
  const written = sql`extract(${keyText([of])}, ${constant(`'${elementPattern(index)}'`)})`
  return sql`multiIf(startsWith(${written}, '"'), ${decoded(written)}, ${written} = 'null', '', ${written})`
}

const decoded = (written: Sql): Sql =>
  sql`if(${written} = '""', '\\0', replaceAll(JSONExtractString(concat('[', ${written}, ']'), 1), '\\0', ''))`

/** NESTING_MAX is how deep the elements of an array may be nested for those behind them to be found. */
const NESTING_MAX = 4

/** elementPattern captures the element of an array, written so that it can stand in a statement. */
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
