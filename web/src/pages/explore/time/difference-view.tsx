import { useMemo } from 'react'
import { FailureNote } from '../../../parts/failure.tsx'
import type { Fields } from '../../../parts/fields.ts'
import { bytes, count, quantity, share } from '../../../parts/numbers.ts'
import { clockOf, type Zone } from '../../../parts/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { type ValueActions, ValueMenu } from '../events/value-menu.tsx'
import { Template } from '../patterns/pattern-list.tsx'
import type { ExploreQuery } from '../query/explore-query.ts'
import { byDifference, fieldsToCompare, type ValueDifference } from './difference.ts'
import { type TimeSpan, useDifference } from './use-difference.ts'

type DifferenceViewProps = {
  /** query is for the whole range, which contains the time span. */
  query: ExploreQuery
  timeSpan: TimeSpan | undefined
  fields: Fields | undefined
  failure: unknown
  zone: Zone
  actions: ValueActions
  onRetry(): unknown
}

const SHOWN_MAX = 40

/** DifferenceView lists the values and patterns whose shares differ most between the selection in the histogram and the rest of the range. */
export function DifferenceView({ query, timeSpan, fields, failure, zone, actions, onRetry }: DifferenceViewProps) {
  const isOneDataset = query.datasets?.length === 1
  const fieldNames = useMemo(() => (fields ? fieldsToCompare(fields.fields, isOneDataset) : []), [fields, isOneDataset])
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = useDifference(query, timeSpan, fieldNames)
  const pages = data?.pages ?? []
  const differences = useMemo(() => byDifference((data?.pages ?? []).flatMap(({ differences }) => differences)), [data])
  const [first] = pages
  if (!timeSpan)
    return (
      <p className="p-6 text-center text-soft">
        Select bars in the histogram to compare them with the rest of the range: click a bar, or hold Shift and drag.
      </p>
    )
  if (failure && !fields) return <FailureNote thrown={failure} again={onRetry} />
  if (error && !first) return <FailureNote thrown={error} again={() => refetch()} />
  if (!first) return <p className="p-3 text-soft">Comparing the selection with the rest…</p>
  const truncated = pages.flatMap((page) => page.truncated)
  const compared = Math.min(fieldNames.length, pages.at(-1)?.next ?? 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section aria-label="Differences" tabIndex={0} className="min-h-0 flex-1 overflow-auto">
      <p className="px-3 py-2 text-xs">
        {timeSpanText(timeSpan, zone)}: <strong className="font-medium">{quantity(first.here, 'event')}</strong>
        <span className="text-soft">, compared with {quantity(first.rest, 'event')} in the rest of the range</span>
      </p>
      {error && <FailureNote thrown={error} again={() => fetchNextPage()} />}
      {differences.length === 0 ? (
        <p className="p-6 text-center text-soft">{emptyText(first.here, first.rest)}</p>
      ) : (
        <DifferenceTable differences={differences.slice(0, SHOWN_MAX)} templates={first.templates} actions={actions} />
      )}
      <div className="flex flex-wrap items-center gap-2 p-3 text-soft text-xs">
        <span>
          Counts are exact. {quantity(compared, 'field')} of {count(fieldNames.length)} compared, chosen from a sample of{' '}
          {quantity(fields?.sampled ?? 0, 'event')}.
          {truncated.length > 0 && ` Of ${truncated.join(', ')} only the most frequent values were compared.`}
          {` ${bytes(sumOf(pages.map((page) => page.bytes)))} read, ${Math.round(sumOf(pages.map(({ ms }) => ms)))} ms.`}
          {differences.length > SHOWN_MAX && ` The ${SHOWN_MAX} largest of ${count(differences.length)} differences are shown.`}
        </span>
        {hasNextPage && (
          <Button size="small" disabled={isFetching} onClick={() => fetchNextPage()}>
            {isFetching ? 'Comparing…' : 'Compare more fields'}
          </Button>
        )}
      </div>
    </section>
  )
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

const emptyText = (here: number, rest: number): string =>
  here === 0
    ? 'No event matches in the selection, so there is nothing to compare.'
    : rest === 0
      ? 'No event matches in the rest of the range, so there is nothing to compare with.'
      : 'No differences: the shares of all values and patterns are within one percentage point of each other.'

type DifferenceTableProps = { differences: readonly ValueDifference[]; templates: ReadonlyMap<string, string>; actions: ValueActions }

function DifferenceTable({ differences, templates, actions }: DifferenceTableProps) {
  return (
    <table className="w-full text-xs">
      <thead className="sticky top-0 bg-panel text-left text-soft">
        <tr>
          <th className="px-3 py-1 font-medium">Value or pattern</th>
          <th className="px-2 py-1 font-medium max-md:hidden">
            <span className="block w-36">Selection and rest</span>
          </th>
          <th className="px-2 py-1 text-right font-medium">Selection</th>
          <th className="px-2 py-1 text-right font-medium">Rest</th>
          <th className="px-2 py-1 text-right font-medium max-sm:hidden" title="Difference in percentage points">
            Points
          </th>
          <th className="px-2 py-1">
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {differences.map((one) => (
          <Row key={`${one.name} ${one.value}`} one={one} template={templates.get(one.value)} actions={actions} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ one, template, actions }: { one: ValueDifference; template: string | undefined; actions: ValueActions }) {
  const { name, value, here, hereShare, rest, restShare } = one
  const points = Math.round((hereShare - restShare) * 100)
  const isPattern = name === '@pattern'
  return (
    <tr className="border-line border-t align-top hover:bg-tint">
      <td className="wrap-anywhere max-w-0 px-3 py-1 font-mono sm:w-full">
        {isPattern ? (
          <>
            <span className="mr-1 font-sans text-soft">pattern</span>
            <Template text={template ?? value} />
          </>
        ) : (
          <>
            <span className="text-soft">{name} = </span>
            <ValueMenu name={name} value={value} actions={actions} className="max-w-full wrap-anywhere">
              {value === '' ? <span className="text-soft">(empty)</span> : value.slice(0, 300)}
            </ValueMenu>
          </>
        )}
      </td>
      <td className="px-2 py-1.5 max-md:hidden" aria-hidden>
        <span className="block h-1.5 rounded-sm bg-accent" style={{ width: `${100 * hereShare}%` }} />
        <span className="mt-0.5 block h-1.5 rounded-sm bg-bar-info" style={{ width: `${100 * restShare}%` }} />
      </td>
      <td className="whitespace-nowrap px-2 py-1 text-right tabular-nums" title={quantity(here, 'event')}>
        {share(hereShare, 1)}
      </td>
      <td className="whitespace-nowrap px-2 py-1 text-right text-soft tabular-nums" title={quantity(rest, 'event')}>
        {share(restShare, 1)}
      </td>
      <td className="whitespace-nowrap px-2 py-1 text-right tabular-nums max-sm:hidden">
        {points > 0 ? '+' : points < 0 ? '−' : ''}
        {Math.abs(points)}
      </td>
      <td className="whitespace-nowrap px-2 py-0.5 text-right">
        <Button size="small" variant="quiet" onClick={() => actions.include(name, value)}>
          Include
        </Button>
      </td>
    </tr>
  )
}

function timeSpanText({ fromMs, toMs }: TimeSpan, zone: Zone): string {
  const [from, to] = [clockOf(fromMs, zone), clockOf(toMs, zone)]
  return `${from.day} ${from.clock.slice(0, 8)} – ${to.day === from.day ? '' : `${to.day} `}${to.clock.slice(0, 8)}`
}
