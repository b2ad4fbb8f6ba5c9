import type { Trace } from '@dendro/api'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { drawingKeys } from './drawing-keys.ts'
import type { DrawingProps } from './drawing-props.ts'
import { type SpanMarks, SpanRow } from './span-row.tsx'
import { TimeAxis } from './time-axis.tsx'
import { shownRows } from './waterfall.ts'

const ROW_PX = 24
const OVERSCAN = 20

/** The spans of a trace as a tree with their bars. */
export function WaterfallView({ trace, part, colors, found, current, onSelect, onShow }: DrawingProps) {
  const { spans } = trace
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set())
  const rows = useMemo(() => shownRows(spans, collapsed), [spans, collapsed])
  const bars = useMemo(() => barsOf(trace), [trace])
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
  const toggle = (at: number) => setCollapsed((now) => (now.has(at) ? without(now, at) : new Set([...now, at])))
  const onOwnKey = (key: string): boolean => {
    if (key === 'ArrowDown') onSelect(rows[Math.min(rows.length - 1, row + 1)])
    else if (key === 'ArrowUp') onSelect(rows[Math.max(0, row - 1)])
    else if (key === 'ArrowLeft' && (spans[current]?.descendants ?? 0) > 0 && !collapsed.has(current)) toggle(current)
    else if (key === 'ArrowRight' && collapsed.has(current)) toggle(current)
    else return false
    return true
  }
  const onKey = drawingKeys({ trace, current, onSelect, onShow, onOwnKey })
  return (
    <div className="min-w-0 flex-1 rounded-md border border-line bg-panel">
      <TimeAxis part={part} indent="40%" end="4rem" onShow={onShow} />
      <div ref={scroller} role="tree" aria-label="Spans" tabIndex={0} onKeyDown={onKey} className="max-h-[70vh] overflow-auto">
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
                part={part}
                top={start}
                color={colors.get(span.service) ?? 'var(--color-soft)'}
                isCurrent={at === current}
                isFaint={found !== undefined && !found.has(at)}
                isCollapsed={collapsed.has(at)}
                onSelect={() => onSelect(at)}
                onToggle={() => toggle(at)}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

const without = (set: ReadonlySet<number>, one: number): ReadonlySet<number> => new Set([...set].filter((other) => other !== one))

/** The critical stretches and the log events of each span. */
function barsOf({ spans, logs, critical_path }: Trace): SpanMarks[] {
  const bars = spans.map((): SpanMarks => ({ logs: [], critical: [] }))
  const places = new Map(spans.map(({ span_id }, at) => [span_id, at]))
  for (const step of critical_path) bars[step.span]?.critical.push(step)
  for (const log of logs) if (log.span_id !== undefined) bars[places.get(log.span_id) ?? -1]?.logs.push(log)
  return bars
}
