import type { Trace } from '@dendro/api'
import { durationText } from '@dendro/language/nanoseconds'
import { useMemo } from 'react'
import { count, share } from '../../parts/chart/numbers.ts'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { type SpanGroup, spanGroups } from './span-groups.ts'
import { cell, nameCell, narrowCell, StatHead, statRow } from './stat-cells.tsx'

const SHOWN = 200
const columns = ['Service', 'Operation', 'Spans', 'Failed', 'Own time', 'Critical path', 'Longest'] as const

type SpanTableProps = { trace: Trace; colors: ReadonlyMap<string, string>; onFind(text: string): void }

/** Where the time of a trace went: its spans by service and name. */
export function SpanTable({ trace: { spans, duration_nano }, colors, onFind }: SpanTableProps) {
  const groups = useMemo(() => spanGroups(spans), [spans])
  return (
    <section aria-label="Spans by operation" className="min-w-0 flex-1 rounded-md border border-line bg-panel">
      <table aria-label="Spans" className="w-full max-sm:block">
        <StatHead columns={columns} />
        <tbody className="max-sm:block">
          {groups.slice(0, SHOWN).map((group) => (
            <tr key={JSON.stringify([group.service, group.name])} className={statRow}>
              <td className={`${cell} ${nameCell}`}>
                <span aria-hidden className="mr-1.5 inline-block size-2.5 rounded-sm" style={{ background: colors.get(group.service) }} />
                {group.service === '' ? 'no service' : group.service}
              </td>
              <td className={`${cell} ${nameCell} w-2/5 max-sm:w-auto`}>
                <button type="button" className="text-left text-accent hover:underline" onClick={() => onFind(group.name)}>
                  {group.name === '' ? 'no name' : group.name}
                </button>
              </td>
              {valuesOf(group, duration_nano).map(([name, text]) => (
                <td
                  key={name}
                  data-column={name}
                  className={`${cell} ${narrowCell} whitespace-nowrap text-right tabular-nums max-sm:text-left ${
                    name === 'Failed' && group.errors > 0 ? 'text-error' : ''
                  } ${name === 'Critical path' ? 'max-sm:order-last max-sm:col-span-2' : ''}`}
                >
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {groups.length > SHOWN && (
        <TruncationNote>
          {SHOWN} of {count(groups.length)} operations, those with the longest time of their own.
        </TruncationNote>
      )}
    </section>
  )
}

const valuesOf = ({ spans, errors, selfNano, criticalNano, longestNano }: SpanGroup, wholeNano: number): readonly [string, string][] => [
  ['Spans', count(spans)],
  ['Failed', count(errors)],
  ['Own time', durationText(selfNano)],
  ['Critical path', criticalNano === 0 ? '' : `${durationText(criticalNano)} (${share(criticalNano, wholeNano)})`],
  ['Longest', durationText(longestNano)],
]
