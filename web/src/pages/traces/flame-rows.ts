import type { Trace } from '@dendro/api'
import { barIn, type ShownPart } from './shown-part.ts'

type Span = Pick<Trace['spans'][number], 'depth' | 'start_nano' | 'duration_nano'>

/** The positions of the spans of each row, by their start. */
export type FlameRows = readonly (readonly number[])[]

/** Places spans below their parents. Spans of one depth that run at the same time have rows of their own, so that none covers another. */
export function flameRows(spans: readonly Span[]): FlameRows {
  const byDepth = Map.groupBy(spans.keys(), (at) => spans[at]?.depth ?? 0)
  return [...byDepth.keys()].sort((one, other) => one - other).flatMap((depth) => rowsOf(spans, byDepth.get(depth) ?? []))
}

function rowsOf(spans: readonly Span[], ofDepth: readonly number[]): number[][] {
  const startOf = (at: number) => spans[at]?.start_nano ?? 0
  const rows: { end: number; places: number[] }[] = []
  for (const at of ofDepth.toSorted((one, other) => startOf(one) - startOf(other) || one - other)) {
    const end = startOf(at) + (spans[at]?.duration_nano ?? 0)
    const free = rows.find((row) => row.end <= startOf(at))
    if (free) {
      free.places.push(at)
      free.end = end
    } else rows.push({ end, places: [at] })
  }
  return rows.map(({ places }) => places)
}

/** What is drawn of a row: a span, or several that are too narrow to be told apart, at the place of the first. */
export type FlameBar = { readonly at: number; readonly left: number; readonly width: number; readonly others: number }

/** A twentieth of a percent is less than a pixel on most screens. */
const NARROW = 0.05

/** The bars of one row in the part that is shown. Narrow ones beside each other become one, so that a row has a bounded number of bars. */
export function flameBars(spans: readonly Span[], row: readonly number[], part: ShownPart): readonly FlameBar[] {
  const bars: FlameBar[] = []
  for (const at of row) {
    const span = spans[at]
    const bar = span && barIn(part, span.start_nano, span.duration_nano)
    if (!bar) continue
    const last = bars.at(-1)
    if (last && bar.width < NARROW && last.width < 2 * NARROW && bar.left + bar.width - last.left < 2 * NARROW)
      bars[bars.length - 1] = { ...last, width: Math.max(last.width, bar.left + bar.width - last.left), others: last.others + 1 }
    else bars.push({ at, ...bar, others: 0 })
  }
  return bars
}

/** The position in a row of the bar that holds a span. */
function barOf(row: readonly number[], bars: readonly FlameBar[], at: number): number {
  const places = new Map(row.map((one, place) => [one, place]))
  const placeOf = (one: number): number => places.get(one) ?? 0
  return bars.findLastIndex((bar) => placeOf(bar.at) <= placeOf(at))
}

/** The span that an arrow key leads to: up to the parent, down to the first child, left and right along the row. Spans are listed after their parents. */
export function flameStep(spans: readonly Span[], rows: FlameRows, part: ShownPart, current: number, key: string): number | undefined {
  const row = rows.find((places) => places.includes(current))
  const depth = spans[current]?.depth ?? 0
  if (!row) return key.startsWith('Arrow') ? flameBars(spans, rows[0] ?? [], part)[0]?.at : undefined
  if (key === 'ArrowUp') return depth === 0 ? current : spans.findLastIndex((span, at) => at < current && span.depth === depth - 1)
  if (key === 'ArrowDown') return spans[current + 1]?.depth === depth + 1 ? current + 1 : current
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return undefined
  const bars = flameBars(spans, row, part)
  return bars[barOf(row, bars, current) + (key === 'ArrowLeft' ? -1 : 1)]?.at ?? current
}
