import type { PatternRow } from '@dendro/api'
import { FailureNote } from '../../parts/failure.tsx'
import { count, share } from '../../parts/numbers.ts'
import { Button } from '../../ui/button.tsx'
import { plainLine } from './line-text.ts'

type PatternListProps = {
  patterns: readonly PatternRow[] | undefined
  isOld: boolean
  failure: unknown
  nameOf(id: string): string
  onInclude(id: string): void
  onExclude(id: string): void
  again(): unknown
}

/** PatternList shows the matching events by what they say, exactly counted, the most frequent first. */
export function PatternList({ patterns, isOld, failure, nameOf, onInclude, onExclude, again }: PatternListProps) {
  if (failure && !patterns) return <FailureNote thrown={failure} again={again} />
  if (!patterns) return <p className="p-3 text-soft">Counting patterns …</p>
  if (patterns.length === 0) return <p className="p-6 text-center text-soft">No event matches, so there is no pattern either.</p>
  const all = patterns.reduce((sum, one) => sum + Number(one.count ?? 0), 0)
  return (
    <div className={`h-full overflow-auto ${isOld ? 'opacity-50' : ''}`}>
      <table className="w-full text-xs">
        <thead className="sticky top-0 bg-panel text-left text-soft">
          <tr>
            <th className="px-3 py-1 text-right font-medium">Events</th>
            <th className="px-2 py-1 text-right font-medium">Share</th>
            <th className="px-2 py-1 font-medium">Pattern</th>
            <th className="px-2 py-1 font-medium max-md:hidden">Dataset</th>
            <th className="px-2 py-1">
              <span className="sr-only">Narrow</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {patterns.map((one) => (
            <tr key={`${one.log_id} ${one.id}`} className="border-line border-t align-top hover:bg-tint">
              <td className="px-3 py-1 text-right tabular-nums">{count(one.count ?? 0)}</td>
              <td className="px-2 py-1 text-right text-soft tabular-nums">{share(Number(one.count ?? 0), all)}</td>
              <td className="break-all px-2 py-1 font-mono">
                <Template text={one.template} />
              </td>
              <td className="px-2 py-1 text-soft max-md:hidden">{nameOf(one.log_id)}</td>
              <td className="whitespace-nowrap px-2 py-0.5">
                <Button size="small" look="quiet" onClick={() => onInclude(one.id)}>
                  Only these
                </Button>
                <Button size="small" look="quiet" onClick={() => onExclude(one.id)}>
                  Hide
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const HOLE = '<*>'

function Template({ text }: { text: string }) {
  return plainLine(text)
    .slice(0, 1_000)
    .split(HOLE)
    .map((part, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one template never change places
      <span key={at}>
        {at > 0 && <span className="rounded bg-tint px-0.5 text-accent">{HOLE}</span>}
        {part}
      </span>
    ))
}
