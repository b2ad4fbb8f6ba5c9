import type { contract, ReplyOf } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { count, quantity, share } from '../../../parts/chart/numbers.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { plainLine } from '../events/find/line-text.ts'
import { type ExploreQuery, queryKeyOf } from '../query/explore-query.ts'
import { patternsBody } from './patterns.ts'

type Placeholder = ReplyOf<typeof contract.patterns.values>['placeholders'][number]

const VALUES_MAX = 10

/** Counts the values of the variable parts of a pattern in the events of a query. */
function usePatternValues(id: string, query: ExploreQuery) {
  const client = useClient()
  return useQuery({
    queryKey: ['pattern values', id, ...queryKeyOf(query)],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.patterns.values({ body: { id, ...patternsBody(query), limit: VALUES_MAX }, signal, repeatable: true }),
  })
}

type PatternValuesProps = {
  id: string
  query: ExploreQuery
  /** Adds a condition to the query. */
  onNarrow(where: string): void
}

/** Shows the template of a pattern with the kinds of its variable parts, and the most frequent values of the selected one. */
export function PatternValues({ id, query, onNarrow }: PatternValuesProps) {
  const { data, error, isPlaceholderData, refetch } = usePatternValues(id, query)
  const [selected, setSelected] = useState<number>()
  const listId = useId()
  if (error && !data) return <FailureNote thrown={error} again={refetch} isSmall />
  if (!data)
    return (
      <p role="status" className="text-soft">
        Counting values…
      </p>
    )
  if (Number(data.count) === 0) return <p className="text-soft">No event of this range has this pattern.</p>
  const { placeholders } = data
  const one = selected === undefined ? undefined : placeholders[selected]
  return (
    <div aria-busy={isPlaceholderData}>
      {error && <FailureNote thrown={error} again={refetch} isSmall />}
      <p className="wrap-anywhere font-mono">
        {plainLine(data.template)
          .split('<*>')
          .map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a template never change order
            <span key={at}>
              {at > 0 && (
                <PlaceholderButton
                  placeholder={placeholders[at - 1]}
                  isOpen={selected === at - 1}
                  listId={listId}
                  onToggle={() => setSelected(selected === at - 1 ? undefined : at - 1)}
                />
              )}
              {part}
            </span>
          ))}
      </p>
      <div id={listId} className="mt-1">
        {one && isVariable(one) ? <ValueList placeholder={one} onNarrow={onNarrow} /> : <p className="text-soft">{hintOf(placeholders)}</p>}
      </div>
    </div>
  )
}

const isVariable = ({ distinct }: Placeholder): boolean => Number(distinct) > 1

const hintOf = (placeholders: readonly Placeholder[]): string => {
  if (placeholders.length === 0) return 'This pattern has no variable parts.'
  return placeholders.some(isVariable) ? 'Select a variable part to list its values.' : 'All events have the same values.'
}

type PlaceholderButtonProps = { placeholder: Placeholder | undefined; isOpen: boolean; listId: string; onToggle(): void }

/** The kind of a variable part; a part with one value shows the value. */
function PlaceholderButton({ placeholder, isOpen, listId, onToggle }: PlaceholderButtonProps) {
  const style = 'rounded bg-tint px-0.5 text-accent'
  if (!placeholder) return <span className={style}>{'<*>'}</span>
  if (!isVariable(placeholder)) {
    return (
      <span className={style} title="The same in all events">
        {plainLine(placeholder.values[0]?.value ?? '').slice(0, SHOWN_CHARS)}
      </span>
    )
  }
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-controls={listId}
      title={quantity(placeholder.distinct, 'value')}
      className={`${style} ${isOpen ? 'outline outline-accent' : 'hover:outline hover:outline-line'}`}
      onClick={onToggle}
    >
      {`<${placeholder.kind}>`}
    </button>
  )
}

const SHOWN_CHARS = 200

function ValueList({ placeholder, onNarrow }: { placeholder: Placeholder; onNarrow(where: string): void }) {
  const { kind, values, distinct, count: all } = placeholder
  const isCut = Number(distinct) > values.length
  return (
    <>
      <p className="text-soft">
        {isCut && `${count(values.length)} most frequent of `}
        {quantity(distinct, 'value')}
        {values.every(({ where }) => where === undefined) && ' · no condition can select exactly the events of one'}
      </p>
      <ul aria-label={`Values of <${kind}>`} className="max-w-md">
        {values.map(({ value, count: events, where }) => {
          const row = (
            <>
              <span
                aria-hidden
                className="absolute inset-y-0.5 left-0 rounded-sm bg-tint"
                style={{ width: `${(100 * Number(events)) / Number(all)}%` }}
              />
              <span className="relative min-w-0 flex-1 truncate font-mono">
                {value === '' ? '(empty)' : plainLine(value).slice(0, SHOWN_CHARS)}
              </span>
              <span className="relative text-soft tabular-nums">
                {count(events)} · {share(Number(events), Number(all))}
              </span>
            </>
          )
          const style = 'relative flex w-full items-center gap-2 px-1 py-0.5 text-left'
          return (
            <li key={value}>
              {where === undefined ? (
                <div className={style} title="No condition can select exactly these events">
                  {row}
                </div>
              ) : (
                <button
                  type="button"
                  className={`${style} rounded hover:outline hover:outline-line`}
                  title="Include only events with this value"
                  onClick={() => onNarrow(where)}
                >
                  {row}
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </>
  )
}
