import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Completion, completionsAt, parseText, type TraceableParser } from './completions.ts'
import { parseFilter } from './filter.ts'
import { filtersOf, freeText, keyOfAnyValue, nastyNumber, nastyText } from './filters.fixture.ts'
import { parseFormula } from './formula.ts'
import { functionCompletions } from './functions.ts'
import { printFilter } from './print.ts'
import { parseGroups, parseSelect } from './select.ts'
import { parseSelector } from './selector.ts'
import { anySelector, printSelector } from './selectors.fixture.ts'

const filter: TraceableParser = (text, notes) => parseFilter(text, 'where', { trace: notes })
const selector: TraceableParser = (text, notes) => parseSelector(text, notes)
const item: TraceableParser = (text, notes) => parseSelect([text], 'select', notes)
const keys: TraceableParser = (text, notes) => parseGroups([text], 'groups', notes)
const formula: TraceableParser = (text, notes) => parseFormula(text, ['a', 'errors'], 'expression', notes)

/** Prints the completions at the end of a text, with the start of the replaced range first. */
const reported = (read: TraceableParser, text: string): string[] =>
  completionsAt(read, text, text.length).map((offer) => {
    const what =
      'words' in offer ? offer.words.join(' ') : offer.kind === 'value' || offer.kind === 'pattern' ? `${offer.key} ${offer.operator}` : ''
    const how = offer.kind === 'key' ? offer.style : what
    return `${offer.from} ${offer.kind}${how === '' ? '' : ` ${how}`}`
  })

describe('completions at the end of a filter', () => {
  test.each<[string, string[]]>([
    ['', ['0 everything', '0 key any', '0 text', '0 words NOT ( EXISTS']],
    ['sta', ['0 everything', '0 key any', '0 text', '0 words NOT ( EXISTS']],
    ['@sequence ', ['10 operator = != <> < <= > >= IS IN BETWEEN NOT']],
    ['level =', ['6 operator = != <> < <= > >= ~ !~ ~* !~* IS IN LIKE ILIKE BETWEEN REGEXP NOT', '7 value level =']],
    ["level = 'er", ['8 value level =']],
    ['level:er', ['0 everything', '0 key any', '0 text', '0 words NOT ( EXISTS', '6 value level =']],
    ['level IN (5, ', ['13 value level IN']],
    ['level NOT ', ['10 operator IN LIKE ILIKE BETWEEN REGEXP', '10 key short', '10 text', '10 words NOT (']],
    ['level IS ', ['9 words NOT', '9 words NULL']],
    ["level LIKE 'x' ", ['15 words ESCAPE', '15 words AND', '15 words OR']],
    ['(a = 1 ', ['7 words AND', '7 words OR', '7 words )']],
    ['a BETWEEN 1 ', ['12 words AND']],
    ['EXISTS ', ['7 words (', '7 key plain']],
  ])('%s', (text, offers) => expect(reported(filter, text)).toEqual(offers))
})

describe('completions at the end of a selector', () => {
  test.each<[string, string[]]>([
    ['', ['0 everything', '0 key any', '0 words NOT ( EXISTS']],
    ['env', ['0 everything', '0 key any', '0 words NOT ( EXISTS']],
    ['env ', ['4 operator = != <> IS IN LIKE ILIKE NOT']],
    ['env NOT ', ['8 operator IN LIKE ILIKE']],
    ["env = 'pr", ['6 value env =']],
    ['log != ', ['7 value log !=']],
    ["env IN ('a', ", ['13 value env IN']],
    ["env LIKE '", ['9 pattern env LIKE']],
    ['env IS ', ['7 words NOT', '7 words NULL']],
    ["(env = 'a' ", ['11 words AND', '11 words OR', '11 words )']],
    ["env = 'a' AND ", ['14 key any', '14 words NOT ( EXISTS']],
    ['EXISTS ', ['7 words (', '7 key plain']],
  ])('%s', (text, offers) => expect(reported(selector, text)).toEqual(offers))
})

describe('completions at the end of the other texts', () => {
  test.each<[string, TraceableParser, string, string[]]>([
    ['an item', item, 'p9', ['0 everything', '0 function', '0 key plain']],
    ['an argument', item, 'p95(', ['3 words (', '4 key plain']],
    ['an argument of a count', item, 'count(', ['5 words (', '6 everything', '6 words )', '6 key plain', '6 words DISTINCT']],
    ['a number', item, 'percentile(a, ', ['14 number']],
    ['a name', item, 'count(*) ', ['9 words AS']],
    ['a key', keys, 'a, b', ['3 key plain']],
    ['the next key', keys, 'a ', ['2 words ,']],
    ['a query', formula, 'errors / ', ['9 words -', '9 name', '9 number', '9 words (']],
    ['a sign', formula, '(errors ', ['8 words * /', '8 words + -', '8 words )']],
  ])('%s', (_, read, text, offers) => expect(reported(read, text)).toEqual(offers))
})

const filters = filtersOf({
  keys: keyOfAnyValue,
  texts: nastyText,
  numbers: nastyNumber,
  others: freeText(nastyText),
  depth: 3,
})
const texts = fc.oneof(
  filters.map((one) => ({ text: printFilter(one), read: filter })),
  anySelector.map((one) => ({ text: printSelector(one), read: selector })),
)
const cuts = fc.tuple(texts, fc.nat()).map(([{ text, read }, number]) => ({ text, read, cut: number % (text.length + 1) }))

test('a filter or selector cut at any position is completed to the original', () => {
  fc.assert(
    fc.property(cuts, ({ text, read, cut }) => {
      const token = tokensOf(text).find(({ from, to }) => (from < cut && cut <= to) || from === cut)
      if (!token) return
      const isGlued = token.from === cut && /[^\s(),=<>!~]$/.test(text.slice(0, cut))
      const offers = completionsAt(read, text, cut).filter(({ from }) => from === token.from)
      expect(offers.some((offer) => isGlued || fits(offer, token.text))).toBe(!isGlued || offers.length > 0)
    }),
    { numRuns: 1_000 },
  )
})

test('every completion yields a valid or continuable filter or selector', () => {
  fc.assert(
    fc.property(cuts, ({ text, read, cut }) => {
      for (const offer of completionsAt(read, text, cut)) {
        for (const taken of samplesOf(offer)) {
          const next = text.slice(0, offer.from) + taken
          const { problem, isOpen } = parseText(read, next)
          expect(problem === undefined || isOpen, `${JSON.stringify(next)} by ${JSON.stringify(offer)}: ${problem?.message}`).toBe(true)
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('every offered function can be called with its documented arguments', () => {
  const argument = { star: '*', key: 'k', 'key, number': 'k, 97.5' }
  for (const { name, takes } of functionCompletions) expect(() => parseSelect([`${name}(${argument[takes]})`])).not.toThrow()
})

test('the pieces of a filter are its keys, operators, values and words', () => {
  const text = `NOT (level:error OR "a b" >= 5) AND c NOT IN ('x', y) AND e BETWEEN 1 AND 2 AND EXISTS d 'free'`
  const { pieces } = parseText(filter, text)
  const last = new Map(pieces.map((piece) => [piece.position, piece]))
  expect([...last.values()].map(({ kind, position, length }) => `${kind} ${text.slice(position, position + length)}`)).toEqual([
    'word NOT',
    'key level',
    'operator :',
    'value error',
    'word OR',
    'key "a b"',
    'operator >=',
    'value 5',
    'word AND',
    'key c',
    'operator NOT',
    'operator IN',
    "value 'x'",
    'value y',
    'word AND',
    'key e',
    'operator BETWEEN',
    'value 1',
    'operator AND',
    'value 2',
    'word AND',
    'operator EXISTS',
    'key d',
  ])
})

test('the pieces of a selector are its keys, operators, values and words', () => {
  const text = `NOT (log = a OR "a b" != 5) AND c NOT IN ('x', y) AND EXISTS d AND e LIKE '%'`
  const { pieces, joinPoints: joints } = parseText(selector, text)
  expect(pieces.map(({ kind, position, length }) => `${kind} ${text.slice(position, position + length)}`)).toEqual([
    'word NOT',
    'key log',
    'operator =',
    'value a',
    'word OR',
    'key "a b"',
    'operator !=',
    'value 5',
    'word AND',
    'key c',
    'operator NOT',
    'operator IN',
    "value 'x'",
    'value y',
    'word AND',
    'operator EXISTS',
    'key d',
    'word AND',
    'key e',
    'operator LIKE',
    "value '%'",
  ])
  expect(joints.map(({ word, position }) => `${word} ${position}`)).toEqual(['AND 28', 'AND 50', 'AND 63'])
})

test('incomplete input is distinguished from invalid input', () => {
  const open = ['level', 'level =', "level = 'err", '(a = 1', 'a BETWEEN 1', 'a = 1 AND', 'a IN (1,', 'a IS', '@status']
  for (const text of open) expect(parseText(filter, text).isOpen || parseText(filter, text).problem === undefined, text).toBe(true)
  for (const text of ['level == 5', 'a = b* AND c = 1', 'a = 1 )', "x ~ 'a' b = 5"]) {
    expect(parseText(filter, text), text).toMatchObject({ isOpen: false, problem: { field: 'where' } })
  }
})

type Piece = { from: number; to: number; text: string }

/** Splits a printed filter into tokens, independently of the scanner. */
const tokensOf = (text: string): Piece[] =>
  [...text.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[=<>!~]+\*?|[(),]|[^\s'"=<>!~(),]+/g)].map((match) => ({
    text: match[0],
    from: match.index,
    to: match.index + match[0].length,
  }))

function fits(offer: Completion, token: string): boolean {
  const isRun = !/^['"=<>!~(),]/.test(token)
  switch (offer.kind) {
    case 'key':
      return isRun || token.startsWith('"')
    case 'text':
    case 'value':
      return isRun || /^['"]/.test(token)
    case 'pattern':
      return token.startsWith("'")
    case 'everything':
      return token === '*'
    case 'words':
    case 'operator':
      return offer.words.includes(token.toUpperCase())
    default:
      return false
  }
}

function samplesOf(offer: Completion): readonly string[] {
  switch (offer.kind) {
    case 'key':
      return [offer.style === 'short' ? 'k:' : 'k', offer.style === 'short' ? '"k k":' : '"k k"']
    case 'words':
    case 'operator':
      return offer.words
    case 'everything':
      return ['*']
    default:
      return 'key' in offer && offer.key === 'log_id' ? ["'00000000-0000-4000-8000-000000000001'"] : ["'v'"]
  }
}
