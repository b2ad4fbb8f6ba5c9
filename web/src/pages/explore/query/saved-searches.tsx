import type { SavedSearch } from '@dendro/api'
import { printKey } from '@dendro/language/print'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Flag } from 'lucide-react'
import type { FormEvent } from 'react'
import { QueryText } from '../../../parts/datasets/pattern-texts.tsx'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Permitted } from '../../../parts/shell/permitted.tsx'
import { isMarked, MARKS_TAG } from '../../../parts/time/use-marks.ts'
import { Button } from '../../../ui/button.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { type ExploreParams, exploreRangeOf, optional } from '../explore-params.ts'

type SavedSearchesProps = { params: ExploreParams; columns: readonly string[]; onOpen(params: ExploreParams): void }

const KEY = ['saved searches']

/** Loads the saved searches of the organization. */
export function useSavedSearches(isOn: boolean) {
  const client = useClient()
  return useQuery({ queryKey: KEY, enabled: isOn, queryFn: ({ signal }) => client.savedSearches.list({ signal }), staleTime: 60_000 })
}

/** Saves the current search under a name, and opens and deletes saved ones. */
export function SavedSearches({ params, columns, onOpen }: SavedSearchesProps) {
  const client = useClient()
  const queries = useQueryClient()
  const list = useSavedSearches(true)
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
        <form onSubmit={submit} className="flex gap-1">
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
      {list.isPending && <p className="text-soft">Loading…</p>}
      {list.data?.saved_searches.length === 0 && (
        <p className="text-soft">No saved searches yet. Enter a name to save the current search.</p>
      )}
      <ul className="max-h-80 overflow-auto" aria-label="Saved searches">
        {list.data?.saved_searches.map((one) => (
          <li key={one.id} className="flex items-center rounded hover:bg-tint">
            <button type="button" className="min-w-0 flex-1 px-2 py-1 text-left" onClick={() => onOpen(paramsOfSavedSearch(one))}>
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
    </div>
  )
}

const displays = { events: 'list', patterns: 'list', fields: 'list', changes: 'list', table: 'table', chart: 'timeseries' } as const

function searchDetailsOf(params: ExploreParams, columns: readonly string[]): SavedSearch['search_details'] {
  const range = exploreRangeOf(params)
  return {
    ...(params.d ? { from: params.d.join(':') } : { from_expr: '*' }),
    ...('words' in range ? { time_range: range.words } : { from_ts: range.fromMs, to_ts: range.toMs }),
    ...(params.q === undefined ? {} : { where: params.q }),
    ...(columns.length > 0 ? { select: columns.map(printKey).join(', ') } : {}),
    ...(params.by ? { groups: params.by.map(printKey).join(', ') } : {}),
    display: displays[params.tab ?? 'events'],
  }
}

/** Ignores options of searches saved elsewhere that this page cannot show. */
export function paramsOfSavedSearch({ search_details: details }: SavedSearch): ExploreParams {
  const { from, from_expr, time_range, from_ts, to_ts, where, select, groups, display } = details
  return optional({
    d: from && !from_expr ? from.split(':') : undefined,
    q: where || undefined,
    r: time_range || undefined,
    f: time_range ? undefined : from_ts,
    t: time_range ? undefined : to_ts,
    cols: namesOf(select).filter((key) => key !== '*' && key !== '@raw' && !/\(.*\)$/.test(key)),
    by: namesOf(groups),
    tab: display === 'table' ? 'table' : display === 'timeseries' ? 'chart' : undefined,
  })
}

/** Splits a list of field names at commas outside quotes. */
const namesOf = (text: string | undefined): string[] =>
  [...(text ?? '').matchAll(/"((?:[^"]|"")*)"|([^\s,"][^,"]*)/g)].map(
    ([, inner, bare]) => inner?.replaceAll('""', '"') ?? bare?.trim() ?? '',
  )
