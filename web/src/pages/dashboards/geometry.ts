export type Box = { x: number; y: number; w: number; h: number }

/** An SVG ring segment between two shares of the circle, clockwise from the top. */
export function arcPath(from: number, to: number): string {
  // An arc of a full circle starts where it ends, and draws nothing.
  const end = Math.min(to, from + 0.99999)
  const point = (part: number, radius: number) => {
    const angle = (part - 0.25) * 2 * Math.PI
    return `${(radius * Math.cos(angle)).toFixed(4)} ${(radius * Math.sin(angle)).toFixed(4)}`
  }
  const large = end - from > 0.5 ? 1 : 0
  return `M${point(from, 1)}A1 1 0 ${large} 1 ${point(end, 1)}L${point(end, 0.55)}A.55 .55 0 ${large} 0 ${point(from, 0.55)}Z`
}

/** squares lays out a squarified treemap; values must be in descending order. */
export function squares(values: readonly number[], box: Box): Box[] {
  const [first] = values
  if (first === undefined) return []
  const all = values.reduce((sum, value) => sum + value, 0)
  const short = Math.min(box.w, box.h)
  const area = (box.w * box.h) / all
  let line: number[] = []
  for (const value of values) {
    const longer = [...line, value]
    if (line.length > 0 && worstOf(longer, short, area) > worstOf(line, short, area)) break
    line = longer
  }
  const thick = (line.reduce((sum, value) => sum + value, 0) * area) / short
  const isWide = box.w >= box.h
  let along = 0
  const own = line.map((value): Box => {
    const long = (value * area) / thick
    const put = isWide ? { x: box.x, y: box.y + along, w: thick, h: long } : { x: box.x + along, y: box.y, w: long, h: thick }
    along += long
    return put
  })
  const rest = isWide ? { ...box, x: box.x + thick, w: box.w - thick } : { ...box, y: box.y + thick, h: box.h - thick }
  return [...own, ...squares(values.slice(line.length), rest)]
}

/** The largest aspect ratio in a row. */
function worstOf(line: readonly number[], short: number, area: number): number {
  const sum = line.reduce((all, value) => all + value, 0) * area
  return Math.max(
    ...line.map((value) => Math.max((short * short * value * area) / (sum * sum), (sum * sum) / (short * short * value * area))),
  )
}
