import type { Trace } from '@dendro/api'
import { durationText } from '@dendro/language/nanoseconds'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { nameColors } from '../../parts/chart/colors.ts'
import { quantity } from '../../parts/chart/numbers.ts'
import { EmptyState } from '../../parts/shell/page.tsx'
import type { TraceParams } from './params.ts'
import { LogRow, SpanDetail } from './span-detail.tsx'
import { type SpanMarks, SpanRow } from './span-row.tsx'
import { matches, shownRows } from './waterfall.ts'

const ROW_PX = 24
const OVERSCAN = 20

type TraceViewProps = { trace: Trace; selected: string | undefined; find: string; onChange(by: Partial<TraceParams>): void }

/** The waterfall of a trace with a search and the details of the selected span. */
export function TraceView({ trace, selected, find, onChange }: TraceViewProps) {
  const { spans, logs } = trace
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set())
  const rows = useMemo(() => shownRows(spans, collapsed), [spans, collapsed])
  const colors = useMemo(() => colorsOfServices(trace), [trace])
  const bars = useMemo(() => barsOf(trace), [trace])
  const found = useMemo(() => new Set(find === '' ? [] : spans.flatMap((span, at) => (matches(span, find) ? [at] : []))), [spans, find])
  const current = spans.findIndex(({ span_id }) => span_id === selected)
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  })
  const row = rows.indexOf(current)
  useEffect(() => {
    if (row >= 0) virtualizer.scrollToIndex(row, { align: 'auto' })
  }, [row, virtualizer])
  const select = (at: number | undefined) => onChange({ span: at === undefined ? undefined : spans[at]?.span_id })
  const toggle = (at: number) => setCollapsed((now) => (now.has(at) ? without(now, at) : new Set([...now, at])))
  const onKey = (pressed: KeyboardEvent) => {
    const span = spans[current]
    if (pressed.key === 'ArrowDown') select(rows[Math.min(rows.length - 1, row + 1)])
    else if (pressed.key === 'ArrowUp') select(rows[Math.max(0, row - 1)])
    else if (pressed.key === 'ArrowLeft' && span && span.descendants > 0 && !collapsed.has(current)) toggle(current)
    else if (pressed.key === 'ArrowRight' && collapsed.has(current)) toggle(current)
    else if (pressed.key === 'Escape') select(undefined)
    else return
    pressed.preventDefault()
  }
  const own = logs.filter(({ span_id }) => span_id === selected)
  if (spans.length === 0) {
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
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <input
          aria-label="Find spans"
          placeholder="Find spans"
          value={find}
          onChange={({ target }) => onChange({ find: target.value === '' ? undefined : target.value })}
          className="w-60 rounded border border-line bg-panel px-2 py-1 text-sm"
        />
        {find !== '' && <span className="text-soft text-sm">{quantity(found.size, 'span')} found</span>}
        <ul aria-label="Services" className="flex flex-wrap gap-x-3 text-sm">
          {trace.services.map(({ service, self_nano }) => (
            <li key={service} className="flex items-center gap-1">
              <span aria-hidden className="size-2.5 rounded-sm" style={{ background: colors.get(service) }} />
              {service} <span className="text-soft">{durationText(self_nano)}</span>
            </li>
          ))}
        </ul>
      </div>
      <div className="flex min-h-0 gap-3 max-lg:flex-col">
        <div
          ref={scroller}
          role="tree"
          aria-label="Spans"
          tabIndex={0}
          onKeyDown={onKey}
          className="max-h-[70vh] min-w-0 flex-1 overflow-auto rounded-md border border-line bg-panel"
        >
          <div className="relative w-full" style={{ height: virtualizer.getTotalSize() }}>
            {virtualizer.getVirtualItems().map(({ index, start }) => {
              const at = rows[index] ?? 0
              const span = spans[at]
              if (!span) return null
              return (
                <SpanRow
                  key={at}
                  span={span}
                  bar={bars[at] ?? { logs: [], critical: [] }}
                  whole={trace.duration_nano}
                  top={start}
                  color={colors.get(span.service) ?? 'var(--color-soft)'}
                  isCurrent={at === current}
                  isFaint={find !== '' && !found.has(at)}
                  isCollapsed={collapsed.has(at)}
                  onSelect={() => select(at)}
                  onToggle={() => toggle(at)}
                />
              )
            })}
          </div>
        </div>
        {spans[current] && <SpanDetail trace={trace} span={spans[current]} logs={own} onClose={() => select(undefined)} />}
      </div>
    </>
  )
}

const without = (set: ReadonlySet<number>, one: number): ReadonlySet<number> => new Set([...set].filter((other) => other !== one))

function colorsOfServices({ services }: Trace): ReadonlyMap<string, string> {
  const names = services.map(({ service }) => service)
  const colors = nameColors(names)
  return new Map(names.map((name, at) => [name, colors[at] ?? '']))
}

/** The critical stretches and the log events of each span. */
function barsOf({ spans, logs, critical_path }: Trace): SpanMarks[] {
  const bars = spans.map((): SpanMarks => ({ logs: [], critical: [] }))
  const places = new Map(spans.map(({ span_id }, at) => [span_id, at]))
  for (const step of critical_path) bars[step.span]?.critical.push(step)
  for (const log of logs) if (log.span_id !== undefined) bars[places.get(log.span_id) ?? -1]?.logs.push(log)
  return bars
}
