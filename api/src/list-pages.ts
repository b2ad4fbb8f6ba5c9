import { z } from 'zod'
import { integerParameter, lastOf, text, textParameter } from './values.ts'

const PAGE_MAX = 1_000
const SEARCH_CHARS_MAX = 200
/** A cursor holds the names by which a list is sorted. */
const CURSOR_CHARS_MAX = 4_096

/** The parameters of a list that can be read in pages. */
export const pageParameters = {
  limit: integerParameter(1, PAGE_MAX).describe('The number of records of a page. Without it, the list is returned whole.'),
  cursor: textParameter(CURSOR_CHARS_MAX).describe('The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.'),
  search: textParameter(SEARCH_CHARS_MAX).describe('Only records whose names and tags contain each of these words.'),
}

/** One of some words in a query string. When the name is repeated, the last one counts. */
export const wordParameter = <const W extends readonly [string, ...string[]]>(words: W) => z.preprocess(lastOf, z.enum(words).optional())

/** How a list is sorted; every list can be sorted by these two, and some by more. */
export const sortParameter = <const S extends readonly string[]>(more: S) =>
  wordParameter(['newest', 'name', ...more] as const).describe(
    'The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be on two pages or on none.',
  )

export const nextCursor = text(1, CURSOR_CHARS_MAX)
  .optional()
  .describe('The `cursor` of the next page. Absent on the last page, and without `limit`.')

export type PageQuery = { readonly [Name in keyof typeof pageParameters]?: z.output<(typeof pageParameters)[Name]> }
/** A page of a list that is sorted by the two common orders only. */
export type SortedPageQuery = PageQuery & { readonly sort?: 'newest' | 'name' | undefined }
