import { useState } from 'react'
import { FailureNote } from '../../parts/failure.tsx'
import { compact, count, share, span } from '../../parts/numbers.ts'
import { clockOf, type Zone } from '../../parts/time-range.ts'
import type { Group, Groups } from './groups.ts'
import { type ValueActions, ValueMenu } from './value-menu.tsx'

type GroupViewProps = {
  groups: Groups | undefined
  by: readonly string[]
  measure: string
  isOld: boolean
  failure: unknown
  zone: Zone
  actions: ValueActions
  again(): unknown
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })

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
                <Bars values={group.slices} top={Math.max(1e-9, ...group.slices)} width={top > 0 ? group.value / top : 0} />
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

function GroupValue({ name, value, actions }: { name: string; value: string; actions: ValueActions }) {
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

function nothingOf({ groups, failure, again }: GroupViewProps) {
  if (failure && !groups) return <FailureNote thrown={failure} again={again} />
  if (!groups) return <p className="p-3 text-soft">Measuring …</p>
  if (groups.groups.length === 0 || groups.total === 0)
    return <p className="p-6 text-center text-soft">No event matches, so there is nothing to measure.</p>
  return null
}

const LINES_MAX = 10
const HEIGHT = 260
const WIDTH = 1_000
/** Ten lines that differ in colour and in their dashes. */
const dashes = ['', '6 3', '2 2', '10 3 2 3', '1 3', '', '6 3', '2 2', '10 3 2 3', '1 3']
const hues = [175, 28, 262, 340, 95, 210, 5, 300, 50, 130]
const colourOf = (at: number): string => `light-dark(hsl(${hues[at] ?? 0} 60% 34%), hsl(${hues[at] ?? 0} 60% 66%))`

/** GroupChart draws the largest groups over time; its legend leads on as values do everywhere. */
export function GroupChart(props: GroupViewProps) {
  const { groups: data, by, measure, isOld, zone, actions } = props
  const [over, setOver] = useState<number>()
  const nothing = nothingOf(props)
  if (nothing || !data) return nothing
  const lines = data.groups.slice(0, LINES_MAX)
  const top = niceTop(Math.max(1e-9, ...lines.flatMap(({ slices }) => slices)))
  const at = (over ?? data.slices - 1) * data.stepMs + data.fromMs
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section aria-label="Chart" tabIndex={0} className={`min-h-0 flex-1 overflow-auto p-3 ${isOld ? 'opacity-50' : ''}`}>
      <p className="mb-1 flex justify-between text-soft text-xs tabular-nums">
        <span className="font-mono">
          {measure} in steps of {span(data.stepMs)}, up to {compact(top)}
        </span>
        <span>
          {clockOf(at, zone).day} {clockOf(at, zone).clock.slice(0, 8)}
        </span>
      </p>
      <svg
        role="img"
        aria-label={`${measure} of ${lines.length} ${lines.length === 1 ? 'series' : 'series'} over time`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-65 w-full border-line border-b border-l"
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect()
          setOver(Math.min(data.slices - 1, Math.max(0, Math.round(((event.clientX - box.left) / box.width) * (data.slices - 1)))))
        }}
        onPointerLeave={() => setOver(undefined)}
      >
        {[0.25, 0.5, 0.75].map((part) => (
          <line
            key={part}
            className="stroke-line"
            vectorEffect="non-scaling-stroke"
            x1={0}
            x2={WIDTH}
            y1={HEIGHT * part}
            y2={HEIGHT * part}
          />
        ))}
        {lines.map((line, index) => (
          <polyline
            key={JSON.stringify(line.values)}
            fill="none"
            stroke={colourOf(index)}
            strokeWidth={1.75}
            strokeDasharray={dashes[index]}
            vectorEffect="non-scaling-stroke"
            points={pointsOf(line, top)}
          />
        ))}
        {over !== undefined && (
          <line
            className="stroke-soft"
            vectorEffect="non-scaling-stroke"
            x1={(over / Math.max(1, data.slices - 1)) * WIDTH}
            x2={(over / Math.max(1, data.slices - 1)) * WIDTH}
            y1={0}
            y2={HEIGHT}
          />
        )}
      </svg>
      <ul aria-label="Legend" className="mt-2 grid gap-x-4 text-xs sm:grid-cols-2 xl:grid-cols-3">
        {lines.map((line, index) => (
          <li key={JSON.stringify(line.values)} className="flex min-w-0 items-center gap-2 py-0.5">
            <svg aria-hidden viewBox="0 0 24 8" className="h-2 w-6 shrink-0">
              <line x1={0} x2={24} y1={4} y2={4} stroke={colourOf(index)} strokeWidth={2} strokeDasharray={dashes[index]} />
            </svg>
            <span className="flex min-w-0 flex-1 gap-1 truncate font-mono">
              {by.length === 0
                ? 'all events'
                : by.map((name, place) => <GroupValue key={name} name={name} value={line.values[place] ?? ''} actions={actions} />)}
            </span>
            <span className="tabular-nums">{number.format(over === undefined ? line.value : (line.slices[over] ?? 0))}</span>
          </li>
        ))}
      </ul>
      {data.groups.length > LINES_MAX && (
        <p className="mt-1 text-soft text-xs">
          The {LINES_MAX} largest of {count(data.groups.length + data.more)} groups; the table shows more.
        </p>
      )}
    </section>
  )
}

const pointsOf = ({ slices }: Group, top: number): string =>
  slices
    .map(
      (value, at) => `${((at / Math.max(1, slices.length - 1)) * WIDTH).toFixed(1)},${(HEIGHT - (value / top) * (HEIGHT - 6)).toFixed(1)}`,
    )
    .join(' ')

/** niceTop is the next round number above, so that the scale stands still while values move. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power
}
