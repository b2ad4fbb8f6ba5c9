import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useClient } from '../../../parts/client.ts'
import { FailureNote } from '../../../parts/failure.tsx'
import { count, quantity } from '../../../parts/numbers.ts'
import { timeRangeOf } from '../../../parts/time-range.ts'
import type { ValueActions } from '../events/value-menu.tsx'
import { ABSENT } from '../groups/group-order.ts'
import { quotedField } from '../groups/groups.ts'
import { type ExploreQuery, sourceOf } from '../query/explore-query.ts'
import { FieldValues } from './field-values.tsx'

/** TYPING_MS is how long typing must pause before the lookup starts. */
const TYPING_MS = 400
const VALUES_MAX = 10

type FieldLookupProps = { name: string; query: ExploreQuery; hasOthers: boolean; actions: ValueActions }

/** FieldLookup looks up a field that the sample does not contain, in all events of the range and regardless of the query. */
export function FieldLookup({ name, query, hasOthers, actions }: FieldLookupProps) {
  const client = useClient()
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), TYPING_MS)
    return () => clearTimeout(timer)
  }, [])
  const lookup = useQuery({
    queryKey: ['field lookup', name, query.datasets, query.range, query.refreshCount],
    enabled: isSettled,
    retry: false,
    queryFn: async ({ signal }) => {
      const body = {
        ...sourceOf(query),
        ...timeRangeOf(query.range),
        where: `${quotedField(name)} IS NOT NULL`,
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
  if (lookup.error) return <FailureNote thrown={lookup.error} again={() => lookup.refetch()} />
  if (!lookup.data) return <li className="px-2 py-1 text-soft text-xs">Searching all events…</li>
  const { events, distinctCount, values } = lookup.data
  if (events === 0)
    return (
      <li className="px-2 py-1 text-soft text-xs">
        {hasOthers ? 'No event' : 'No field in the sample matches, and no event'} in this range has the field{' '}
        <span className="wrap-anywhere font-mono">{name}</span>.
      </li>
    )
  return (
    <li className="px-1 py-1 text-xs">
      <p className="wrap-anywhere px-1 font-mono">{name}</p>
      <p className="px-1 text-soft">
        Not in the sample, but in {quantity(events, 'event')} in this range
        {distinctCount > values.length && `, with ${count(distinctCount)} values`}.
      </p>
      <FieldValues name={name} values={values} all={events} actions={actions} />
    </li>
  )
}
