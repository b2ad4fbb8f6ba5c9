import { ChevronDown, ChevronUp } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { ABSENT, valueName } from '../../../parts/chart/group-name.ts'
import { change, count, quantity, share } from '../../../parts/chart/numbers.ts'
import { unitOf, unitText } from '../../../parts/chart/unit.ts'
import { GroupText } from '../../../parts/datasets/pattern-texts.tsx'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import type { Zone } from '../../../parts/time/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { type ValueActions, ValueMenu } from '../events/detail/value-menu.tsx'
import { type GroupOrder, sortGroups } from './group-order.ts'
import type { Group, Groups } from './groups.ts'

export type GroupViewProps = {
  groups: Groups | undefined
  /** The groups of the compared period and its label. */
  earlier: { groups: Groups; name: string } | undefined
  by: readonly string[]
  measure: string
  /** Replaces the view when no event matches. */
  emptyView: ReactNode
  isStale: boolean
  failure: unknown
  zone: Zone
  actions: ValueActions
  /** Shows the events of a group. */
  onOpen(values: readonly string[]): void
  onRetry(): unknown
}

/** Formats the values of a measure as the charts do. */
export function unitOfMeasure(measure: string): (value: number | null) => string {
  const text = unitText(unitOf({ select: [measure], formula: undefined }))
  return (value) => (value === null ? '–' : text(value))
}

/** GroupTable has a row per group and sorts by any column. Each row links to its events. */
export function GroupTable(props: GroupViewProps) {
  const { groups: data, earlier, by, measure, isStale } = props
  const [order, setOrder] = useState<GroupOrder>({ column: 'value', isRising: false })
  const emptyView = groupPlaceholder(props)
  if (emptyView || !data) return emptyView
  const maxValue = Math.max(...data.groups.map(({ value }) => value ?? 0), 0)
  const isCount = measure === 'count(*)'
  const before = new Map((earlier?.groups.groups ?? []).map((one) => [JSON.stringify(one.values), one.value ?? 0]))
  const beforeOf = (one: Group): number => before.get(JSON.stringify(one.values)) ?? 0
  const rows = sortGroups(data.groups, order, beforeOf)
  const sorting = { order, onOrder: setOrder }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section aria-label="Table" tabIndex={0} className="min-h-0 flex-1 overflow-auto" aria-busy={isStale}>
      <table aria-label="Groups" className="w-full text-xs">
        <thead className="sticky top-0 z-10 bg-panel text-left text-soft">
          <tr>
            {by.map((name, place) => (
              <SortHeader key={name} {...sorting} column={place}>
                <span className="font-mono">{name}</span>
              </SortHeader>
            ))}
            {by.length === 0 && <th className="px-3 py-1 font-medium">All events</th>}
            {!isCount && (
              <SortHeader {...sorting} column="value" isNumber>
                <span className="font-mono">{measure}</span>
              </SortHeader>
            )}
            {data.others.map((other) => (
              <th key={other.measure} className="px-2 py-1 text-right font-medium font-mono">
                {other.measure}
              </th>
            ))}
            <SortHeader {...sorting} column={isCount ? 'value' : 'events'} isNumber>
              Events
            </SortHeader>
            <th className="px-2 py-1 text-right font-medium max-sm:hidden">Share</th>
            {earlier && (
              <SortHeader {...sorting} column="change" isNumber title={`Compared with ${earlier.name}`}>
                Change
              </SortHeader>
            )}
            <th className="w-40 px-2 py-1 font-medium max-md:hidden">Over time</th>
            <th className="px-2 py-1">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((group) => (
            <GroupRowView
              key={JSON.stringify(group.values)}
              {...props}
              group={group}
              data={data}
              maxValue={maxValue}
              before={beforeOf(group)}
            />
          ))}
        </tbody>
        {by.length > 0 && (
          <tfoot className="sticky bottom-0 bg-panel shadow-[0_-1px_0_var(--color-line)]">
            <tr className="font-medium">
              <th scope="row" colSpan={by.length} className="px-3 py-1 text-left font-medium">
                All {data.hiddenCount > 0 ? 'groups, including those not shown' : quantity(data.groups.length, 'group')}
              </th>
              {!isCount && <td className="px-2 py-1 text-right tabular-nums">{unitOfMeasure(measure)(data.overall.value)}</td>}
              {data.others.map((other) => (
                <td key={other.measure} />
              ))}
              <td className="px-2 py-1 text-right tabular-nums">{count(data.total)}</td>
              <td className="whitespace-nowrap px-2 py-1 text-right text-soft tabular-nums max-sm:hidden">
                {share(data.total, data.total)}
              </td>
              {earlier && (
                <td className="px-2 py-1 text-right text-soft tabular-nums">
                  {change(data.overall.value ?? 0, earlier.groups.overall.value ?? 0)}
                </td>
              )}
              <td className="max-md:hidden" />
              <td />
            </tr>
          </tfoot>
        )}
      </table>
      <p className="p-2 text-center text-soft text-xs">
        {data.hiddenCount > 0 ? `${quantity(data.hiddenCount, 'more group')} not shown` : quantity(data.groups.length, 'group')}
      </p>
    </section>
  )
}

type SortHeaderProps = {
  column: GroupOrder['column']
  order: GroupOrder
  isNumber?: boolean
  title?: string
  children: ReactNode
  onOrder(order: GroupOrder): void
}

/** Sorts by a column; a second click reverses the order. Numbers start with the largest, texts with A. */
function SortHeader({ column, order, isNumber = false, title, children, onOrder }: SortHeaderProps) {
  const isSorted = order.column === column
  return (
    <th
      className={`px-2 py-0.5 font-medium ${isNumber ? 'text-right' : ''}`}
      title={title}
      aria-sort={isSorted ? (order.isRising ? 'ascending' : 'descending') : 'none'}
    >
      <button
        type="button"
        className="whitespace-nowrap rounded px-1 py-0.5 hover:bg-tint hover:text-ink"
        onClick={() => onOrder({ column, isRising: isSorted ? !order.isRising : !isNumber })}
      >
        {children}{' '}
        <span aria-hidden className={isSorted ? '' : 'invisible'}>
          <Icon of={isSorted && order.isRising ? ChevronUp : ChevronDown} size="small" />
        </span>
      </button>
    </th>
  )
}

/** Finds the group with the same values. */
export const sameGroup = (groups: readonly Group[], { values }: Group): Group | undefined =>
  groups.find((one) => one.values.every((value, at) => value === values[at]))

type RowProps = GroupViewProps & { group: Group; data: Groups; maxValue: number; before: number }

function GroupRowView({ group, data, maxValue, before, by, measure, earlier, actions, onOpen }: RowProps) {
  return (
    <tr className="border-line border-t hover:bg-tint">
      {by.map((name, at) => (
        <td key={name} className="max-w-80 px-2 py-0.5 font-mono max-sm:max-w-32">
          <GroupValue name={name} value={group.values[at] ?? ''} actions={actions} />
        </td>
      ))}
      {by.length === 0 && <td className="px-3 py-1">total</td>}
      {measure !== 'count(*)' && <td className="px-2 py-0.5 text-right tabular-nums">{unitOfMeasure(measure)(group.value)}</td>}
      {data.others.map((other) => (
        <td key={other.measure} className="px-2 py-0.5 text-right tabular-nums">
          {unitOfMeasure(other.measure)(sameGroup(other.groups, group)?.value ?? null)}
        </td>
      ))}
      <td className="px-2 py-0.5 text-right tabular-nums">{count(group.count)}</td>
      <td className="whitespace-nowrap px-2 py-0.5 text-right text-soft tabular-nums max-sm:hidden">{share(group.count, data.total)}</td>
      {earlier && (
        <td
          className="whitespace-nowrap px-2 py-0.5 text-right text-soft tabular-nums"
          title={`${unitOfMeasure(measure)(before)} ${earlier.name}`}
        >
          {change(group.value ?? 0, before)}
        </td>
      )}
      <td className="px-2 py-0.5 max-md:hidden">
        <TrendBars
          values={group.slices.map((value) => value ?? 0)}
          maxValue={Math.max(1e-9, ...group.slices.map((value) => value ?? 0))}
          width={maxValue > 0 ? (group.value ?? 0) / maxValue : 0}
        />
      </td>
      <td className="px-2 py-0.5 text-right">
        <Button size="small" variant="quiet" onClick={() => onOpen(group.values)}>
          Show events
        </Button>
      </td>
    </tr>
  )
}

export function GroupValue({ name, value, actions }: { name: string; value: string; actions: ValueActions }) {
  if (value === ABSENT) return <span className="px-1 text-soft">{valueName(value)}</span>
  return (
    <ValueMenu name={name} value={value} actions={actions} className="max-w-full truncate px-1">
      {value === '' ? <span className="text-soft">{valueName(value)}</span> : <GroupText keys={[name]} name={value} />}
    </ValueMenu>
  )
}

/** The values of a group over time, with a line for its share of the largest group. */
function TrendBars({ values, maxValue, width }: { values: readonly number[]; maxValue: number; width: number }) {
  return (
    <span className="relative block" aria-hidden>
      <svg role="presentation" viewBox={`0 0 ${values.length} 16`} preserveAspectRatio="none" className="h-4 w-36">
        {values.map((value, at) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its position
            key={at}
            className="fill-bar-info"
            x={at + 0.1}
            width={0.8}
            y={16 - (value / maxValue) * 16}
            height={Math.max(0, (value / maxValue) * 16)}
          />
        ))}
      </svg>
      <span className="block h-0.5 bg-accent" style={{ width: `${100 * Math.max(0, Math.min(1, width))}%` }} />
    </span>
  )
}

/** Replaces the groups while there are none. */
export function groupPlaceholder({ groups, emptyView, failure, onRetry }: GroupViewProps) {
  if (failure && !groups) return <FailureNote thrown={failure} again={onRetry} what="Groups" />
  if (!groups) return <Skeleton className="px-3" />
  return groups.groups.length === 0 || groups.total === 0 ? emptyView : null
}
