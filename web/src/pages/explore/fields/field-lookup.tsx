import { useEffect, useState } from 'react'
import { count, quantity } from '../../../parts/chart/numbers.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import type { ValueActions } from '../events/detail/value-menu.tsx'
import type { ExploreQuery } from '../query/explore-query.ts'
import { FieldValues } from './field-values.tsx'
import { useFieldCounts } from './use-fields.ts'

/** How long typing must pause before the lookup starts. */
const TYPING_MS = 400

type FieldLookupProps = { name: string; query: ExploreQuery; hasOthers: boolean; actions: ValueActions }

/** FieldLookup looks up a field that is not listed, in all events of the range and regardless of the query. */
export function FieldLookup({ name, query, hasOthers, actions }: FieldLookupProps) {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), TYPING_MS)
    return () => clearTimeout(timer)
  }, [])
  const lookup = useFieldCounts(name, { ...query, where: '' }, isSettled)
  if (lookup.error) return <FailureNote thrown={lookup.error} again={() => lookup.refetch()} />
  if (!lookup.data) return <li className="px-2 py-1 text-soft text-xs">Searching all events…</li>
  const { events, distinctCount, values } = lookup.data
  if (events === 0)
    return (
      <li className="px-2 py-1 text-soft text-xs">
        {hasOthers ? 'No event' : 'No field in the list matches, and no event'} in this range has the field{' '}
        <span className="wrap-anywhere font-mono">{name}</span>.
      </li>
    )
  return (
    <li className="px-1 py-1 text-xs">
      <p className="wrap-anywhere px-1 font-mono">{name}</p>
      <p className="px-1 text-soft">
        Not in the list, but in {quantity(events, 'event')} in this range
        {distinctCount > values.length && `, with ${count(distinctCount)} values`}.
      </p>
      <FieldValues name={name} values={values} all={events} where={query.where} actions={actions} />
    </li>
  )
}
