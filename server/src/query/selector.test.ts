import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Failure, type FieldProblem } from '../errors.ts'
import { matchDatasets, parseSelector, type Selectable } from './selector.ts'

type Case = { text: string; picks?: readonly string[]; fails?: readonly string[]; fix?: string }
type Named = Selectable & { short: string }

const { datasets, cases } = readCases(readFileSync(new URL('cases/selector.txt', import.meta.url), 'utf8'))

describe('the cases of the dataset selector', () => {
  test.each(cases)('$text', (one) => {
    if (one.picks) {
      expect(matchDatasets(parseSelector(one.text), datasets).map((dataset) => dataset.short)).toEqual(one.picks)
      return
    }
    const [head = '', hint] = one.fails ?? []
    const problem = problemOf(one.text)
    const [code = '', position, length, ...message] = head.split(' ')
    expect([problem.code, problem.position, problem.length]).toEqual([code, Number(position), Number(length)])
    if (message.length > 0) expect(problem.message).toBe(message.join(' '))
    if (hint !== undefined) expect(problem.hint).toBe(hint)
    if (one.fix !== undefined) expect(fixed(one.text, problem)).toBe(one.fix)
  })
})

test('the failure reads as one line with the position and carries the same in parts', () => {
  const failure = failureOf('team =')
  expect(failure.status).toBe(400)
  expect(failure.message).toBe("from_expr: expected a value after = (position 6): for example 500 or 'text'")
  expect(failure.errors).toEqual([
    {
      field: 'from_expr',
      code: 'EXPECTED_VALUE',
      position: 6,
      length: 0,
      message: 'expected a value after =',
      hint: "for example 500 or 'text'",
    },
  ])
})

describe('the limits of a selector', () => {
  test('4096 characters are read, the next one is refused where it stands', () => {
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
      const { message, errors } = failureOf(text)
      expect(Math.max(0, ...[...`${message}${JSON.stringify(errors)}`.matchAll(/w+/g)].map(([run]) => run.length))).toBeLessThanOrEqual(100)
    }
  })
})

function failureOf(text: string): Failure {
  try {
    parseSelector(text)
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
  throw new Error(`read without a failure: ${text}`)
}

function problemOf(text: string): FieldProblem {
  const problem = failureOf(text).errors?.[0]
  if (!problem) throw new Error('a failure without its parts')
  return problem
}

function fixed(text: string, { fix }: FieldProblem): string | undefined {
  return fix && text.slice(0, fix.position) + fix.text + text.slice(fix.position + fix.length)
}

function readCases(file: string): { datasets: Named[]; cases: Case[] } {
  const found: Named[] = []
  const read: Case[] = []
  for (const line of file.split('\n')) {
    const last = read.at(-1)
    if (line.startsWith('dataset ')) found.push(datasetOf(line.slice('dataset '.length), found.length + 1))
    else if (line.startsWith('>> ')) read.push({ text: JSON.parse(line.slice(3)) })
    else if (line.startsWith('> ')) read.push({ text: line.slice(2) })
    else if (line.startsWith('picks') && last) last.picks = line.split(' ').slice(1)
    else if (line.startsWith('fails ') && last) last.fails = line.slice('fails '.length).split(' | ')
    else if (line.startsWith('fix ') && last) last.fix = line.slice('fix '.length)
    else if (line !== '' && !line.startsWith('#')) throw new Error(`no case line: ${line}`)
  }
  return { datasets: found, cases: read }
}

function datasetOf(line: string, number: number): Named {
  const [short = '', place = '', ...pairs] = [...line.matchAll(/"([^"]*)"|\S+/g)].map((match) => match[1] ?? match[0])
  const [collection = '', dataset = ''] = place.split('/')
  const tags = Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
  return { short, id, collection, dataset, tags, is_system_generated: collection.startsWith('.') }
}
