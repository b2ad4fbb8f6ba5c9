import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseFilter as parse } from './filter.ts'
import { type FieldDiagnostic, LanguageError } from './language-error.ts'
import { regexProblem } from './regex.ts'
import type { Filter, Literal } from './tree.ts'

const parseFilter = (text: string) => parse(text, 'where', { regexProblem })

type ExpectedWarning = { warning: string; fix?: string }
type Case = { text: string; tree?: string; fails?: ExpectedWarning; warns: ExpectedWarning[] }

describe('the cases of the filter', () => {
  test.each(readCases(readFileSync(new URL('cases/filter.txt', import.meta.url), 'utf8')))('$text', ({ text, tree, fails, warns }) => {
    if (fails) {
      expect(doubtOf(text, problemOf(text))).toEqual(fails)
      return
    }
    const { filter, warnings } = parseFilter(text)
    expect(treeOf(filter)).toBe(tree)
    expect(warnings.map((warning) => doubtOf(text, warning))).toEqual(warns)
  })
})

test('an error has a one-line message with the position, and the same facts as fields', () => {
  const failure = failureOf('status =')
  expect(failure.message).toBe("where: expected a value after = (position 8): for example 500 or 'text'")
  expect(failure.problem).toEqual({
    field: 'where',
    code: 'EXPECTED_VALUE',
    position: 8,
    length: 0,
    message: 'expected a value after =',
    hint: "for example 500 or 'text'",
  })
})

test('an error names the request field that holds the filter', () => {
  expect(() => parse('a =', 'queries[2].where')).toThrow('queries[2].where: expected a value after =')
})

test('conditions have positions, also after surrogate pairs', () => {
  const { filter } = parseFilter('\'🦊\' AND (a = 1 OR "b c":>2)')
  expect(filter).toMatchObject({
    of: [{ at: { position: 0, length: 4 } }, { of: [{ at: { position: 10, length: 5 } }, { at: { position: 19, length: 8 } }] }],
  })
})

describe('the limits of a filter', () => {
  test('a filter may have 32768 characters, and the error points to the first character beyond', () => {
    const text = `team = '${'x'.repeat(32_768 - 9)}'`
    expect(parseFilter(text).filter.kind).toBe('compare')
    expect(problemOf(`${text} `)).toMatchObject({ code: 'TOO_LONG', position: 32_768 })
  })

  test('64 levels are read, the bracket of the next one is refused', () => {
    const nested = (levels: number) => `${'('.repeat(levels)}team = a${')'.repeat(levels)}`
    expect(parseFilter(nested(64)).filter.kind).toBe('compare')
    expect(problemOf(nested(65))).toMatchObject({ code: 'TOO_DEEP', position: 64, length: 1 })
    expect(problemOf(`${'NOT '.repeat(65)}team = a`)).toMatchObject({ code: 'TOO_DEEP', position: 256 })
    expect(problemOf('('.repeat(30_000))).toMatchObject({ code: 'TOO_DEEP', position: 64 })
  })

  test('500 conditions are read, the next one is refused', () => {
    const many = (count: number) => Array.from({ length: count }, () => 'a=1').join(' OR ')
    expect(parseFilter(many(500)).filter.kind).toBe('or')
    expect(problemOf(many(501))).toMatchObject({ code: 'TOO_COMPLEX', position: 3_500 })
    expect(problemOf('word '.repeat(501))).toMatchObject({ code: 'TOO_COMPLEX', position: 2_500 })
  })

  test('1000 items of a list are read, the next one is refused', () => {
    const many = (count: number) => `a IN (${Array.from({ length: count }, () => '1').join(',')})`
    expect(parseFilter(many(1_000)).filter.kind).toBe('in')
    expect(problemOf(many(1_001))).toMatchObject({ code: 'LIST_TOO_LONG', position: 2_006 })
  })

  test('a key of 256 characters and a pattern of 1000 are read, longer ones are refused', () => {
    expect(parseFilter(`${'k'.repeat(256)} = 1`).filter.kind).toBe('compare')
    expect(problemOf(`${'k'.repeat(257)} = 1`)).toMatchObject({ code: 'KEY_TOO_LONG', position: 0, length: 257 })
    for (const operator of ['LIKE', 'ILIKE', '~', 'REGEXP']) {
      const at = operator.length + 3
      expect(parseFilter(`a ${operator} '${'x'.repeat(1_000)}'`).filter.kind).toMatch(/like|regex/)
      expect(problemOf(`a ${operator} '${'x'.repeat(1_001)}'`)).toMatchObject({ code: 'REGEX_TOO_LONG', position: at })
    }
  })

  test('at most twenty warnings are reported', () => {
    expect(parseFilter(Array.from({ length: 50 }, () => 'a = "x"').join(' OR ')).warnings).toHaveLength(20)
  })

  test('a failure never repeats more than 100 characters of the text', () => {
    const word = 'w'.repeat(300)
    const texts = [
      `${word}/ = 1`,
      `a = ${word} ${word}`,
      `a = ${word}*`,
      `${word}(`,
      `a LIKE ${word}`,
      `a IS '${word}'`,
      `${word} is ${word}`,
      `${word} in ${word}`,
      `${word}:`,
      `${word}:(${word})`,
      `http://${word}`,
      `1:${word}`,
      `-${word}`,
      `${word}*`,
      `@${word}`,
      `${word} a = 1`,
      `@time > ${word}`,
      `@sequence > ${word}`,
      `'${word}' = 1`,
      `a ~ '(${word}'`,
    ]
    for (const text of texts) {
      const { message, problem } = failureOf(text)
      expect(longestRun(`${message}${JSON.stringify(problem)}`)).toBeLessThanOrEqual(100)
    }
    for (const text of [`a = "${word}"`, `a LIKE '${word}'`, `a = '${word}*'`, `a = ${word} OR ${word}`, `a LIKE '${word}\\%'`]) {
      expect(longestRun(JSON.stringify(parseFilter(text).warnings))).toBeLessThanOrEqual(100)
    }
  })
})

const longestRun = (text: string): number => Math.max(0, ...[...text.matchAll(/w+/g)].map(([run]) => run.length))

function failureOf(text: string): LanguageError {
  try {
    parseFilter(text)
  } catch (thrown) {
    if (thrown instanceof LanguageError) return thrown
    throw thrown
  }
  throw new Error(`read without a failure: ${text}`)
}

const problemOf = (text: string): FieldDiagnostic => failureOf(text).problem

/** Prints a diagnostic in the notation of the cases. */
function doubtOf(text: string, { code, position, length, message, hint, fix }: FieldDiagnostic): ExpectedWarning {
  const warning = `${code} ${position} ${length} ${message}${hint === undefined ? '' : ` | ${hint}`}`
  return fix
    ? { warning: warning, fix: text.slice(0, fix.position) + fix.text + text.slice(fix.position + fix.length) }
    : { warning: warning }
}

/** Prints a tree with parentheses, each with its operator first. */
function treeOf(filter: Filter): string {
  switch (filter.kind) {
    case 'all':
      return '(all)'
    case 'and':
    case 'or':
      return `(${filter.kind} ${filter.of.map(treeOf).join(' ')})`
    case 'not':
      return `(not ${treeOf(filter.of)})`
    case 'compare':
      return `(${filter.operator} ${keyOf(filter.key)} ${literalOf(filter.value)})`
    case 'in':
      return `(${not(filter)}in ${keyOf(filter.key)} ${filter.values.map(literalOf).join(' ')})`
    case 'between':
      return `(${not(filter)}between ${keyOf(filter.key)} ${literalOf(filter.low)} ${literalOf(filter.high)})`
    case 'like':
    case 'regex':
      return `(${not(filter)}${filter.ignoreCase ? 'i' : ''}${filter.kind} ${keyOf(filter.key)} ${JSON.stringify(filter.pattern)})`
    case 'exists':
      return `(${filter.negated ? 'absent' : 'exists'} ${keyOf(filter.key)})`
    case 'contains':
      return `(contains ${JSON.stringify(filter.text)})`
  }
}

const not = ({ negated }: { negated: boolean }): string => (negated ? 'not-' : '')
const keyOf = (key: string): string => (/^[^\s()"]+$/.test(key) ? key : JSON.stringify(key))
const literalOf = (literal: Literal): string => (literal.kind === 'text' ? JSON.stringify(literal.text) : literal.text)

function readCases(file: string): Case[] {
  const read: Case[] = []
  for (const line of file.split('\n')) {
    const last = read.at(-1)
    if (line.startsWith('>> ')) read.push({ text: JSON.parse(line.slice(3)), warns: [] })
    else if (line.startsWith('> ')) read.push({ text: line.slice(2), warns: [] })
    else if (line.startsWith('tree ') && last) last.tree = line.slice('tree '.length)
    else if (line.startsWith('fails ') && last) last.fails = { warning: line.slice('fails '.length) }
    else if (line.startsWith('warns ') && last) last.warns.push({ warning: line.slice('warns '.length) })
    else if (line.startsWith('fix ') && last) Object.assign(last.warns.at(-1) ?? last.fails ?? {}, { fix: line.slice('fix '.length) })
    else if (line !== '' && !line.startsWith('#')) throw new Error(`no case line: ${line}`)
  }
  return read
}
