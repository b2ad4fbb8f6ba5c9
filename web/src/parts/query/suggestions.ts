import { type Completion, completionsAt, type TraceableParser } from '@dendro/language/completions'
import { functionCompletions } from '@dendro/language/functions'
import { isKeyword } from '@dendro/language/keyword'
import { quoted } from '@dendro/language/language-error'
import { isNumber } from '@dendro/language/number'
import { printKey } from '@dendro/language/print'
import { compact } from '../chart/numbers.ts'
import type { Field } from './fields.ts'

/** A Suggestion replaces the text from `from` to `to`; goesOn means that more input must follow. */
export type Suggestion = { label: string; insert: string; note: string; goesOn: boolean; from: number; to: number }

/** A Vocabulary has the built-in names of a language and the meanings of its operators. */
export type Vocabulary = {
  readonly builtIns: readonly string[]
  readonly meanings: Readonly<Record<string, readonly (readonly [label: string, note: string])[]>>
}

/** The parser of a text and the sources of its suggestions: keys, query names, recent queries. */
export type QueryContext = {
  readonly read: TraceableParser
  readonly fields: readonly Field[]
  /** vocabulary defaults to that of event queries. */
  readonly vocabulary?: Vocabulary
  readonly names?: readonly string[] | undefined
  readonly recent?: readonly string[] | undefined
}

type SuggestionText = { label: string; insert: string; note: string }

const SHOWN_MAX = 14
const RECENT_SHOWN = 8
const meanings: Vocabulary['meanings'] = {
  '=': [['=', 'is']],
  '!=': [['!=', 'is not, and exists']],
  '>': [['>', 'more than']],
  '>=': [['>=', 'at least']],
  '<': [['<', 'less than']],
  '<=': [['<=', 'at most']],
  LIKE: [['LIKE', 'with % and _']],
  ILIKE: [['ILIKE', 'with % and _, ignoring case']],
  IN: [['IN (', 'one of']],
  BETWEEN: [['BETWEEN', 'from AND to']],
  REGEXP: [['REGEXP', 'matches']],
  IS: [
    ['IS NULL', 'is absent'],
    ['IS NOT NULL', 'exists'],
  ],
  NOT: [
    ['NOT IN (', 'none of'],
    ['NOT LIKE', 'not with % and _'],
  ],
}
/** The vocabulary of event queries. */
export const eventVocabulary: Vocabulary = { builtIns: ['@status', '@raw', '@time', '@origin', '@pattern', '$ingest.time'], meanings }
const statuses = ['error', 'warn', 'info'].map((value) => ({ value, count: 0 }))
const connectives: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    AND: 'both',
    OR: 'either',
    NOT: 'not',
    EXISTS: 'the field exists',
  }),
)
/** Prefix matches come first, then the expected kind; other words that the grammar allows need a prefix. */
const order: readonly Completion['kind'][] = ['value', 'operator', 'name', 'function', 'key', 'words']

/** Lists what the parser accepts at the cursor. */
export function suggestionsAt(text: string, cursor: number, known: QueryContext): Suggestion[] {
  if (text.trim() === '' && known.recent && known.recent.length > 0) {
    return known.recent
      .slice(0, RECENT_SHOWN)
      .map((query) => ({ label: query, insert: query, note: 'recent', goesOn: false, from: 0, to: text.length }))
  }
  const rank = ({ kind, typed }: Completion) => order.indexOf(kind) + (typed === '' ? order.length : 0)
  const offers = completionsAt(known.read, text, cursor).toSorted((one, other) => rank(one) - rank(other))
  const isMain = offers.every(({ kind }) => kind === 'words')
  const found = offers.flatMap((offer) => {
    const to = endOf(text, cursor, offer.typed)
    return wordingsOf(offer, known, isMain).map((wording) => ({ ...fitted(wording, text, to), goesOn: goesOn(offer), from: offer.from }))
  })
  return found.filter((one, at) => found.findIndex(({ label }) => label === one.label) === at).slice(0, SHOWN_MAX)
}

const goesOn = (offer: Completion): boolean =>
  offer.kind === 'operator' || offer.kind === 'function' || (offer.kind === 'key' && offer.style !== 'plain')

/** The end of the word at the cursor; after an operator or quote it is the cursor. */
function endOf(text: string, cursor: number, typed: string): number {
  if (typed === '' || /^['"=<>!~]/.test(typed)) return cursor
  return cursor + (/^[^\s(),'"=<>!~:]*/.exec(text.slice(cursor))?.[0].length ?? 0)
}

/** fitted avoids a double space after the insertion. */
const fitted = (wording: SuggestionText, text: string, to: number): SuggestionText & { to: number } => ({
  ...wording,
  to: wording.insert.endsWith(' ') && text[to] === ' ' ? to + 1 : to,
})

function wordingsOf(
  offer: Completion,
  { fields, names = [], vocabulary = eventVocabulary }: QueryContext,
  isMain: boolean,
): SuggestionText[] {
  const { typed } = offer
  switch (offer.kind) {
    case 'key':
      return offer.style === 'short' && typed === '' ? [] : keys(typed.replace(/^"/, ''), offer.style, fields, vocabulary)
    case 'value':
      return values(offer.key, typed, offer.operator === 'IN' ? '' : ' ', fields)
    case 'operator':
      return operators(offer.words, typed.toUpperCase(), vocabulary)
    case 'function':
      return functionCompletions
        .filter(({ name }) => name.startsWith(typed.toLowerCase()) && name !== typed)
        .map(({ name, takes, description: says }) => ({
          label: `${name}(${takes === 'star' ? '*' : takes})`,
          insert: takes === 'star' ? `${name}(*)` : `${name}(`,
          note: says,
        }))
    case 'name':
      return names
        .filter((name) => name.startsWith(typed) && name !== typed)
        .map((name) => ({ label: name, insert: `${printKey(name)} `, note: 'query' }))
    case 'words':
      return offer.words
        .filter((word) => (isMain || typed !== '') && word.startsWith(typed.toUpperCase()) && word !== typed.toUpperCase())
        .map((word) => ({ label: word, insert: /^[A-Z,]/.test(word) ? `${word} ` : word, note: connectives.get(word) ?? '' }))
    default:
      return []
  }
}

/** Sorts prefix matches first, then by frequency. */
function keys(typed: string, style: 'any' | 'short' | 'plain', fields: readonly Field[], { builtIns }: Vocabulary): SuggestionText[] {
  const low = typed.toLowerCase()
  if (style === 'plain' && fields.some(({ name }) => name === typed)) return []
  const all = [
    ...fields.map(({ name, count }) => ({ name, note: compact(count) })),
    ...builtIns.map((name) => ({ name, note: 'built in' })),
  ]
  const found = all.filter(({ name }) => name.toLowerCase().includes(low))
  const isFirst = ({ name }: { name: string }) => name.toLowerCase().startsWith(low)
  const after = { any: ' ', short: ':', plain: '' }[style]
  return [...found.filter(isFirst), ...found.filter((one) => !isFirst(one))]
    .slice(0, SHOWN_MAX)
    .map(({ name, note }) => ({ label: name, insert: `${printKey(name)}${after}`, note }))
}

const operators = (words: readonly string[], typed: string, { meanings: of }: Vocabulary): SuggestionText[] =>
  words
    .filter((word) => word.startsWith(typed) && word !== typed && (word !== 'NOT' || typed !== ''))
    .flatMap((word) => of[word] ?? (typed === '' ? [] : [[word, ''] as const]))
    .map(([label, note]) => ({ label, insert: label.endsWith('(') ? label : `${label} `, note }))

function values(key: string, typed: string, after: string, fields: readonly Field[]): SuggestionText[] {
  const known = key === '@status' ? statuses : (fields.find(({ name, also }) => name === key || also === key)?.values ?? [])
  const low = typed.replace(/^['"]/, '').toLowerCase()
  return known
    .filter(({ value }) => value !== '' && value.toLowerCase().startsWith(low) && value !== typed)
    .slice(0, SHOWN_MAX)
    .map(({ value, count }) => ({
      label: value,
      insert: `${isNumber(value) && !isKeyword(value) ? value : quoted(value)}${after}`,
      note: count === 0 ? '' : compact(count),
    }))
}
