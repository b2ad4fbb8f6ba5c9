import type { Condition, Filter, Literal } from '@dendro/language/tree'
import { literalOf, type SearchedLiteral } from '../lines/search/literal-tables.ts'
import { FOLDED_TO_ASCII } from '../query/like.ts'
import type { SearchedText } from './searched-text.ts'

/**
 * A cheap test that is true for every text in which something may be found. It is false for most texts, so that these are not read. A text may hold
 * several lines. Each line for which it is true contains one of the literals; without them, nothing is known. With `isExact` the test tells no more
 * about a line than the search for the literals.
 */
export type Hint = {
  readonly test: (text: SearchedText) => boolean
  readonly literals: readonly SearchedLiteral[] | undefined
  readonly isExact?: boolean
}

/** Escapes that may hide ordinary characters, and the NUL that the store leaves out. */
export const HIDING_LITERALS: readonly SearchedLiteral[] = [{ kind: 'escape' }, literalOf('\0')]
/** The characters that usual escapes hide. */
const ESCAPED = /["\\/\n\r\t\ufffd]/
const ESCAPED_OR_SLASH = /["\\\n\r\t\ufffd]|(?=\/)/
const LEVEL_KEYS: ReadonlySet<string> = new Set(['level', 'severity'])
/** Keys with values that the text of an event may not contain. */
const DERIVED_KEYS: ReadonlySet<string> = new Set(['pri', 'facility', 'partial'])
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes them.
const NOT_ASCII = /[^\x00-\x7f]/

const escapeRegex = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/** True where one of the hints is. */
export function anyOf(hints: readonly Hint[]): Hint {
  const tests = hints.map(({ test }) => test)
  const literals = hints.map((hint) => hint.literals)
  return {
    test: (text) => tests.some((test) => test(text)),
    literals: literals.every((of) => of !== undefined) ? literals.flat() : undefined,
  }
}

/** True where all of the hints are. */
export function allOf(hints: readonly Hint[]): Hint {
  const tests = hints.map(({ test }) => test)
  const known = hints.map(({ literals }) => literals).filter((literals) => literals !== undefined)
  return {
    test: (text) => tests.every((test) => test(text)),
    literals: known.toSorted((a, b) => shortestIn(b) - shortestIn(a))[0],
  }
}

/** Long literals are rare. */
const shortestIn = (literals: readonly SearchedLiteral[]): number =>
  Math.min(...literals.flatMap((one) => ('bytes' in one ? [one.bytes.length > 1 ? one.bytes.length : 100] : [])))

export const testOf = (test: (text: string) => boolean, ...literals: readonly SearchedLiteral[]): Hint => ({
  test: ({ text }) => test(text),
  literals,
})

/** A hint that is true also where escapes hide what it looks for. */
export const orHidden = ({ test, literals }: Hint): Hint => ({
  test: (text) => test(text) || (text.mayHide && (text.forms.isDeep || text.forms.all.some(test))),
  literals: literals && [...literals, ...HIDING_LITERALS],
})

/**
 * A hint for a filter on arriving events; undefined when a text alone tells nothing. Besides the line, the text must contain what the protocol adds.
 */
export function hintOfFilter(filter: Filter): Hint | undefined {
  const hint = necessary(filter)
  return hint && orHidden(hint)
}

function necessary(filter: Filter): Hint | undefined {
  switch (filter.kind) {
    case 'all':
    case 'not':
      return undefined
    case 'and': {
      const hints = filter.of.map(necessary).filter((hint) => hint !== undefined)
      return hints.length === 0 ? undefined : allOf(hints)
    }
    case 'or': {
      const hints = filter.of.map(necessary)
      return hints.every((hint) => hint !== undefined) ? anyOf(hints) : undefined
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
  return anyOf([inText, derivedLevels(condition)])
}

/** The codes of levels in lines of glog and Android. */
const LEVEL_CODES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ verbose: 'V', debug: 'D', info: 'I', warning: 'W', error: 'E', fatal: 'FA' }),
)
/** The levels of syslog, in the order of their numbers. */
const SYSLOG = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug']
const PRIORITIES = 192

/** True for texts with a header from which such a level is derived, although the text does not contain it: syslog, glog and Android logs. */
function derivedLevels(condition: Exclude<Condition, { kind: 'contains' }>): Hint {
  const values =
    condition.kind === 'compare' ? [condition.value.text] : condition.kind === 'in' ? condition.values.map(({ text }) => text) : undefined
  const isWanted = (level: string): boolean => values === undefined || values.includes(level)
  const codes = [...LEVEL_CODES].flatMap(([level, of]) => (isWanted(level) ? [...of] : []))
  const priorities = Array.from({ length: PRIORITIES }, (_, at) => at).filter((at) => isWanted(SYSLOG[at % SYSLOG.length] ?? ''))
  const parts = [
    ...(codes.length === 0 ? [] : [`\\d [${codes.join('')}] `, `[${codes.join('')}]\\d{4} `]),
    ...(priorities.length === 0 ? [] : [`<0{0,2}(?:${priorities.join('|')})>`]),
  ]
  const regex = new RegExp(parts.join('|'))
  return testOf(
    parts.length === 0 ? () => false : (text) => regex.test(text),
    ...codes.flatMap((code) => [literalOf(`# ${code} `, { digits: true }), literalOf(`${code}#### `, { digits: true })]),
    ...(priorities.length === 0 ? [] : [literalOf('<#', { digits: true })]),
  )
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
  const mayContain = (text: string): boolean => values.some((value) => text.includes(value))
  const searched = literals.map(({ text }) => searchedValue(text, isWhole))
  if (!isWhole) return testOf(mayContain, ...searched)
  const regex = new RegExp(
    `(?:^|[^A-Za-z0-9_]|\\\\[nrt])(?:${literals.map(({ text }) => escapeRegex(text).replaceAll('\\/', '\\\\*\\/')).join('|')})(?![A-Za-z0-9_]|\\\\*"\\s{0,4}:)`,
  )
  return testOf((text) => mayContain(text) && regex.test(text), ...searched)
}

/** The longest part of a value that stands in the text of an event as it is, where a slash may have a backslash before it. */
function searchedValue(text: string, isWhole: boolean): SearchedLiteral {
  const part = longest(text.split(ESCAPED_OR_SLASH))
  return literalOf(part, { isWord: isWhole && part === text })
}

/** The longest part of a text that usual escapes leave as it is. */
const withoutEscapes = (text: string): string => longest(text.split(ESCAPED))

function inAnyText(piece: string): Hint | undefined {
  const part = withoutEscapes(piece)
  return part === '' ? undefined : testOf((text) => text.includes(part), literalOf(part))
}

function anyCase(piece: string): Hint | undefined {
  const part = withoutEscapes(piece)
  if (part === '' || NOT_ASCII.test(part)) return undefined
  const regex = new RegExp(`${escapeRegex(part)}|[${FOLDED_TO_ASCII}]`, 'i')
  return testOf((text) => regex.test(text), literalOf(part, { anyCase: true }), ...[...FOLDED_TO_ASCII].map((char) => literalOf(char)))
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
  const best = longest(pieces.map(withoutEscapes))
  if (best.length < 3) return undefined
  return ignoreCase ? anyCase(best) : testOf((text) => text.includes(best), literalOf(best))
}
