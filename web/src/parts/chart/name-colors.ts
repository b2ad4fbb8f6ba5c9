/** The number of colors for names in general; after them come the colors of statuses and of a missing value. */
export const PALETTE = 12

const CRITICAL = PALETTE
const WARNING = PALETTE + 1
const NORMAL = PALETTE + 2
const MISSING = PALETTE + 3

/** The names that have the color of their meaning, as in the histogram. */
const FIXED: ReadonlyMap<string, number> = new Map([
  ...['error', 'err', 'fatal', 'critical', 'crit', 'alert', 'emergency', 'panic'].map((name) => [name, CRITICAL] as const),
  ...['warn', 'warning'].map((name) => [name, WARNING] as const),
  ...['info', 'information', 'informational'].map((name) => [name, NORMAL] as const),
  ['(none)', MISSING],
])

/** A NameColors holds the index of the color of every name that was drawn. */
export type NameColors = Map<string, number>

/** Gives each new name the color of its hash, or the next one that no other name of the chart has. A name keeps its color. Names are given largest first. */
export function assignColors(colors: NameColors, names: readonly string[]): void {
  const used = new Set(names.flatMap((name) => colors.get(name) ?? []))
  // The largest come first and have different colors, also where the chart has more series than there are colors.
  // In the order of the names, so that another order of the same series has the same colors.
  const ordered = [names.slice(0, PALETTE), names.slice(PALETTE)].flatMap((part) => part.toSorted())
  for (const name of ordered.filter((one) => !colors.has(one))) {
    const fixed = FIXED.get(name.toLowerCase())
    const index = fixed ?? freeColor(hashOf(name) % PALETTE, used)
    colors.set(name, index)
    used.add(index)
  }
}

function freeColor(first: number, used: ReadonlySet<number>): number {
  for (let step = 0; step < PALETTE; step += 1) {
    const index = (first + step) % PALETTE
    if (!used.has(index)) return index
  }
  return first
}

/** The 32-bit FNV-1a hash. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

const shared: NameColors = new Map()

/** The color indexes of the series of one chart. A name has the same color in every chart of every page. */
export function colorsOf(names: readonly string[]): number[] {
  assignColors(shared, names)
  return names.map((name) => shared.get(name) ?? 0)
}

/** Counts for each series the earlier ones of the same color, which dashes distinguish. */
export function repeatsOf(colors: readonly number[]): number[] {
  const seen = new Map<number, number>()
  return colors.map((color) => {
    const before = seen.get(color) ?? 0
    seen.set(color, before + 1)
    return before
  })
}
