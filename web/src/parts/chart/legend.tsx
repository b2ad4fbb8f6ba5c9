import { useMemo, useSyncExternalStore } from 'react'
import { clockOf, type Zone } from '../time/time-range.ts'
import { nameColors } from './colors.ts'
import type { Cursor } from './cursor.ts'
import type { ChartBand, ChartData, ChartLevel, ChartMark } from './data.ts'
import { levelText } from './marks.ts'
import { topsAt } from './stack.ts'

const NAMED_MAX = 8

type LegendProps = {
  data: ChartData
  cursor: Cursor
  bands: readonly ChartBand[]
  marks: readonly ChartMark[]
  levels: readonly ChartLevel[]
  zone: Zone
  /** isLive lets what is read by keyboard be spoken; of several charts with one crosshair only one is. */
  isLive: boolean
  unit(value: number): string
}

/** Shows the values under the crosshair, largest first; without a crosshair it names the series. */
export function Legend({ data, cursor, bands, marks, levels, zone, isLive, unit }: LegendProps) {
  const { series, times, isCut = false } = data
  const colors = useMemo(() => nameColors(series.map(({ name }) => name)), [series])
  const at = useSyncExternalStore(cursor.follow, cursor.at)
  const whole = useMemo(() => series.slice(0, NAMED_MAX).map((_, index) => ({ index, value: undefined })), [series])
  const atMs = at === undefined ? undefined : times[at]
  const shown = at === undefined || atMs === undefined ? whole : topsAt(series, at, NAMED_MAX)
  const rest = series.length - shown.length
  const here = atMs === undefined ? [] : marks.filter((mark) => mark.atMs >= atMs && mark.atMs < atMs + data.stepMs)
  const isPartial = atMs !== undefined && bands.some(({ kind, fromMs, toMs }) => kind === 'partial' && fromMs <= atMs && atMs < toMs)
  return (
    <figcaption
      className={`flex ${series.length > 3 ? 'h-8 @max-2xl:h-16' : 'h-4 @max-md:h-8'} flex-wrap content-start items-center gap-x-3 overflow-hidden px-1 text-soft text-xs tabular-nums`}
      aria-live={isLive ? 'polite' : 'off'}
    >
      {atMs !== undefined && (
        <span>
          {clockOf(atMs, zone).day} {clockOf(atMs, zone).clock.slice(0, 8)}
        </span>
      )}
      {isPartial && <span>in progress</span>}
      {(rest > 0 || isCut) && shown.length > 0 && (
        // Before the names, of which a narrow chart cuts the last.
        <span>
          {shown.length} of {series.length}
          {isCut && ' or more'}:
        </span>
      )}
      {here.map(({ atMs: markMs, name }) => (
        <strong key={`${markMs} ${name}`} className="max-w-64 truncate font-medium text-accent">
          {name}
        </strong>
      ))}
      {shown.map(({ index, value }) => (
        <span key={index} className="flex min-w-0 items-center gap-1">
          <span aria-hidden className="h-2 w-3 shrink-0 rounded-sm" style={{ background: colors[index] }} />
          <span className="max-w-48 truncate">{series[index]?.name}</span>
          {value !== undefined && <strong className="font-medium text-ink">{unit(value)}</strong>}
          {value !== undefined && at !== undefined && <Before value={series[index]?.before?.[at]} unit={unit} />}
        </span>
      ))}
      {atMs !== undefined && shown.length === 0 && <span>no data</span>}
      {atMs === undefined && series.some(({ before }) => before) && (
        <span className="flex items-center gap-1">
          <span aria-hidden className="w-3 border-soft border-t border-dashed" /> previous period
        </span>
      )}
      {atMs === undefined &&
        levels.map((level) => (
          <span key={`${level.kind} ${level.value}`} className="flex items-center gap-1">
            <span aria-hidden className={`w-3 ${levelLines[level.kind]}`} />
            {levelText(level, unit)}
          </span>
        ))}
    </figcaption>
  )
}

const levelLines = { ALERT: 'border-error border-t border-dashed', WARN: 'border-t border-warn border-dotted' }

const Before = ({ value, unit }: { value: number | null | undefined; unit(value: number): string }) =>
  value === undefined || value === null ? null : <span>before {unit(value)}</span>
