import type { MetricTimeseries } from '@dendro/api'
import type { CSSProperties } from 'react'
import { nameColors } from '../../parts/chart/colors.ts'
import { measuredName } from '../../parts/chart/measured.ts'
import { share } from '../../parts/chart/numbers.ts'
import { arcPath, type Box, squares } from './geometry.ts'
import type { Slice } from './slice.ts'

type UnitText = (value: number) => string
const sumOf = (slices: readonly Slice[]): number => slices.reduce((sum, { value }) => sum + Math.max(0, value), 0)

type SharesProps = {
  label: string
  slices: readonly Slice[]
  /** isCut means that only the largest groups are known. */
  isCut: boolean
  height: number
  unit: UnitText
  onSlice?(slice: Slice): void
}

type ScoreProps = { measured: readonly MetricTimeseries[]; height: number; unit: UnitText; onSlice?(slice: Slice): void }

/** A single value with its change from the previous period; it links to its events. */
export function Score({ measured, height, unit, onSlice }: ScoreProps) {
  return (
    <div
      className="flex min-h-24 flex-wrap items-center justify-around gap-4 overflow-hidden p-2 lg:min-h-(--high)"
      style={{ '--high': `${height}px` } as CSSProperties}
    >
      {measured.map((one) => {
        const { aggregates, delta, queries } = one
        const name = measuredName(one)
        const value = aggregates[0]?.value
        const text = value === null || value === undefined ? '–' : unit(value)
        return (
          <p key={name} className="flex min-w-0 flex-col items-center text-center">
            {onSlice ? (
              <button
                type="button"
                title="Show events"
                className="font-semibold text-4xl tabular-nums hover:underline"
                onClick={() => onSlice({ name, value: value ?? 0, query: queries[0], path: [] })}
              >
                {text}
              </button>
            ) : (
              <span className="font-semibold text-4xl tabular-nums">{text}</span>
            )}
            {measured.length > 1 && <span className="max-w-full truncate text-soft">{name}</span>}
            {delta && <span className="text-soft text-xs">{differenceText(delta, unit)}</span>}
          </p>
        )
      })}
    </div>
  )
}

function differenceText({ delta_value, total_value }: NonNullable<MetricTimeseries['delta']>, unit: UnitText): string {
  if (delta_value === 0) return 'same as the previous period'
  const part = total_value === 0 ? '' : ` (${share(Math.abs(delta_value), Math.abs(total_value))})`
  return `${delta_value > 0 ? '+' : '−'}${unit(Math.abs(delta_value))}${part} compared with the previous period`
}

/** Lists groups by size, each with a bar relative to the largest. */
export function TopList({ label, slices, isCut, height, unit, onSlice }: SharesProps) {
  const most = Math.max(...slices.map(({ value }) => Math.abs(value)), 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by keyboard too
    <figure aria-label={label} tabIndex={0} className="overflow-auto" style={{ height }}>
      <ol className="flex flex-col gap-0.5">
        {slices.map((slice) => (
          <li key={slice.name} className="relative flex min-w-0 items-center gap-2 overflow-hidden rounded px-1.5 py-0.5">
            <span
              aria-hidden
              className="absolute inset-y-0 left-0 rounded bg-tint"
              style={{ width: `${most === 0 ? 0 : (100 * Math.abs(slice.value)) / most}%` }}
            />
            <Named slice={slice} {...(onSlice ? { onSlice } : {})} />
            <span className="relative ml-auto shrink-0 tabular-nums">{unit(slice.value)}</span>
          </li>
        ))}
        {isCut && <li className="px-1.5 text-soft text-xs">Only the {slices.length} largest.</li>}
      </ol>
    </figure>
  )
}

function Named({ slice, onSlice }: { slice: Slice; onSlice?(slice: Slice): void }) {
  if (!onSlice) return <span className="relative min-w-0 truncate">{slice.name}</span>
  return (
    <button
      type="button"
      className="relative min-w-0 truncate text-left hover:underline"
      title="Show events"
      onClick={() => onSlice(slice)}
    >
      {slice.name}
    </button>
  )
}

const PARTS_MAX = 8

/** Shows shares of a whole with a legend; small groups are combined. */
export function Pie({ label, slices, isCut, height, unit, onSlice }: SharesProps) {
  const all = sumOf(slices)
  const own = slices.filter(({ value }) => value > 0)
  const colors = nameColors(own.map(({ name }) => name))
  const shown = own.slice(0, own.length > PARTS_MAX ? PARTS_MAX - 1 : PARTS_MAX)
  const rest = all - sumOf(shown)
  const parts = rest > all * 1e-9 ? [...shown.map(({ value }) => value), rest] : shown.map(({ value }) => value)
  let from = 0
  return (
    <figure aria-label={label} className="flex flex-wrap items-center gap-3 overflow-hidden" style={{ minHeight: height }}>
      <svg
        viewBox="-1 -1 2 2"
        className="max-h-48 min-w-24 flex-1"
        role="img"
        aria-label={`${label}: ${shown.map(({ name, value }) => `${name} ${share(value, all)}`).join(', ')}`}
      >
        {parts.map((value, at) => {
          const start = from
          from += value / all
          return (
            <path
              key={shown[at]?.name ?? 'others'}
              d={arcPath(start, from)}
              className="stroke-panel"
              strokeWidth={0.02}
              style={{ fill: at < shown.length ? colors[at] : 'var(--color-soft)' }}
            >
              <title>{`${shown[at]?.name ?? 'others'}: ${unit(value)}, ${share(value, all)}`}</title>
            </path>
          )
        })}
      </svg>
      <ul className="min-w-0 flex-1 text-xs">
        {shown.map((slice, at) => (
          <li key={slice.name} className="flex items-center gap-1.5">
            <span aria-hidden className="h-2.5 w-2.5 shrink-0 rounded-sm" style={{ background: colors[at] }} />
            <Named slice={slice} {...(onSlice ? { onSlice } : {})} />
            <span className="ml-auto shrink-0 pl-2 text-soft tabular-nums">
              {unit(slice.value)} · {share(slice.value, all)}
            </span>
          </li>
        ))}
        {rest > all * 1e-9 && (
          <li className="text-soft">
            and {own.length - shown.length} {isCut ? 'or more' : 'more'} · {share(rest, all)}
          </li>
        )}
      </ul>
    </figure>
  )
}

const TILES_MAX = 40

/** Treemap is shares of a whole as tiles. */
export function Treemap({ label, slices, isCut, height, unit, onSlice }: SharesProps) {
  const all = slices.filter(({ value }) => value > 0)
  const own = all.slice(0, TILES_MAX)
  const colors = nameColors(own.map(({ name }) => name))
  const boxes = squares(
    own.map(({ value }) => value),
    { x: 0, y: 0, w: 100, h: 50 },
  )
  const sum = sumOf(slices)
  return (
    <figure aria-label={label} className="relative" style={{ height }}>
      {own.map((slice, at) => (
        <Tile
          key={slice.name}
          slice={slice}
          box={boxes[at]}
          color={colors[at] ?? ''}
          part={share(slice.value, sum)}
          unit={unit}
          {...(onSlice ? { onSlice } : {})}
        />
      ))}
      {(isCut || all.length > own.length) && (
        <figcaption className="absolute right-0 bottom-0 rounded-tl bg-panel px-1 text-soft text-xs">the {own.length} largest</figcaption>
      )}
    </figure>
  )
}

type TileProps = { slice: Slice; box: Box | undefined; color: string; part: string; unit: UnitText; onSlice?(slice: Slice): void }

function Tile({ slice, box, color, part, unit, onSlice }: TileProps) {
  if (!box) return null
  return (
    <div
      className="absolute overflow-hidden border border-panel p-1 text-xs"
      title={`${slice.name}: ${unit(slice.value)}, ${part}`}
      style={{
        left: `${box.x}%`,
        top: `${box.y * 2}%`,
        width: `${box.w}%`,
        height: `${box.h * 2}%`,
        background: `color-mix(in srgb, ${color} 22%, var(--color-panel))`,
      }}
    >
      <Named slice={slice} {...(onSlice ? { onSlice } : {})} />
      <span className="block truncate text-ink tabular-nums">{unit(slice.value)}</span>
    </div>
  )
}
