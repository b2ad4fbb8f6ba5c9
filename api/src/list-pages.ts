import type { z } from 'zod'
import { integerParameter, text, textParameter } from './values.ts'

const PAGE_MAX = 1_000
const SEARCH_CHARS_MAX = 200
const CURSOR_CHARS_MAX = 100

/** The parameters of a list that can be read in pages. */
export const pageParameters = {
  limit: integerParameter(1, PAGE_MAX).describe('The number of records of a page. Without it, the list is returned whole.'),
  cursor: textParameter(CURSOR_CHARS_MAX).describe('The `next_cursor` of the page before. Needs `limit`.'),
  search: textParameter(SEARCH_CHARS_MAX).describe('Only records whose names and tags contain each of these words.'),
}

export const nextCursor = text(1, CURSOR_CHARS_MAX)
  .optional()
  .describe('The `cursor` of the next page. Absent on the last page, and without `limit`.')

export type PageQuery = { readonly [Name in keyof typeof pageParameters]?: z.output<(typeof pageParameters)[Name]> }
