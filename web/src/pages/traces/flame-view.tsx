import { durationText } from '@dendro/language/nanoseconds'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef } from 'react'
import { quantity } from '../../parts/chart/numbers.ts'
import { drawingKeys } from './drawing-keys.ts'
import type { DrawingProps } from './drawing-props.ts'
import { type FlameBar, flameBars, flameRows, flameStep } from './flame-rows.ts'
import { TimeAxis } from './time-axis.tsx'

const ROW_PX = 22
const OVERSCAN = 10
const NAME_PERCENT = 3

/** The spans of a trace as bars below those of their parents. */
export function FlameView({ trace, part, colors, found, current, onSelect, onShow }: DrawingProps) {
  const { spans } = trace
  const rows = useMemo(() => flameRows(spans), [spans])
  const scroller = useRef<HTMLElement>(null)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  })
  const currentRow = useMemo(() => rows.findIndex((row) => row.includes(current)), [rows, current])
  useEffect(() => {
    if (currentRow >= 0) virtualizer.scrollToIndex(currentRow, { align: 'auto' })
  }, [currentRow, virtualizer])
  useEffect(() => {
    const list = scroller.current
    if (list?.contains(document.activeElement)) list.querySelector<HTMLElement>(`[data-at="${current}"]`)?.focus({ preventScroll: true })
  }, [current])
  const onOwnKey = (key: string): boolean => {
    const next = flameStep(spans, rows, part, current, key)
    if (next !== undefined) onSelect(next)
    return next !== undefined
  }
  const colorOf = (at: number): string => colors.get(spans[at]?.service ?? '') ?? 'var(--color-soft)'
  const titleOf = ({ at, others }: FlameBar): string => {
    const span = spans[at]
    if (!span) return ''
    const failed = span.status === 'error' ? ', failed' : ''
    return others === 0
      ? `${span.service} ${span.name}: ${durationText(span.duration_nano)}${failed}`
      : `${quantity(others + 1, 'span')} from ${span.service} ${span.name} on; zoom to tell them apart`
  }
  return (
    <div className="min-w-0 flex-1 rounded-md border border-line bg-panel">
      <TimeAxis part={part} onShow={onShow} />
      <section
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: one tab stop for all bars
        tabIndex={0}
        aria-label="Flame view"
        onKeyDown={drawingKeys({ trace, current, onSelect, onShow, onOwnKey })}
        className="max-h-[70vh] overflow-auto"
      >
        <div className="relative w-full" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => (
            <div key={index} className="absolute inset-x-0" style={{ top: start, height: ROW_PX }}>
              {flameBars(spans, rows[index] ?? [], part).map((bar) => (
                <button
                  key={bar.at}
                  type="button"
                  tabIndex={-1}
                  data-at={bar.at}
                  title={titleOf(bar)}
                  aria-label={titleOf(bar)}
                  aria-pressed={bar.at === current}
                  onClick={() => onSelect(bar.at)}
                  className={`absolute inset-y-px min-w-0.5 overflow-hidden truncate rounded-sm border-panel border-r px-1 text-left text-panel text-row ${
                    bar.at === current ? 'outline-2 outline-accent' : ''
                  } ${found && !found.has(bar.at) ? 'opacity-30' : ''}`}
                  style={{ left: `${bar.left}%`, width: `${bar.width}%`, background: colorOf(bar.at) }}
                >
                  {spans[bar.at]?.status === 'error' && <span aria-hidden className="absolute inset-x-0 bottom-0 h-1 bg-bar-error" />}
                  {bar.width >= NAME_PERCENT && bar.others === 0 && spans[bar.at]?.name}
                </button>
              ))}
            </div>
          ))}
        </div>
      </section>
    </div>
  )
}
