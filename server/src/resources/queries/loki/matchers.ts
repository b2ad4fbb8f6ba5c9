import { compileRegex } from '@dendro/language/regex'
import { anchoredPattern } from './logql/parse-conditions.ts'
import type { LabelMatcher } from './logql/tree.ts'

/** Compiles the test of a matcher on the value of its label; an absent label is empty. */
export function valueTest({ operator, value }: Pick<LabelMatcher, 'operator' | 'value'>): (text: string) => boolean {
  if (operator === '=') return (text) => text === value
  if (operator === '!=') return (text) => text !== value
  const regex = compileRegex({ pattern: anchoredPattern(value), ignoreCase: false })
  return operator === '=~' ? (text) => regex.test(text) : (text) => !regex.test(text)
}

/** Compiles the matchers of a selector as a test on the labels of a stream. */
export function selectorTest(matchers: readonly LabelMatcher[]): (stream: ReadonlyMap<string, string>) => boolean {
  const tests = matchers.map((matcher) => ({ name: matcher.name, test: valueTest(matcher) }))
  return (stream) => tests.every(({ name, test }) => test(stream.get(name) ?? ''))
}
