import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ABSENT } from '../../../parts/chart/group-name.ts'
import { useKnownFields } from '../../../parts/query/fields.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { timeRangeOf } from '../../../parts/time/time-range.ts'
import { quotedField } from '../groups/groups.ts'
import { type ExploreQuery, sourceOf } from '../query/explore-query.ts'

/** Loads the fields of the events that match the query, with their most frequent values. Where these are too many to be counted in passing, countAll does. */
export function useFields(query: ExploreQuery, isOn: boolean) {
  const fields = useKnownFields({ ...query, counting: 'bounded' }, isOn)
  const shown = JSON.stringify([query.datasets, query.where, query.range, query.refreshCount])
  const [chosen, setChosen] = useState<string>()
  const counted = useKnownFields({ ...query, counting: 'all' }, isOn && chosen === shown)
  const isCounted = chosen === shown && counted.data !== undefined && !counted.isPlaceholderData
  const count = {
    isRunning: counted.isFetching,
    failure: chosen === shown ? counted.error : null,
    countAll: () => setChosen(shown),
    retry: () => counted.refetch(),
  }
  return { ...fields, data: isCounted ? counted.data : fields.data, count }
}

/** Loads the fields of the range regardless of the query: for completions, which propose other values than those of the query. Without conditions they are the same. */
export const useAllFields = (query: ExploreQuery, isOn: boolean) =>
  useKnownFields({ ...query, where: '', counting: query.where.trim() === '' ? 'bounded' : 'sample' }, isOn)

const VALUES_MAX = 10

/** Counts the values of one field exactly, in all events of the range that match the query. */
export function useFieldCounts(name: string, query: Pick<ExploreQuery, 'datasets' | 'where' | 'range' | 'refreshCount'>, isOn: boolean) {
  const client = useClient()
  const { datasets, where, range, refreshCount } = query
  return useQuery({
    queryKey: ['field counts', name, datasets, where, range, refreshCount],
    enabled: isOn,
    retry: false,
    queryFn: async ({ signal }) => {
      const hasField = `${quotedField(name)} IS NOT NULL`
      const body = {
        ...sourceOf(query),
        ...timeRangeOf(range),
        where: where.trim() === '' ? hasField : `(${where}) AND ${hasField}`,
        select: ['count(*)'],
        groups: [quotedField(name)],
        num_of_slices: 1,
        limit: VALUES_MAX,
      }
      const { totals, groups_series } = await client.search.run({ body, signal, repeatable: true })
      const values = groups_series
        .filter(({ name: value }) => value !== ABSENT)
        .map((one) => ({ value: one.name, count: Number(one.count) }))
      return { events: Number(totals.count), distinctCount: Number(totals.total_groups ?? values.length), values }
    },
  })
}
