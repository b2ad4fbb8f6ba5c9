import { type ReactNode, useState } from 'react'
import { count, quantity, share } from '../../../parts/chart/numbers.ts'
import type { Fields } from '../../../parts/query/fields.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Button } from '../../../ui/button.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { type ValueActions, ValueMenu } from '../events/detail/value-menu.tsx'

type FieldsViewProps = {
  fields: Fields | undefined
  isStale: boolean
  failure: unknown
  actions: ValueActions
  emptyView: ReactNode
  onRetry(): unknown
}

const VALUES_SHOWN = 5

/** A table of all fields with their most frequent values. */
export function FieldsView({ fields, isStale, failure, actions, emptyView, onRetry }: FieldsViewProps) {
  const [typed, setTyped] = useState('')
  if (failure && !fields) return <FailureNote thrown={failure} again={onRetry} what="Fields" />
  if (!fields) return <Skeleton className="px-3" />
  if (fields.events === 0) return emptyView
  if (fields.fields.length === 0) return <p className="p-6 text-center text-soft">No matching event has fields.</p>
  const shown = fields.fields.filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section aria-label="All fields" tabIndex={0} className="h-full overflow-auto" aria-busy={isStale}>
      <div className="flex flex-wrap items-center gap-3 p-2 text-soft text-xs">
        <input
          className="h-7 w-56 rounded border border-line bg-ground px-2 text-ink"
          placeholder="Find a field"
          aria-label="Find in all fields"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <span>
          {quantity(shown.length, 'field')} of the matching events
          {!fields.isExact &&
            `${fields.areExact ? '; values are ' : ', '}estimated from ${count(fields.sampled)} of ${quantity(fields.events, 'event')} across the range`}
          {fields.isCut && '; find rarer fields by name in the field list'}
        </span>
      </div>
      <table aria-label="Fields" className="w-full text-xs max-sm:block">
        <thead className="sticky top-0 bg-panel text-left text-soft max-sm:sr-only">
          <tr>
            <th className="min-w-32 px-3 py-1 font-medium">Field</th>
            <th className="px-2 py-1 text-right font-medium">Share</th>
            <th className="px-2 py-1 font-medium">Most frequent values</th>
            <th className="px-2 py-1">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="max-sm:block">
          {shown.map(({ name, count: times, values }) => (
            <tr
              key={name}
              className="border-line border-t align-top hover:bg-tint max-sm:grid max-sm:grid-cols-[minmax(0,1fr)_auto_auto] max-sm:items-center"
            >
              <th scope="row" className="wrap-anywhere px-3 py-1 text-left font-mono font-normal">
                {name}
              </th>
              <td className="whitespace-nowrap px-2 py-1 text-right text-soft tabular-nums">
                {fields.areExact ? '' : '≈'}
                {share(times, fields.events)}
              </td>
              <td className="px-2 py-1 max-sm:order-last max-sm:col-span-full max-sm:px-3">
                {values.length === 0 && <span className="text-soft">Too rare for the sample; open it in the field list</span>}
                <ul className="flex flex-wrap gap-1">
                  {values.slice(0, VALUES_SHOWN).map(({ value, count: seen }) => (
                    <li key={value} className="max-w-full">
                      <ValueMenu
                        name={name}
                        value={value}
                        actions={actions}
                        className="max-w-72 truncate border border-line px-1 font-mono"
                      >
                        {value === '' ? '(empty)' : value.slice(0, 200)} <span className="font-sans text-soft">{share(seen, times)}</span>
                      </ValueMenu>
                    </li>
                  ))}
                </ul>
              </td>
              <td className="whitespace-nowrap px-2 py-0.5 text-right">
                <Button size="small" variant="quiet" onClick={() => actions.addColumn(name)}>
                  Add as column
                </Button>
                <Button size="small" variant="quiet" onClick={() => actions.groupBy(name)}>
                  Group by
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
