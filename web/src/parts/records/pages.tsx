import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Button } from '../../ui/button.tsx'
import { count } from '../chart/numbers.ts'
import { useSettled } from '../query/settled.ts'
import { hasWords } from './has-words.ts'

/** The number of records that a list reads at once. */
export const PAGE = 100
/** The most characters that the service searches for. */
const SEARCH_MAX = 200

type PageRequest = { readonly limit: number; readonly cursor?: string }

type PagesOptions<Page> = {
  queryKey: readonly unknown[]
  read(page: PageRequest, signal: AbortSignal): Promise<Page>
  /** The time until the loaded pages are read again; they never are when absent. */
  refreshMs?(first: Page | undefined): number
  /** How long the loaded pages are taken as they are by other parts that need them. */
  staleMs?: number
}

/** Reads a list page by page. While another search or order loads, the pages before it stay. */
export function usePages<Page extends { readonly next_cursor?: string | undefined }>({
  queryKey,
  read,
  refreshMs,
  staleMs,
}: PagesOptions<Page>) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ signal, pageParam }): Promise<Page> => read({ limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    ...(staleMs === undefined ? {} : { staleTime: staleMs }),
    refetchInterval: ({ state }) => refreshMs?.(state.data?.pages[0]) ?? false,
  })
}

/** The search parameters of a request for typed words. */
export const searchOf = (words: string): { search?: string } => (words.trim() === '' ? {} : { search: words.slice(0, SEARCH_MAX) })

/** The records of all pages. One that was on two pages, because it moved meanwhile, is listed once. */
export const recordsOf = <T extends { readonly id: string }>(pages: readonly (readonly T[])[]): readonly T[] => [
  ...new Map(pages.flat().map((record) => [record.id, record])).values(),
]

/** The pause in typing after which the service searches. */
export const SETTLE_MS = 200

type FoundRecords<T> = { readonly records: readonly T[]; readonly isWhole: boolean }

/**
 * The records that contain the typed words; `isWhole` means that all records are loaded. Those are searched at once, a longer list by the service.
 * `useFound` loads what the service finds, without words the list itself.
 */
export function useSearched<T, Found extends FoundRecords<T>>(
  words: string,
  useFound: (words: string) => Found & FoundRecords<T>,
  textOf: (record: T) => string,
): Found {
  const list = useFound('')
  const settled = useSettled(words, SETTLE_MS)
  const found = useFound(list.isWhole ? '' : settled)
  if (!list.isWhole) return { ...found, isWhole: false }
  return { ...list, records: list.records.filter((record) => hasWords(textOf(record), words)) }
}

/** The text in which the service searches a record with tags. */
export const searchedText = (texts: readonly string[], tags: Readonly<Record<string, string>>): string =>
  [...texts, ...Object.entries(tags).flat()].join(' ')

type PagesState = { readonly hasNextPage: boolean; readonly isFetchingNextPage: boolean; fetchNextPage(): unknown }
/** `rest` is the number of records that are not shown yet, where it is known. */
type MorePagesProps = { of: PagesState; rest?: number }

/** The button that reads the next page of a list. */
export const MorePages = ({ of: { hasNextPage, isFetchingNextPage, fetchNextPage }, rest }: MorePagesProps) =>
  hasNextPage && (
    <p className="p-2 text-center">
      <Button size="small" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
        {isFetchingNextPage ? 'Loading…' : rest === undefined ? 'Show more' : `Show ${count(Math.min(rest, PAGE))} more of ${count(rest)}`}
      </Button>
    </p>
  )
