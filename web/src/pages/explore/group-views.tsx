import { FailureNote } from '../../parts/failure.tsx'
import { count, share } from '../../parts/numbers.ts'
import type { Zone } from '../../parts/time-range.ts'
import type { Groups } from './groups.ts'
import { type ValueActions, ValueMenu } from './value-menu.tsx'

export type GroupViewProps = {
  groups: Groups | undefined
  by: readonly string[]
  measure: string
  isOld: boolean
  failure: unknown
  zone: Zone
  actions: ValueActions
  again(): unknown
}

export const number = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })

/** GroupTable shows a row for each group, the largest first; its values lead on as values do everywhere. */
export function GroupTable(props: GroupViewProps) {
  const { groups: data, by, measure, isOld } = props
  const nothing = nothingOf(props)
  if (nothing || !data) return nothing
  const top = Math.max(...data.groups.map(({ value }) => value), 0)
  const isCount = measure === 'count(*)'
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section aria-label="Table" tabIndex={0} className={`min-h-0 flex-1 overflow-auto ${isOld ? 'opacity-50' : ''}`}>
      <table className="w-full text-xs">
        <thead className="sticky top-0 bg-panel text-left text-soft">
          <tr>
            {by.map((name) => (
              <th key={name} className="px-3 py-1 font-medium font-mono">
                {name}
              </th>
            ))}
            {by.length === 0 && <th className="px-3 py-1 font-medium">All events</th>}
            {!isCount && <th className="px-2 py-1 text-right font-medium font-mono">{measure}</th>}
            <th className="px-2 py-1 text-right font-medium">Events</th>
            <th className="px-2 py-1 text-right font-medium">Share</th>
            <th className="w-40 px-2 py-1 font-medium max-md:hidden">Course</th>
          </tr>
        </thead>
        <tbody>
          {data.groups.map((group) => (
            <tr key={JSON.stringify(group.values)} className="border-line border-t hover:bg-tint">
              {by.map((name, at) => (
                <td key={name} className="max-w-80 px-2 py-0.5 font-mono">
                  <GroupValue name={name} value={group.values[at] ?? ''} actions={props.actions} />
                </td>
              ))}
              {by.length === 0 && <td className="px-3 py-1">together</td>}
              {!isCount && <td className="px-2 py-0.5 text-right tabular-nums">{number.format(group.value)}</td>}
              <td className="px-2 py-0.5 text-right tabular-nums">{count(group.count)}</td>
              <td className="px-2 py-0.5 text-right text-soft tabular-nums">{share(group.count, data.total)}</td>
              <td className="px-2 py-0.5 max-md:hidden">
                <Bars
                  values={group.slices.map((value) => value ?? 0)}
                  top={Math.max(1e-9, ...group.slices.map((value) => value ?? 0))}
                  width={top > 0 ? group.value / top : 0}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="p-2 text-center text-soft text-xs">
        {data.more > 0 ? `${count(data.more)} more groups are not shown` : `${count(data.groups.length)} groups, that is all`}
      </p>
    </section>
  )
}

/** ABSENT is what the service calls the group of events without the key. */
const ABSENT = 'null'

export function GroupValue({ name, value, actions }: { name: string; value: string; actions: ValueActions }) {
  if (value === ABSENT) return <span className="px-1 text-soft">(absent)</span>
  return (
    <ValueMenu name={name} value={value} actions={actions} className="max-w-full truncate px-1">
      {value === '' ? <span className="text-soft">(empty)</span> : value}
    </ValueMenu>
  )
}

/** Bars are the course of a group, and a line as long as its share of the largest. */
function Bars({ values, top, width }: { values: readonly number[]; top: number; width: number }) {
  return (
    <span className="relative block" aria-hidden>
      <svg role="presentation" viewBox={`0 0 ${values.length} 16`} preserveAspectRatio="none" className="h-4 w-36">
        {values.map((value, at) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is known by its place
            key={at}
            className="fill-bar-info"
            x={at + 0.1}
            width={0.8}
            y={16 - (value / top) * 16}
            height={Math.max(0, (value / top) * 16)}
          />
        ))}
      </svg>
      <span className="block h-0.5 bg-accent" style={{ width: `${100 * Math.max(0, Math.min(1, width))}%` }} />
    </span>
  )
}

/** nothingOf is what stands in place of groups while there are none. */
export function nothingOf({ groups, failure, again }: GroupViewProps) {
  if (failure && !groups) return <FailureNote thrown={failure} again={again} />
  if (!groups) return <p className="p-3 text-soft">Measuring …</p>
  if (groups.groups.length === 0 || groups.total === 0)
    return <p className="p-6 text-center text-soft">No event matches, so there is nothing to measure.</p>
  return null
}
