import type { Dashboard } from '@dendro/api'

type Layout = NonNullable<Dashboard['layout']['widget_layouts']>[number]
/** A Place is where a widget stands in a grid of COLUMNS. */
export type Place = { id: string; x: number; y: number; w: number; h: number }

export const COLUMNS = 12
const HIGH = 4

/** sizes a widget can take, by their share of the width. */
export const widths = [
  [4, 'a third'],
  [6, 'a half'],
  [8, 'two thirds'],
  [12, 'the whole width'],
] as const
export const heights = [
  [3, 'low'],
  [4, 'usual'],
  [6, 'high'],
] as const

/** placesOf puts every widget somewhere: where its layout says, and what has none after all others. */
export function placesOf(ids: readonly string[], layouts: readonly Layout[]): Place[] {
  const own = layouts.filter(({ id }) => ids.includes(id))
  // A layout in fractions of the width is as good as one in columns.
  const scale = own.length > 0 && own.every(({ x, w }) => x + w <= 1) ? COLUMNS : 1
  const placed = own.map(({ id, x, y, w, h }): Place => {
    const wide = between(Math.round(w * scale), 1, COLUMNS)
    return {
      id,
      w: wide,
      x: between(Math.round(x * scale), 0, COLUMNS - wide),
      y: Math.max(0, Math.round(y * scale)),
      h: between(Math.round(h * scale), 2, 20),
    }
  })
  const homeless = ids.filter((id) => placed.every((one) => one.id !== id))
  const inOrder = placed.sort((a, b) => a.y - b.y || a.x - b.x)
  if (homeless.length === 0 && !overlaps(inOrder)) return inOrder
  return flowing([...inOrder, ...homeless.map((id) => ({ id, x: 0, y: 0, w: COLUMNS / 2, h: HIGH }))])
}

const between = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

function overlaps(places: readonly Place[]): boolean {
  return places.some((a, at) => places.slice(at + 1).some((b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h))
}

/** flowing puts widgets beside each other in their order, and goes on below where a line is full. */
export function flowing(places: readonly Place[]): Place[] {
  let [x, y, high] = [0, 0, 0]
  return places.map((place) => {
    if (x + place.w > COLUMNS) {
      y += high
      x = 0
      high = 0
    }
    const put = { ...place, x, y }
    x += place.w
    high = Math.max(high, place.h)
    return put
  })
}

/** moved takes a widget one place towards the beginning or the end. */
export function moved(places: readonly Place[], id: string, by: -1 | 1): Place[] {
  const at = places.findIndex((one) => one.id === id)
  const other = places[at + by]
  const one = places[at]
  if (!one || !other) return [...places]
  return flowing(places.map((place, index) => (index === at ? other : index === at + by ? one : place)))
}
