const CONTEXT_LINES = 3
/** Bounds the work: beyond it the difference is one piece. */
const CELLS_MAX = 4_000_000

type Edit = { readonly sign: ' ' | '-' | '+'; readonly text: string }

/** The difference of two texts in the unified format; empty if they are equal. */
export function unifiedDiff(before: string, after: string): string {
  if (before === after) return ''
  const edits = editsBetween(linesOf(before), linesOf(after))
  const changed = edits.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]))
  const hunks: { from: number; to: number }[] = []
  for (const index of changed) {
    const [from, to] = [Math.max(0, index - CONTEXT_LINES), Math.min(edits.length, index + CONTEXT_LINES + 1)]
    const last = hunks.at(-1)
    if (last && from <= last.to) last.to = to
    else hunks.push({ from, to })
  }
  return `--- before\n+++ after\n${hunks.map(({ from, to }) => hunkText(edits, from, to)).join('')}`
}

export const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function hunkText(edits: readonly Edit[], from: number, to: number): string {
  const count = (part: readonly Edit[], except: Edit['sign']): number => part.filter(({ sign }) => sign !== except).length
  const [earlier, part] = [edits.slice(0, from), edits.slice(from, to)]
  const range = (except: Edit['sign']): string => {
    const lines = count(part, except)
    return `${count(earlier, except) + (lines === 0 ? 0 : 1)},${lines}`
  }
  return `@@ -${range('+')} +${range('-')} @@\n${part.map(({ sign, text }) => `${sign}${text}\n`).join('')}`
}

function editsBetween(before: readonly string[], after: readonly string[]): Edit[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  const same = (lines: readonly string[]): Edit[] => lines.map((text) => ({ sign: ' ', text }))
  const middle = middleEdits(before.slice(start, before.length - end), after.slice(start, after.length - end))
  return [...same(before.slice(0, start)), ...middle, ...same(before.slice(before.length - end))]
}

/** Finds a longest common subsequence of lines by dynamic programming. */
function middleEdits(before: readonly string[], after: readonly string[]): Edit[] {
  const removed = (text: string): Edit => ({ sign: '-', text })
  const added = (text: string): Edit => ({ sign: '+', text })
  const width = after.length + 1
  if (before.length === 0 || after.length === 0 || (before.length + 1) * width > CELLS_MAX)
    return [...before.map(removed), ...after.map(added)]
  const common = new Uint32Array((before.length + 1) * width)
  const at = (row: number, column: number): number => common[row * width + column] ?? 0
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      common[row * width + column] =
        before[row] === after[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
  const edits: Edit[] = []
  let [row, column] = [0, 0]
  while (row < before.length && column < after.length) {
    if (before[row] === after[column]) {
      edits.push({ sign: ' ', text: before[row] ?? '' })
      row += 1
      column += 1
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      edits.push(removed(before[row] ?? ''))
      row += 1
    } else {
      edits.push(added(after[column] ?? ''))
      column += 1
    }
  }
  return [...edits, ...before.slice(row).map(removed), ...after.slice(column).map(added)]
}

/**
 * Applies the change from `normal` to `changed` to `original`, which is equivalent to `normal` in another format; unchanged lines keep the format of
 * `original`.
 */
export function keepFormatting(original: readonly string[], normal: readonly string[], changed: readonly string[]): string[] {
  const [inOriginal, inChanged] = [commonLines(normal, original), commonLines(normal, changed)]
  const kept: string[] = []
  let [from, fromOriginal, fromChanged] = [0, 0, 0]
  for (let at = 0; at <= normal.length; at += 1) {
    const isEnd = at === normal.length
    const [toOriginal, toChanged] = isEnd ? [original.length, changed.length] : [inOriginal.get(at), inChanged.get(at)]
    if (toOriginal === undefined || toChanged === undefined) continue
    kept.push(...merged(original.slice(fromOriginal, toOriginal), normal.slice(from, at), changed.slice(fromChanged, toChanged)))
    if (!isEnd) kept.push(original[toOriginal] ?? '')
    ;[from, fromOriginal, fromChanged] = [at + 1, toOriginal + 1, toChanged + 1]
  }
  return kept
}

function merged(original: readonly string[], normal: readonly string[], changed: readonly string[]): readonly string[] {
  const isSame = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && one.every((line, index) => line === other[index])
  if (isSame(changed.slice(0, normal.length), normal)) return [...original, ...changed.slice(normal.length)]
  if (isSame(changed.slice(changed.length - normal.length), normal))
    return [...changed.slice(0, changed.length - normal.length), ...original]
  return changed
}

/** Maps the line numbers that both texts have in common. */
function commonLines(before: readonly string[], after: readonly string[]): Map<number, number> {
  const found = new Map<number, number>()
  let [row, column] = [0, 0]
  for (const { sign } of editsBetween(before, after)) {
    if (sign === ' ') found.set(row, column)
    if (sign !== '+') row += 1
    if (sign !== '-') column += 1
  }
  return found
}
