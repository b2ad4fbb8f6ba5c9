import type { Trace } from '@dendro/api'
import { durationText } from '@dendro/language/nanoseconds'
import { useMemo, useState } from 'react'
import { nameColors } from '../../parts/chart/colors.ts'
import { quantity } from '../../parts/chart/numbers.ts'
import { EmptyState } from '../../parts/shell/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Choices } from '../../ui/choices.tsx'
import { FlameView } from './flame-view.tsx'
import { drawings, type TraceDrawing, type TraceParams } from './params.ts'
import type { ShownPart } from './shown-part.ts'
import { LogRow, SpanDetail } from './span-detail.tsx'
import { SpanTable } from './span-table.tsx'
import { matches, spanKeys } from './waterfall.ts'
import { WaterfallView } from './waterfall-view.tsx'

type TraceViewProps = { trace: Trace; params: TraceParams; onChange(by: Partial<TraceParams>): void }

const names: Record<TraceDrawing, string> = { tree: 'Tree', flame: 'Flame', table: 'Table' }

/** The spans of a trace as a tree, a flame view or a table, with a search and the details of the selected span. */
export function TraceView({ trace, params, onChange }: TraceViewProps) {
  const { spans, logs } = trace
  const { span: selected, find = '', as = 'tree' } = params
  const [shown, setShown] = useState<ShownPart>()
  const colors = useMemo(() => colorsOfServices(trace), [trace])
  const keys = useMemo(() => spanKeys(spans), [spans])
  const found = useMemo(
    () => (find === '' ? undefined : new Set(spans.flatMap((span, at) => (matches(span, find) ? [at] : [])))),
    [spans, find],
  )
  if (spans.length === 0) return <LogsAlone logs={logs} />
  const current = selected === undefined ? -1 : keys.indexOf(selected)
  const select = (at: number | undefined) => onChange({ span: at === undefined ? undefined : keys[at] })
  const drawn = { trace, part: shown ?? { from: 0, to: trace.duration_nano }, colors, found, current, onSelect: select, onShow: setShown }
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <Choices
          label="Drawing"
          options={drawings.map((one) => [one, names[one]] as const)}
          value={as}
          onPick={(one) => onChange({ as: one === 'tree' ? undefined : one })}
        />
        <input
          aria-label="Find spans"
          placeholder="Find spans"
          value={find}
          onChange={({ target }) => onChange({ find: target.value === '' ? undefined : target.value })}
          className="w-60 rounded border border-line bg-panel px-2 py-1 text-sm"
        />
        {shown && <Button onClick={() => setShown(undefined)}>Whole trace</Button>}
        {found && <span className="text-soft text-sm">{quantity(found.size, 'span')} found</span>}
        <ul aria-label="Services" className="flex flex-wrap gap-x-3 text-sm">
          {trace.services.map(({ service, self_nano }) => (
            <li key={service} className="flex items-center gap-1">
              <span aria-hidden className="size-2.5 shrink-0 rounded-sm" style={{ background: colors.get(service) }} />
              <span className="wrap-anywhere">{service}</span> <span className="shrink-0 text-soft">{durationText(self_nano)}</span>
            </li>
          ))}
        </ul>
      </div>
      <div className="flex min-h-0 gap-3 max-lg:flex-col">
        {as === 'tree' && <WaterfallView {...drawn} />}
        {as === 'flame' && <FlameView {...drawn} />}
        {as === 'table' && <SpanTable trace={trace} colors={colors} onFind={(text) => onChange({ as: undefined, find: text })} />}
        {spans[current] && (
          <SpanDetail
            trace={trace}
            span={spans[current]}
            logs={logs.filter(({ span_id }) => span_id === spans[current]?.span_id)}
            onClose={() => select(undefined)}
          />
        )}
      </div>
    </>
  )
}

function LogsAlone({ logs }: Pick<Trace, 'logs'>) {
  return (
    <>
      <EmptyState title="No spans">
        <p className="text-soft">These log events name the trace; its spans were not sent, or are no longer kept.</p>
      </EmptyState>
      <ul>
        {logs.map((log) => (
          <LogRow key={`${log.event.metadata.service_id} ${log.event.metadata.sequence}`} log={log} />
        ))}
      </ul>
    </>
  )
}

function colorsOfServices({ services }: Trace): ReadonlyMap<string, string> {
  const names = services.map(({ service }) => service)
  const colors = nameColors(names)
  return new Map(names.map((name, at) => [name, colors[at] ?? '']))
}
