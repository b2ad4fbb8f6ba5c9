const COLUMNS = 12

export type WidgetSize = { readonly w: number; readonly h: number }

/** Places widgets in order, side by side, and wraps full rows. The last one of a row takes the columns that are left. */
export function placeWidgets(sizes: readonly WidgetSize[]): { x: number; y: number; w: number; h: number }[] {
  const rows: WidgetSize[][] = []
  let free = 0
  for (const size of sizes) {
    if (size.w > free) {
      rows.push([])
      free = COLUMNS
    }
    rows.at(-1)?.push(size)
    free -= size.w
  }
  let y = 0
  return rows.flatMap((row) => {
    const height = Math.max(...row.map(({ h }) => h))
    let x = 0
    const placed = row.map(({ w }, at) => {
      const place = { x, y, w: at === row.length - 1 ? COLUMNS - x : w, h: height }
      x += place.w
      return place
    })
    y += height
    return placed
  })
}
