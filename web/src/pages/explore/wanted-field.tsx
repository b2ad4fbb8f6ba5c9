import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { count, quantity } from '../../parts/numbers.ts'
import { timeRangeOf } from '../../parts/time-range.ts'
import { FieldValues } from './field-values.tsx'
import { quoted } from './groups.ts'
import { type Question, sourceOf } from './questions.ts'
import type { ValueActions } from './value-menu.tsx'

/** TYPING_MS is how long a name stands still before the service is asked for it. */
const TYPING_MS = 400
const VALUES_MAX = 10
const ABSENT = 'null'

type WantedFieldProps = { name: string; question: Question; hasOthers: boolean; actions: ValueActions }

/** WantedField asks the service for a key that the sample does not have: all events of the range are counted, whatever the query. */
export function WantedField({ name, question, hasOthers, actions }: WantedFieldProps) {
  const client = useClient()
  const [isTyped, setTyped] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setTyped(true), TYPING_MS)
    return () => clearTimeout(timer)
  }, [])
  const found = useQuery({
    queryKey: ['a key', name, question.datasets, question.range, question.turn],
    enabled: isTyped,
    retry: false,
    queryFn: async ({ signal }) => {
      const body = {
        ...sourceOf(question),
        ...timeRangeOf(question.range),
        where: `${quoted(name)} IS NOT NULL`,
        select: ['count(*)'],
        groups: [quoted(name)],
        num_of_slices: 1,
        limit: VALUES_MAX,
      }
      const { totals, groups_series } = await client.search.run({ body, signal, repeatable: true })
      const values = groups_series
        .filter(({ name: value }) => value !== ABSENT)
        .map((one) => ({ value: one.name, count: Number(one.count) }))
      return { events: Number(totals.count), different: Number(totals.total_groups ?? values.length), values }
    },
  })
  if (found.error) return <FailureNote thrown={found.error} again={() => found.refetch()} />
  if (!found.data) return <li className="px-2 py-1 text-soft text-xs">Looking for it in all events …</li>
  const { events, different, values } = found.data
  if (events === 0)
    return (
      <li className="px-2 py-1 text-soft text-xs">
        {hasOthers ? 'No event' : 'No key of the sample is called so, and no event'} of this range has the key{' '}
        <span className="break-all font-mono">{name}</span>.
      </li>
    )
  return (
    <li className="px-1 py-1 text-xs">
      <p className="px-1 font-mono">{name}</p>
      <p className="px-1 text-soft">
        Not in the sample, but in {quantity(events, 'event')} of this range
        {different > values.length && `, with ${count(different)} values`}.
      </p>
      <FieldValues name={name} values={values} all={events} actions={actions} />
    </li>
  )
}
