import type { Metadata, PageQuery, SortedPageQuery } from '@dendro/api'
import { badField } from '../kernel/errors.ts'

type ListedRecord = { readonly id: string; readonly created_at: number }

/** By what a record is sorted, the most important first: lower numbers first, texts by the alphabet. Ties are sorted by id. */
type SortKeys = readonly (number | string)[]
type Place = { readonly keys: SortKeys; readonly id: string }

/** An order of a list. The name stands in cursors, so that a cursor of another order is refused. */
export type ListOrder<Row> = { readonly name: string; keysOf(row: Row): SortKeys }

/** The order in which lists are stored. */
export const newest: ListOrder<ListedRecord> = { name: 'newest', keysOf: ({ created_at }) => [-created_at] }

export const byName = <Row>(keysOf: (row: Row) => SortKeys): ListOrder<Row> => ({ name: 'name', keysOf })

/** Members of a reply with a page. */
export type NextPage = { readonly next_cursor?: string }
export type Page<Row> = NextPage & { readonly rows: readonly Row[] }

/** The texts by which a record with tags is found. */
export const searchedText = (texts: readonly (string | null | undefined)[], tags: Readonly<Record<string, string>> = {}): string =>
  [...texts, ...Object.entries(tags).flat()].join(' ')

/** The records with these ids; the list itself when none is named. */
export function withIds<Row extends { readonly id: string }>(all: readonly Row[], ids: readonly string[] = []): readonly Row[] {
  const named = new Set(ids)
  return named.size === 0 ? all : all.filter(({ id }) => named.has(id))
}

/** The records that contain each word of a search, in any case; the list itself without words. */
export function searched<Row>(all: readonly Row[], search: string | undefined, textOf: (row: Row) => string): readonly Row[] {
  const words = (search ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return all
  return all.filter((row) => {
    const text = textOf(row).toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/**
 * The page of a list that a request wants; without a limit the whole list, which is the same object when the order is that of the list. A cursor is the
 * place of the last record of a page, so that records that are created or deleted meanwhile neither repeat others nor leave any out.
 */
export function pageOf<Row extends ListedRecord>(
  all: readonly Row[],
  { limit, cursor }: Pick<PageQuery, 'limit' | 'cursor'>,
  order: ListOrder<Row> = newest,
): Page<Row> {
  if (cursor !== undefined && limit === undefined) throw badField('cursor', 'needs limit')
  if (limit === undefined && order.name === newest.name) return { rows: all }
  const after = cursor === undefined ? undefined : placeIn(cursor, order.name)
  const [first, rest] = firstOf(all, order, { after, max: limit ?? all.length })
  const last = first.at(-1)
  const rows = first.map(({ row }) => row)
  return { rows, ...(last && rest ? { next_cursor: cursorOf(last, order.name) } : {}) }
}

type ListedReply = { readonly id: string; readonly name: string; readonly metadata: Metadata }

/** The page of a list of replies that is sorted by the two common orders only, of those that contain each word of the search. */
export function pageOfReplies<Reply extends ListedReply>(
  all: readonly Reply[],
  query: SortedPageQuery,
  textOf: (reply: Reply) => string,
): NextPage & { rows: Reply[] } {
  const found = searched(all, query.search, textOf).map((reply) => ({ id: reply.id, created_at: reply.metadata.created_at ?? 0, reply }))
  const order = query.sort === 'name' ? byName<(typeof found)[number]>(({ reply }) => [reply.name]) : newest
  const { rows, ...rest } = pageOf<(typeof found)[number]>(found, query, order)
  return { rows: rows.map(({ reply }) => reply), ...rest }
}

type Placed<Row> = Place & { readonly row: Row }

/** The first records after a place, and whether there are more. Of a long list only as many are sorted as a page has. */
function firstOf<Row extends ListedRecord>(
  all: readonly Row[],
  order: ListOrder<Row>,
  { after, max }: { after: Place | undefined; max: number },
): [first: readonly Placed<Row>[], rest: boolean] {
  const placed = all.map((row): Placed<Row> => ({ keys: order.keysOf(row), id: row.id, row }))
  if (max >= all.length) {
    const found = placed.filter((one) => after === undefined || compare(one, after) > 0)
    return [found.sort(compare), false]
  }
  const first: Placed<Row>[] = []
  let rest = false
  for (const one of placed) {
    if (after !== undefined && compare(one, after) <= 0) continue
    const last = first.at(-1)
    if (first.length === max && last !== undefined) {
      rest = true
      if (compare(one, last) > 0) continue
      first.pop()
    }
    first.splice(placeOf(first, one), 0, one)
  }
  return [first, rest]
}

/** Where a record belongs in a sorted list. */
function placeOf(sorted: readonly Place[], one: Place): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = sorted[middle]
    if (other && compare(other, one) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function compare(a: Place, b: Place): number {
  for (const [at, key] of a.keys.entries()) {
    const other = b.keys[at]
    const found = typeof key === 'string' || typeof other === 'string' ? compareTexts(String(key), String(other)) : key - (other ?? 0)
    if (found !== 0) return found
  }
  return compareUnits(a.id, b.id)
}

/** Independent of the locale of the machine. Texts that only differ in what the alphabet ignores still have one order. */
const compareTexts = (a: string, b: string): number => (a === b ? 0 : alphabet.compare(a, b) || compareUnits(a, b))
const compareUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const alphabet = new Intl.Collator('en')

const cursorOf = ({ keys, id }: Place, order: string): string => Buffer.from(JSON.stringify([order, keys, id])).toString('base64url')

function placeIn(cursor: string, order: string): Place {
  const [name, keys, id] = parsed(cursor)
  const isPlace =
    Array.isArray(keys) && keys.every((key) => typeof key === 'number' || typeof key === 'string') && typeof id === 'string' && id !== ''
  if (!isPlace) throw badField('cursor', 'must be the next_cursor of a page')
  if (name !== order) throw badField('cursor', 'is of another order of the list')
  return { keys, id }
}

function parsed(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
