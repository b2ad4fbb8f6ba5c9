import { durationText } from '@dendro/language/nanoseconds'
import { Link } from '@tanstack/react-router'
import { count, share } from '../../parts/chart/numbers.ts'
import { linkRange, type TraceParams } from './params.ts'
import type { Calls } from './service-graph.ts'
import { cell, narrowCell, rateText, StatHead } from './stat-cells.tsx'

const columns = ['From', 'To', 'Calls', 'Per second', 'Failed', 'p50', 'p95', 'Longest'] as const
const kinds = { service: '', database: 'database', queue: 'queue', peer: 'peer without spans' } as const

/** The calls between services as a table. */
export function CallRows({ calls, params }: { calls: readonly Calls[]; params: TraceParams }) {
  return (
    <section aria-label="Calls table" className="rounded-md border border-line bg-panel">
      <table aria-label="Calls" className="w-full max-sm:block">
        <StatHead columns={columns} />
        <tbody className="max-sm:block">
          {calls.map((one) => (
            <CallRow key={JSON.stringify([one.from, one.to, one.kind])} one={one} params={params} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function CallRow({ one, params }: { one: Calls; params: TraceParams }) {
  const { from, to, kind, calls, per_second, errors, p50_nano, p95_nano, max_nano } = one
  const range = linkRange(params)
  const called = { ...range, any: true, service: kind === 'service' ? to : from }
  const numbers: readonly [string, string][] = [
    ['Calls', count(calls)],
    ['Per second', rateText(per_second)],
  ]
  const durations: readonly [string, number][] = [
    ['p50', p50_nano],
    ['p95', p95_nano],
    ['Longest', max_nano],
  ]
  return (
    <tr className="border-line border-t align-baseline hover:bg-tint max-sm:block max-sm:py-1.5">
      <td data-column="From" className={`${cell} ${narrowCell} wrap-anywhere`}>
        <Link to="/traces" search={{ ...range, map: true, service: from }} className="text-accent hover:underline">
          {from === '' ? 'no service' : from}
        </Link>
      </td>
      <td data-column="To" className={`${cell} ${narrowCell} wrap-anywhere`}>
        {kind === 'service' ? (
          <Link to="/traces" search={{ ...range, map: true, service: to }} className="text-accent hover:underline">
            {to === '' ? 'no service' : to}
          </Link>
        ) : (
          <span>
            {to} <span className="text-soft">{kinds[kind]}</span>
          </span>
        )}
      </td>
      {numbers.map(([name, text]) => (
        <td key={name} data-column={name} className={`${cell} ${narrowCell} text-right tabular-nums max-sm:text-left`}>
          {text}
        </td>
      ))}
      <td data-column="Failed" className={`${cell} ${narrowCell} text-right tabular-nums max-sm:text-left`}>
        {errors === 0 ? (
          '0'
        ) : (
          <Link to="/traces" search={{ ...called, status: 'error' }} className="whitespace-nowrap text-error hover:underline">
            {count(errors)} ({share(errors, calls)})
          </Link>
        )}
      </td>
      {durations.map(([name, nanos]) => (
        <td key={name} data-column={name} className={`${cell} ${narrowCell} whitespace-nowrap text-right tabular-nums max-sm:text-left`}>
          {name === 'Longest' ? (
            <Link to="/traces" search={{ ...called, order: 'slowest' }} className="text-accent hover:underline">
              {durationText(nanos)}
            </Link>
          ) : (
            durationText(nanos)
          )}
        </td>
      ))}
    </tr>
  )
}
