import type { TraceSummary } from '@dendro/api'
import { durationText } from '@dendro/language/nanoseconds'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { nameColors } from '../../parts/chart/colors.ts'
import { count, quantity } from '../../parts/chart/numbers.ts'
import { clockOf, type Zone } from '../../parts/time/time-range.ts'
import type { TraceParams } from './params.ts'

type TraceRowsProps = { traces: readonly TraceSummary[]; params: TraceParams; zone: Zone }

const SERVICES_SHOWN = 4
const columns = ['Started', 'Request', 'Duration', 'Spans', 'Services'] as const

/** The table of traces, which lead to their waterfall. On a phone each is a block. */
export function TraceRows({ traces, params, zone }: TraceRowsProps) {
  const longest = traces.reduce((most, { duration_nano }) => Math.max(most, duration_nano), 1)
  const colors = useMemo(() => colorsOfServices(traces), [traces])
  return (
    <section aria-label="Traces table" className="rounded-md border border-line bg-panel">
      <table aria-label="Traces" className="w-full max-sm:block">
        <thead className="text-left text-soft text-xs max-sm:sr-only">
          <tr>
            {columns.map((name) => (
              <th key={name} className="whitespace-nowrap px-3 py-2 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="max-sm:block">
          {traces.map((trace) => (
            <TraceRow key={trace.trace_id} trace={trace} params={params} zone={zone} longest={longest} colors={colors} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

type TraceRowProps = {
  trace: TraceSummary
  params: TraceParams
  zone: Zone
  longest: number
  colors: ReadonlyMap<string, string>
}

const cell = 'px-3 py-1.5 max-sm:block max-sm:py-0.5'

function TraceRow({ trace, params, zone, longest, colors }: TraceRowProps) {
  const { trace_id, start_time, duration_nano, spans, errors, services, services_total, root, found, weight } = trace
  const { service, name } = root ?? found
  const { day, clock } = clockOf(start_time, zone)
  const others = services_total - Math.min(SERVICES_SHOWN, services.length)
  return (
    <tr className="relative border-line border-t align-baseline hover:bg-tint has-focus-visible:bg-tint max-sm:block max-sm:py-1.5 max-sm:first:border-t-0">
      <td className={`${cell} whitespace-nowrap text-soft text-xs tabular-nums`}>
        {day} {clock}
      </td>
      <td className={`${cell} w-2/5 max-sm:w-auto`}>
        <Link
          to="/traces"
          search={{ ...params, id: trace_id, at: start_time }}
          // The link covers its row.
          className="wrap-anywhere after:absolute after:inset-0"
        >
          <span className="text-soft">{service}</span> {name}
        </Link>
        {!root && <span className="ml-2 text-warn text-xs">root missing</span>}
        {root && root.status === 'error' && <span className="ml-2 text-error text-xs">failed</span>}
        {weight !== undefined && (
          <span className="ml-2 text-soft text-xs" title="An ingest rule stores a share of such traces">
            stands for {count(Number(weight.toPrecision(3)))}
          </span>
        )}
      </td>
      <td className={`${cell} w-1/5 max-sm:w-auto`}>
        <span className="flex items-center gap-2">
          <span className="w-16 shrink-0 text-right tabular-nums max-sm:w-auto">{durationText(duration_nano)}</span>
          <span aria-hidden className="h-2 min-w-0 flex-1">
            <span
              className={`block h-full min-w-px rounded-sm ${errors > 0 ? 'bg-bar-error' : 'bg-bar-info'}`}
              style={{ width: `${(100 * duration_nano) / longest}%` }}
            />
          </span>
        </span>
      </td>
      <td className={`${cell} whitespace-nowrap tabular-nums`}>
        {count(spans)}
        <span className="sm:hidden"> {spans === 1 ? 'span' : 'spans'}</span>
        {errors > 0 && <span className="ml-2 text-error text-xs">{count(errors)} failed</span>}
      </td>
      <td className={`${cell} w-1/4 max-sm:w-auto`}>
        <ul className="flex min-w-0 max-w-md flex-wrap gap-x-3 text-xs" aria-label="Services">
          {services.slice(0, SERVICES_SHOWN).map((one) => (
            <li key={one.service} className="flex min-w-0 items-center gap-1" title={one.service}>
              <span aria-hidden className="size-2 shrink-0 rounded-sm" style={{ background: colors.get(one.service) }} />
              <span className="truncate">{one.service}</span>
            </li>
          ))}
          {others > 0 && <li className="text-soft">and {quantity(others, 'other')}</li>}
        </ul>
      </td>
    </tr>
  )
}

function colorsOfServices(traces: readonly TraceSummary[]): ReadonlyMap<string, string> {
  const names = [...new Set(traces.flatMap(({ services }) => services.map(({ service }) => service)))].sort()
  const colors = nameColors(names)
  return new Map(names.map((name, at) => [name, colors[at] ?? '']))
}
