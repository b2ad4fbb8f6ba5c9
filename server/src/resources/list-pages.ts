import type { PageQuery } from '@dendro/api'
import { badField } from '../kernel/errors.ts'

/** A record of a list that is in order: the newest first, and those of one time by id. */
type ListedRecord = { readonly id: string; readonly created_at: number }

/** Members of a reply with a page. */
export type NextPage = { readonly next_cursor?: string }
export type Page<Row> = NextPage & { readonly rows: readonly Row[] }

/**
 * The page of a list that a request wants; the list itself without parameters. A cursor is the place of the last record of a page, so that records that
 * are created or deleted meanwhile neither repeat others nor leave any out.
 */
export function pageOf<Row extends ListedRecord>(all: readonly Row[], query: PageQuery, textOf: (row: Row) => string): Page<Row> {
  const { limit, cursor, search = '' } = query
  if (cursor !== undefined && limit === undefined) throw badField('cursor', 'needs limit')
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const found = words.length === 0 ? all : all.filter((row) => hasWords(textOf(row).toLowerCase(), words))
  if (limit === undefined) return { rows: found }
  const first = cursor === undefined ? 0 : placeAfter(found, positionOf(cursor))
  const rows = found.slice(first, first + limit)
  const last = rows.at(-1)
  return { rows, ...(last && first + limit < found.length ? { next_cursor: `${last.created_at}.${last.id}` } : {}) }
}

/** The texts by which a record with tags is found. */
export const searchedText = (texts: readonly (string | null)[], tags: Readonly<Record<string, string>> = {}): string =>
  [...texts, ...Object.entries(tags).flat()].join(' ')

const hasWords = (text: string, words: readonly string[]): boolean => words.every((word) => text.includes(word))

const CURSOR = /^(\d{1,16})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

function positionOf(cursor: string): ListedRecord {
  const [, time, id] = CURSOR.exec(cursor) ?? []
  if (time === undefined || id === undefined) throw badField('cursor', 'must be the next_cursor of a page')
  return { created_at: Number(time), id }
}

/** The number of the first record after a position. */
function placeAfter(rows: readonly ListedRecord[], position: ListedRecord): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row && isUpTo(row, position)) low = middle + 1
    else high = middle
  }
  return low
}

const isUpTo = (row: ListedRecord, { created_at, id }: ListedRecord): boolean =>
  row.created_at > created_at || (row.created_at === created_at && row.id <= id)
