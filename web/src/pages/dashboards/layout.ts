import type { Dashboard } from '@dendro/api'

type Layout = NonNullable<Dashboard['layout']['widget_layouts']>[number]
/** A WidgetPlacement is the position and size of a widget in a grid of COLUMNS. */
export type WidgetPlacement = { id: string; x: number; y: number; w: number; h: number }

export const COLUMNS = 12
const HIGH = 4

/** Places every widget: by the layout, or after all others where the layout lacks it. */
export function placementsOf(ids: readonly string[], layouts: readonly Layout[]): WidgetPlacement[] {
  const own = layouts.filter(({ id }) => ids.includes(id))
  // The API accepts layouts in columns and in fractions of the width.
  const scale = own.length > 0 && own.every(({ x, w }) => x + w <= 1) ? COLUMNS : 1
  const placed = own.map(({ id, x, y, w, h }): WidgetPlacement => {
    const wide = between(Math.round(w * scale), 1, COLUMNS)
    return {
      id,
      w: wide,
      x: between(Math.round(x * scale), 0, COLUMNS - wide),
      y: Math.max(0, Math.round(y * scale)),
      h: between(Math.round(h * scale), 2, 20),
    }
  })
  const unplaced = ids.filter((id) => placed.every((one) => one.id !== id))
  const inOrder = placed.sort((a, b) => a.y - b.y || a.x - b.x)
  if (unplaced.length === 0 && !overlaps(inOrder)) return inOrder
  return flowed([...inOrder, ...unplaced.map((id) => ({ id, x: 0, y: 0, w: COLUMNS / 2, h: HIGH }))])
}

const between = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

function overlaps(places: readonly WidgetPlacement[]): boolean {
  return places.some((a, at) => places.slice(at + 1).some((b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h))
}

/** Places widgets side by side in order and wraps full rows. */
export function flowed(places: readonly WidgetPlacement[]): WidgetPlacement[] {
  let [x, y, high] = [0, 0, 0]
  return places.map((place) => {
    if (x + place.w > COLUMNS) {
      y += high
      x = 0
      high = 0
    }
    const placed = { ...place, x, y }
    x += place.w
    high = Math.max(high, place.h)
    return placed
  })
}

/** Exchanges a widget with its neighbor. */
export function swapped(places: readonly WidgetPlacement[], id: string, by: -1 | 1): WidgetPlacement[] {
  const at = places.findIndex((one) => one.id === id)
  const other = places[at + by]
  const one = places[at]
  if (!one || !other) return [...places]
  return flowed(places.map((place, index) => (index === at ? other : index === at + by ? one : place)))
}

/** WIDE_LEAST is above 1, so that a layout in columns is not mistaken for one in fractions. */
const WIDE_LEAST = 2
const HIGH_LEAST = 2
const HIGH_MOST = 20

/** Moves or resizes a widget; overlapped widgets move down, then all rise into free rows. */
export function put(places: readonly WidgetPlacement[], id: string, change: Partial<Omit<WidgetPlacement, 'id'>>): WidgetPlacement[] {
  const found = places.find((one) => one.id === id)
  if (!found) return [...places]
  const wanted = { ...found, ...change }
  const w = between(Math.round(wanted.w), WIDE_LEAST, COLUMNS)
  const own: WidgetPlacement = {
    id,
    w,
    h: between(Math.round(wanted.h), HIGH_LEAST, HIGH_MOST),
    x: between(Math.round(wanted.x), 0, COLUMNS - w),
    y: Math.max(0, Math.round(wanted.y)),
  }
  const standing: WidgetPlacement[] = [own]
  for (const place of inReadingOrder(places.filter((one) => one.id !== id))) {
    let next = place
    for (let under = firstUnder(next, standing); under; under = firstUnder(next, standing)) next = { ...next, y: under.y + under.h }
    standing.push(next)
  }
  return compacted(inReadingOrder(standing))
}

const inReadingOrder = (places: readonly WidgetPlacement[]): WidgetPlacement[] => places.toSorted((a, b) => a.y - b.y || a.x - b.x)
const firstUnder = (place: WidgetPlacement, standing: readonly WidgetPlacement[]): WidgetPlacement | undefined =>
  standing.find((one) => overlaps([place, one]))

/** Moves every widget up into free rows. */
function compacted(places: readonly WidgetPlacement[]): WidgetPlacement[] {
  const standing: WidgetPlacement[] = []
  for (const place of places) {
    let next = place
    while (next.y > 0 && !firstUnder({ ...next, y: next.y - 1 }, standing)) next = { ...next, y: next.y - 1 }
    standing.push(next)
  }
  return inReadingOrder(standing)
}
