import { parseText, type TraceableParser } from '@dendro/language/completions'
import { parseFilter } from '@dendro/language/filter'
import { parseFormula } from '@dendro/language/formula'
import type { JoinPoint } from '@dendro/language/parse-trace'
import { parseGroups, parseSelect } from '@dendro/language/select'
import { loadedOnce } from '../shell/page-code.ts'

/** Parses a filter as the service does, except inside regular expressions, whose parser is large. */
export const readWhere: TraceableParser = (text, notes) => parseFilter(text, 'where', { trace: notes })

const fetchRegexes = loadedOnce(() => import('@dendro/language/regex'))

/** wholeRead also checks regular expressions; their parser is downloaded for the first text that may contain one. */
export async function wholeRead(read: TraceableParser, text: string): Promise<TraceableParser> {
  if (read !== readWhere || !/~|regexp/i.test(text)) return read
  return fetchRegexes().then(
    ({ regexProblem }): TraceableParser =>
      (whole, notes) =>
        parseFilter(whole, 'where', { trace: notes, regexProblem }),
    () => read,
  )
}

/** Parses one select item, readKeys the group keys, readFormula a formula over named queries. */
export const readItem: TraceableParser = (text, notes) => parseSelect([text], 'select', notes)
export const readKeys: TraceableParser = (text, notes) => parseGroups([text], 'groups', notes)
export const readFormula =
  (names: readonly string[]): TraceableParser =>
  (text, notes) =>
    parseFormula(text, names, 'expression', notes)

/** The positions of AND and OR; an invalid filter has none. */
export function jointsOf(where: string): readonly JoinPoint[] {
  const { joinPoints: joints, problem } = parseText(readWhere, where)
  return problem ? [] : joints
}

/** True for a filter with a top-level OR, which needs parentheses before AND. */
export const isOr = (where: string): boolean => jointsOf(where).some(({ word }) => word === 'OR')
