const CHARS_MAX = 1_000_000

/** Returns the text of one element of a JSON array. Undefined when the text is not an array, or the element is missing or null. */
export function elementOf(array: string, index: number): string | undefined {
  if (!array.startsWith('[') || array.length > CHARS_MAX) return undefined
  let at = 1
  for (let skipped = 0; ; skipped += 1) {
    at = afterBlanks(array, at)
    const end = endOfValue(array, at)
    const next = afterBlanks(array, end)
    const isLast = array[next] === ']'
    if (end === at || (!isLast && array[next] !== ',')) return undefined
    if (skipped === index) return textOf(array.slice(at, end))
    if (isLast) return undefined
    at = next + 1
  }
}

function textOf(written: string): string | undefined {
  if (written === 'null') return undefined
  if (!written.startsWith('"')) return written
  try {
    return String(JSON.parse(written)).replaceAll('\0', '').toWellFormed()
  } catch {
    return undefined
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (' \t\r\n'.includes(text[at] ?? '.')) at += 1
  return at
}

/**
 * Returns the position after the value that begins at `from`: a string, an array or object up to its closing bracket, or a run of other
 * characters.
 */
function endOfValue(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    const mark = text[at]
    if (mark === '"') {
      at = endOfText(text, at)
      if (depth === 0) return at + 1
    } else if (mark === '[' || mark === '{') {
      depth += 1
    } else if (mark === ']' || mark === '}') {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (mark === ',' || ' \t\r\n'.includes(mark ?? ''))) {
      return at
    }
  }
  return text.length
}

/** Returns the position of the closing quote. */
function endOfText(text: string, open: number): number {
  let at = open + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
