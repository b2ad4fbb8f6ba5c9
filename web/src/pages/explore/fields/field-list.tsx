import { useState } from 'react'
import { FailureNote } from '../../../parts/failure.tsx'
import type { Field, Fields } from '../../../parts/fields.ts'
import { count, quantity, share } from '../../../parts/numbers.ts'
import type { ValueActions } from '../events/value-menu.tsx'
import { type ExploreQuery, isQueryError } from '../query/explore-query.ts'
import { FieldLookup } from './field-lookup.tsx'
import { FieldValues } from './field-values.tsx'
import { useFieldCounts } from './use-fields.ts'

type FieldListProps = {
  query: ExploreQuery
  fields: Fields | undefined
  isStale: boolean
  failure: unknown
  actions: ValueActions
  onRetry(): unknown
}

/** FieldList shows the fields of the matching events, each with its share: an estimate from an even sample, marked by ≈, unless the sample has all of them. An open field has exact counts. A name outside the sample is looked up in all events. */
export function FieldList({ query, fields, isStale, failure, actions, onRetry }: FieldListProps) {
  const [typed, setTyped] = useState('')
  if (failure && !fields) return <FailureNote thrown={failure} again={onRetry} isSmall />
  const search = typed.trim()
  const shown = (fields?.fields ?? []).filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()))
  return (
    <section aria-label="Fields" className={`flex h-full flex-col ${isStale ? 'opacity-60' : ''}`}>
      <div className="p-2">
        <input
          className="h-7 w-full rounded border border-line bg-ground px-2"
          placeholder="Find a field"
          aria-label="Find a field"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <p
          className="mt-1 min-h-4 truncate text-soft text-xs"
          title={
            fields && !fields.isExact
              ? `Shares are estimates from ${quantity(fields.sampled, 'event')}, spread evenly over the matches`
              : undefined
          }
        >
          {!fields && 'Loading fields…'}
          {fields &&
            `${fields.isCut ? 'at least ' : ''}${quantity(fields.fields.length, 'field')} in ${quantity(fields.events, 'event')}${fields.isExact ? '' : ', shares estimated'}`}
        </p>
      </div>
      <ul className="min-h-0 flex-1 overflow-auto px-1 pb-4">
        {shown.map((field) => (
          <FieldItem key={field.name} field={field} query={query} all={fields ?? NO_EVENTS} actions={actions} />
        ))}
        {fields && search !== '' && !shown.some(({ name }) => name === search) && (
          <FieldLookup key={search} name={search} query={query} hasOthers={shown.length > 0} actions={actions} />
        )}
      </ul>
    </section>
  )
}

type FieldItemProps = { field: Field; query: ExploreQuery; all: Pick<Fields, 'events' | 'isExact'>; actions: ValueActions }

const NO_EVENTS = { events: 0, isExact: true }

function FieldItem({ field, query, all, actions }: FieldItemProps) {
  const { name } = field
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <details className="group rounded" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary
          className="flex cursor-pointer list-none items-center gap-1 rounded px-1 py-0.5 hover:bg-tint"
          title={`In ${all.isExact ? '' : 'about '}${count(field.count)} of ${quantity(all.events, 'event')}`}
        >
          <span aria-hidden className="w-3 text-soft text-xs group-open:rotate-90">
            ▸
          </span>
          <span className="min-w-0 flex-1 truncate font-mono text-xs">{name}</span>
          <span className="text-soft text-xs tabular-nums">
            {all.isExact ? '' : '≈'}
            {share(field.count, all.events)}
          </span>
        </summary>
        {isOpen && <OpenField field={field} query={query} actions={actions} />}
      </details>
    </li>
  )
}

/** OpenField shows estimates until the exact counts arrive. */
function OpenField({ field: { name, values, count: sampledCount }, query, actions }: Omit<FieldItemProps, 'all'>) {
  const { data, error, refetch } = useFieldCounts(name, query, true)
  if (error && !isQueryError(error)) return <FailureNote thrown={error} again={refetch} isSmall />
  const exact = isQueryError(error) ? undefined : data
  return (
    <>
      <p className="pl-5 text-soft text-xs">
        {exact
          ? `In ${quantity(exact.events, 'event')} of the query${exact.distinctCount > exact.values.length ? `, ${count(exact.distinctCount)} values` : ''}`
          : '≈ estimates, counting…'}
      </p>
      <FieldValues name={name} values={exact?.values ?? values} all={exact ? Math.max(1, exact.events) : sampledCount} actions={actions} />
    </>
  )
}
