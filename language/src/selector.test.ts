import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type FieldDiagnostic, LanguageError } from './language-error.ts'
import { parseSelector, tagKey } from './selector.ts'

type Case = { text: string; fails: readonly string[]; fix?: string }

describe('invalid selectors', () => {
  test.each(readCases(readFileSync(new URL('cases/selector.txt', import.meta.url), 'utf8')))('$text', ({ text, fails, fix }) => {
    const [head = '', hint] = fails
    const problem = problemOf(text)
    const [code = '', position, length, ...message] = head.split(' ')
    expect([problem.code, problem.position, problem.length]).toEqual([code, Number(position), Number(length)])
    if (message.length > 0) expect(problem.message).toBe(message.join(' '))
    if (hint !== undefined) expect(problem.hint).toBe(hint)
    if (fix !== undefined) expect(fixed(text, problem)).toBe(fix)
  })
})

test('an error has a one-line message with the position, and the same facts as fields', () => {
  const failure = failureOf('team =')
  expect(failure.message).toBe("from_expr: expected a value after = (position 6): for example 500 or 'text'")
  expect(failure.problem).toEqual({
    field: 'from_expr',
    code: 'EXPECTED_VALUE',
    position: 6,
    length: 0,
    message: 'expected a value after =',
    hint: "for example 500 or 'text'",
  })
})

test('a tag is printed so that it is not mistaken for a built-in name', () => {
  expect(['environment', 'user name', 'log', 'collection', 'tag.x', 'tag.'].map(tagKey)).toEqual([
    'environment',
    'user name',
    'tag.log',
    'tag.collection',
    'tag.tag.x',
    'tag.tag.',
  ])
  for (const key of ['environment', 'user name', 'log', 'tag.x', 'tag.', '__proto__']) {
    expect(parseSelector(`"${tagKey(key)}" = 1`)).toEqual({ kind: 'in', subject: { kind: 'tag', key }, values: ['1'] })
  }
})

describe('the limits of a selector', () => {
  test('a selector may have 4096 characters, and the error points to the first character beyond', () => {
    const text = `team = '${'x'.repeat(4_096 - 9)}'`
    expect(parseSelector(text).kind).toBe('in')
    expect(problemOf(`${text} `)).toMatchObject({ code: 'TOO_LONG', position: 4_096 })
  })

  test('64 levels are read, the bracket of the next one is refused', () => {
    const nested = (levels: number) => `${'('.repeat(levels)}team = a${')'.repeat(levels)}`
    expect(parseSelector(nested(64)).kind).toBe('in')
    expect(problemOf(nested(65))).toMatchObject({ code: 'TOO_DEEP', position: 64, length: 1 })
    expect(problemOf(`${'NOT '.repeat(65)}team = a`)).toMatchObject({ code: 'TOO_DEEP', position: 256 })
    expect(problemOf('('.repeat(4_000))).toMatchObject({ code: 'TOO_DEEP', position: 64 })
  })

  test('500 conditions are read, the next one is refused', () => {
    const many = (count: number) => Array.from({ length: count }, () => 'a=1').join(' OR ')
    expect(parseSelector(many(500)).kind).toBe('or')
    expect(problemOf(many(501))).toMatchObject({ code: 'TOO_COMPLEX', position: 3_500 })
  })

  test('1000 items of a list are read, the next one is refused', () => {
    const many = (count: number) => `a IN (${Array.from({ length: count }, () => '1').join(',')})`
    expect(parseSelector(many(1_000)).kind).toBe('in')
    expect(problemOf(many(1_001))).toMatchObject({ code: 'LIST_TOO_LONG', position: 2_006 })
  })

  test('a key of 256 characters and a pattern of 1000 are read, longer ones are refused', () => {
    expect(parseSelector(`${'k'.repeat(256)} = 1`).kind).toBe('in')
    expect(problemOf(`${'k'.repeat(257)} = 1`)).toMatchObject({ code: 'KEY_TOO_LONG', position: 0, length: 257 })
    expect(parseSelector(`a LIKE '${'%'.repeat(1_000)}'`).kind).toBe('like')
    expect(problemOf(`a LIKE '${'%'.repeat(1_001)}'`)).toMatchObject({ code: 'REGEX_TOO_LONG', position: 7 })
  })

  test('a failure never repeats more than 100 characters of the text', () => {
    const word = 'w'.repeat(300)
    for (const text of [word, `${word}/ = 1`, `a = ${word} ${word}`, `a = ${word}*`, `${word}(`, `a LIKE ${word}`, `a IS '${word}'`]) {
      const { message, problem } = failureOf(text)
      expect(Math.max(0, ...[...`${message}${JSON.stringify(problem)}`.matchAll(/w+/g)].map(([run]) => run.length))).toBeLessThanOrEqual(
        100,
      )
    }
  })
})

function failureOf(text: string): LanguageError {
  try {
    parseSelector(text)
  } catch (thrown) {
    if (thrown instanceof LanguageError) return thrown
    throw thrown
  }
  throw new Error(`read without a failure: ${text}`)
}

const problemOf = (text: string): FieldDiagnostic => failureOf(text).problem

function fixed(text: string, { fix }: FieldDiagnostic): string | undefined {
  return fix && text.slice(0, fix.position) + fix.text + text.slice(fix.position + fix.length)
}

function readCases(file: string): Case[] {
  const read: Case[] = []
  for (const line of file.split('\n')) {
    const last = read.at(-1)
    if (line.startsWith('>> ')) read.push({ text: JSON.parse(line.slice(3)), fails: [] })
    else if (line.startsWith('> ')) read.push({ text: line.slice(2), fails: [] })
    else if (line.startsWith('fails ') && last) last.fails = line.slice('fails '.length).split(' | ')
    else if (line.startsWith('fix ') && last) last.fix = line.slice('fix '.length)
    else if (line !== '' && !line.startsWith('#')) throw new Error(`no case line: ${line}`)
  }
  return read
}
