/** Replaces a variable part. Stored texts never contain it. */
export const MASK = '\0'
/** Shown for MASK in a template. */
export const WILDCARD = '<*>'

const DELIMITERS = /([()[\]{}<>,;"'|])/
const NAME = /^[\w.$:-]*[A-Za-z][\w.$:-]*$/
const SEGMENT = /^[\w\0$-]+$/
const JOINED = /^[\w.\0$-]*$/
/** A dotted name with such an ending is kept: a constant such as SCREEN_ON, or the class of a failure. */
const TELLING = /^[A-Z][A-Z_]{2,}$|(?:Exception|Error|Warning|Failure)$/
const DAY = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:[a-z]{0,6}day)?,?$/
const MONTH = /^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6},?$/
const PLAIN_NAME = /^[a-z_\0][\w\0-]*,?$/

/**
 * Removes the non-numeric variable parts of a masked message: values after =, paths, dotted names such as hosts and classes, identifiers
 * of several masked parts, names of days and users, and repetitions of such words. It reads one message alone, so that a pattern never
 * changes when others arrive.
 */
export function patternOf(masked: string): string {
  const words = masked.split(' ')
  const kept: string[] = []
  for (const [index, given] of words.entries()) {
    const word = patternOfWord(given, words[index - 1], words[index + 1])
    if (word !== MASK && word.includes(MASK) && word === kept.at(-1)) continue
    kept.push(word)
  }
  return kept.join(' ')
}

/** A pattern in readable form. */
export const templateOf = (pattern: string): string => pattern.replaceAll(MASK, WILDCARD)

function patternOfWord(word: string, before: string | undefined, after: string | undefined): string {
  if (isDate(word, after ?? '')) return MASK
  if (word === '()' && before !== undefined) return `(${MASK})`
  if (before === 'user' && PLAIN_NAME.test(word)) {
    const comma = word.endsWith(',')
    if (comma || after === undefined || after === 'by' || after === 'from') return comma ? `${MASK},` : MASK
  }
  return /[=/.\0]/.test(word) ? byPieces(word) : word
}

const isDate = (word: string, after: string): boolean =>
  MONTH.test(word) ? after.startsWith(MASK) : DAY.test(word) && (after.startsWith(MASK) || MONTH.test(after))

function byPieces(word: string): string {
  const parts = word.split(DELIMITERS)
  let pattern = ''
  for (let index = 0; index < parts.length; index += 1) {
    const piece = patternOfPiece(parts[index] ?? '')
    pattern += piece
    if (piece.endsWith(`=${MASK}`) && parts[index + 1] === '{') index = closing(parts, index + 1)
  }
  return pattern
}

/** Returns the end of the brace that opens at `open`; its content belongs to the value before. */
function closing(parts: readonly string[], open: number): number {
  let depth = 0
  for (let index = open; index < parts.length; index += 1) {
    if (parts[index] === '{') depth += 1
    if (parts[index] === '}') depth -= 1
    if (depth === 0) return index
  }
  return parts.length
}

function patternOfPiece(piece: string): string {
  const equals = piece.indexOf('=')
  if (equals > 0 && equals < piece.length - 1 && NAME.test(piece.slice(0, equals))) return piece.slice(0, equals + 1) + MASK
  if (piece.includes('://')) return patternOfName(piece)
  return piece.split(':').map(patternOfName).join(':')
}

function patternOfName(name: string): string {
  const end = endOfName(name)
  const core = name.slice(0, end)
  return isPath(core) || isDottedName(core) ? MASK + name.slice(end) : withOneMask(core) + name.slice(end)
}

/** Excludes the punctuation that ends a sentence. */
function endOfName(name: string): number {
  let end = name.length
  while (end > 0 && '.:!?'.includes(name.charAt(end - 1))) end -= 1
  return end
}

function isPath(core: string): boolean {
  const first = core.indexOf('/')
  if (first < 0 || !/[\w\0]/.test(core)) return false
  return first === 0 || core.includes('.') || core.includes('/', first + 1)
}

function isDottedName(core: string): boolean {
  const segments = core.split('.')
  return segments.length > 2 && segments.every((segment) => SEGMENT.test(segment)) && !TELLING.test(segments.at(-1) ?? '')
}

/** Merges an identifier such as task_7_m_3 into task_ and one mask. */
function withOneMask(core: string): string {
  const first = core.indexOf(MASK)
  const last = core.lastIndexOf(MASK)
  return last > first && JOINED.test(core.slice(first, last)) ? core.slice(0, first) + core.slice(last) : core
}
