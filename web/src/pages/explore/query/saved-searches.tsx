import type { SavedSearch } from '@dendro/api'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Flag } from 'lucide-react'
import { type FormEvent, useMemo, useState } from 'react'
import { QueryText } from '../../../parts/datasets/pattern-texts.tsx'
import { paramsOfSearch, searchDetailsOf } from '../../../parts/query/search-details.ts'
import { MorePages, recordsOf, searchedText, searchOf, usePages, useSearched } from '../../../parts/records/pages.tsx'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Permitted } from '../../../parts/shell/permitted.tsx'
import { isMarked, MARKS_TAG } from '../../../parts/time/use-marks.ts'
import { Button } from '../../../ui/button.tsx'
import { Input } from '../../../ui/field.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import type { ExploreParams } from '../explore-params.ts'

type SavedSearchesProps = { params: ExploreParams; columns: readonly string[]; onOpen(params: ExploreParams): void }

const KEY = ['saved searches']
/** A shorter list is in view without a search. */
const FIND_LEAST = 8

/** Loads the saved searches that the service finds by words, newest first, page by page. */
function useFoundSearches(words: string) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: [...KEY, search],
    staleMs: 60_000,
    read: (page, signal) => client.savedSearches.list({ query: { ...search, ...page }, signal }),
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ saved_searches }) => saved_searches)), [list.data])
  return { ...list, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

/** The saved searches that contain the typed words. */
export const useSavedSearches = (words: string) =>
  useSearched(words, useFoundSearches, ({ name, description = '', tags }: SavedSearch) => searchedText([name, description], tags))

/** Saves the current search under a name, and opens and deletes saved ones. */
export function SavedSearches({ params, columns, onOpen }: SavedSearchesProps) {
  const client = useClient()
  const queries = useQueryClient()
  const [find, setFind] = useState('')
  const list = useSavedSearches(find)
  const refreshList = { onSuccess: () => queries.invalidateQueries({ queryKey: KEY }) }
  const save = useMutation({
    mutationFn: (name: string) => client.savedSearches.create({ body: { name, search_details: searchDetailsOf(params, columns) } }),
    ...refreshList,
  })
  const remove = useMutation({
    mutationFn: (savedSearchId: string) => client.savedSearches.remove({ params: { savedSearchId } }),
    ...refreshList,
  })
  const mark = useMutation({
    mutationFn: async (one: SavedSearch) => {
      const entity = { id: one.id, type: 'saved_search' as const }
      if (isMarked(one)) await client.tags.remove({ body: { name: MARKS_TAG.name, entity } })
      else await client.tags.create({ body: { ...MARKS_TAG, entity } })
      await queries.invalidateQueries({ queryKey: ['marks'] })
    },
    ...refreshList,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const name = String(new FormData(form).get('name') ?? '').trim()
    if (name !== '') save.mutate(name, { onSuccess: () => form.reset() })
  }
  const failure = save.error ?? remove.error ?? mark.error ?? list.error
  return (
    <div className="flex w-80 max-w-full flex-col gap-2">
      <Permitted to="saved_searches_write">
        <form aria-label="Save this search" onSubmit={submit} className="flex gap-1">
          <input
            name="name"
            required
            maxLength={255}
            aria-label="Name of this search"
            placeholder="Save this search as…"
            className="h-8 min-w-0 flex-1 rounded border border-line bg-ground px-2"
          />
          <Button type="submit" variant="main" disabled={save.isPending}>
            Save
          </Button>
        </form>
      </Permitted>
      {failure && <FailureNote thrown={failure} />}
      {(find !== '' || list.records.length >= FIND_LEAST) && (
        <Input
          placeholder="Find a saved search"
          aria-label="Find a saved search"
          value={find}
          onChange={({ target }) => setFind(target.value)}
        />
      )}
      {list.isPending && <p className="text-soft">Loading…</p>}
      {list.data && list.records.length === 0 && (
        <p className="text-soft">
          {find.trim() === '' ? 'No saved searches yet. Enter a name to save the current search.' : 'No saved search matches.'}
        </p>
      )}
      <ul className="max-h-80 overflow-auto" aria-label="Saved searches" aria-busy={list.isPlaceholderData}>
        {list.records.map((one) => (
          <li key={one.id} className="flex items-center rounded hover:bg-tint">
            <button type="button" className="min-w-0 flex-1 px-2 py-1 text-left" onClick={() => onOpen(paramsOfSearch(one.search_details))}>
              <span className="block truncate">{one.name}</span>
              <span className="block truncate font-mono text-soft text-xs">
                <QueryText text={one.search_details.where || 'all events'} />
              </span>
            </button>
            <Permitted to={isMarked(one) ? 'tag_delete' : 'tag_write'}>
              <IconButton
                icon={Flag}
                label={`Mark the events of ${one.name} on charts`}
                aria-pressed={isMarked(one)}
                className={isMarked(one) ? 'bg-tint text-accent' : ''}
                disabled={mark.isPending}
                onClick={() => mark.mutate(one)}
              />
            </Permitted>
            <Permitted to="saved_searches_delete">
              <Button
                size="small"
                variant="quiet"
                aria-label={`Delete ${one.name}`}
                disabled={remove.isPending}
                onClick={() => remove.mutate(one.id)}
              >
                Delete
              </Button>
            </Permitted>
          </li>
        ))}
      </ul>
      <MorePages of={list} />
    </div>
  )
}
