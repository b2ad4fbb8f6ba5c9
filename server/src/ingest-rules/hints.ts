import type { Condition, Filter, Literal } from '@dendro/language/tree'

/**
 * A cheap test that is true for every text in which something may be found. It is false for most texts, so that these are not read. A text may hold
 * several lines.
 */
export type Hint = (text: string) => boolean

/** Escapes that may hide ordinary characters, and the NUL that the store leaves out. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finds them, since the store leaves them out.
const HIDING = /\\[^nrt"\\/]|\x00/
/** The characters that usual escapes hide. */
const ESCAPED = /["\\/\n\r\t\ufffd]/
/** Headers from which a level is derived that the text does not contain: syslog, glog and Android logs. */
const DERIVES_LEVEL = /<\d|[IWEF]\d{4} |\d [VDIWEFA] /
const LEVEL_KEYS: ReadonlySet<string> = new Set(['level', 'severity'])
/** Keys with values that the text of an event may not contain. */
const DERIVED_KEYS: ReadonlySet<string> = new Set(['pri', 'facility', 'partial'])
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes them.
const NOT_ASCII = /[^\x00-\x7f]/

const escapeRegex = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/**
 * A hint for a filter on arriving events; undefined when a text alone tells nothing. Besides the line, the text must contain what the protocol adds.
 */
export function hintOfFilter(filter: Filter): Hint | undefined {
  const hint = necessary(filter)
  return hint && ((text) => hint(text) || HIDING.test(text))
}

function necessary(filter: Filter): Hint | undefined {
  switch (filter.kind) {
    case 'all':
    case 'not':
      return undefined
    case 'and': {
      const hints = filter.of.map(necessary).filter((hint) => hint !== undefined)
      return hints.length === 0 ? undefined : (text) => hints.every((hint) => hint(text))
    }
    case 'or': {
      const hints = filter.of.map(necessary)
      return hints.every((hint) => hint !== undefined) ? (text) => hints.some((hint) => hint(text)) : undefined
    }
    default:
      return ofCondition(filter)
  }
}

function ofCondition(condition: Condition): Hint | undefined {
  if (condition.kind === 'contains') return anyCase(condition.text)
  const { key } = condition
  if ((key.startsWith('@') && key !== '@raw') || DERIVED_KEYS.has(key)) return undefined
  const inText = inTextOf(condition)
  if (!inText || !LEVEL_KEYS.has(key)) return inText
  return (text) => inText(text) || DERIVES_LEVEL.test(text)
}

function inTextOf(condition: Exclude<Condition, { kind: 'contains' }>): Hint | undefined {
  switch (condition.kind) {
    case 'compare':
      return condition.operator === '=' && condition.key !== '@raw' ? wholeValue([condition.value]) : undefined
    case 'in':
      return condition.negated || condition.key === '@raw' ? undefined : wholeValue(condition.values)
    case 'like': {
      if (condition.negated || condition.pattern.includes('\\')) return undefined
      const piece = longest(condition.pattern.split(/[%_]/))
      return condition.ignoreCase ? anyCase(piece) : inAnyText(piece)
    }
    default:
      return undefined
  }
}

const longest = (texts: readonly string[]): string => texts.reduce((best, text) => (text.length > best.length ? text : best), '')

const WHOLE_MAX = 20

/** Values stand between characters that no word has, or after an escape, and are not names of JSON. */
function wholeValue(literals: readonly Literal[]): Hint | undefined {
  if (!literals.every(({ kind }) => kind === 'text')) return undefined
  const isWhole = literals.length <= WHOLE_MAX && literals.every(({ text }) => !ESCAPED.test(text.replaceAll('/', '')))
  const values = literals.map(({ text }) => withoutEscapes(text))
  if (values.includes('')) return undefined
  const mayContain: Hint = (text) => values.some((value) => text.includes(value))
  if (!isWhole) return mayContain
  const regex = new RegExp(
    `(?:^|[^A-Za-z0-9_]|\\\\[nrt])(?:${literals.map(({ text }) => escapeRegex(text).replaceAll('\\/', '\\\\*\\/')).join('|')})(?![A-Za-z0-9_]|\\\\*"\\s{0,4}:)`,
  )
  return (text) => mayContain(text) && regex.test(text)
}

/** The longest part of a text that usual escapes leave as it is. */
const withoutEscapes = (text: string): string => longest(text.split(ESCAPED))

function inAnyText(piece: string): Hint | undefined {
  const part = withoutEscapes(piece)
  return part === '' ? undefined : (text) => text.includes(part)
}

/** Other scripts have letters that fold to ASCII. */
function anyCase(piece: string): Hint | undefined {
  const part = withoutEscapes(piece)
  if (part === '' || NOT_ASCII.test(part)) return undefined
  const regex = new RegExp(escapeRegex(part), 'i')
  return (text) => regex.test(text) || NOT_ASCII.test(text)
}

/**
 * A hint for a regular expression: the longest literal that each match contains. Undefined for an expression with alternatives, groups or flags, and
 * for one that contains no literal.
 */
export function hintOfRegex(pattern: string, ignoreCase: boolean): Hint | undefined {
  if (/[|(]/.test(pattern)) return undefined
  const pieces: string[] = []
  let piece = ''
  const end = () => {
    pieces.push(piece)
    piece = ''
  }
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] as string
    if (char === '\\') {
      const escaped = pattern[at + 1] ?? ''
      at += 1
      if (/[A-Za-z0-9]/.test(escaped)) {
        // Names of classes and code points may follow.
        if (!/[dDwWsSbB]/.test(escaped)) return undefined
        end()
      } else piece += escaped
    } else if (char === '[') {
      const close = pattern.indexOf(']', pattern[at + 1] === '^' ? at + 3 : at + 2)
      if (close < 0 || pattern.slice(at + 1, close).includes('[')) return undefined
      // An escaped bracket may be part of the class.
      if (pattern.slice(at, close).includes('\\')) return undefined
      at = close
      end()
    } else if (/[?*{]/.test(char)) {
      piece = piece.slice(0, -1)
      end()
      if (char === '{') {
        const close = pattern.indexOf('}', at)
        if (close < 0) return undefined
        at = close
      }
    } else if (/[+.^$]/.test(char)) end()
    else piece += char
  }
  end()
  const best = longest(pieces)
  if (best.length < 3) return undefined
  return ignoreCase ? anyCase(best) : (text) => text.includes(best)
}
