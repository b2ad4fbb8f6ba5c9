import { parseFilter } from '@dendro/language/filter'
import { parseFormula } from '@dendro/language/formula'
import type { JoinPoint } from '@dendro/language/parse-trace'
import { type TraceableParser, parseText } from '@dendro/language/completions'
import { parseGroups, parseSelect } from '@dendro/language/select'

/** readWhere reads a filter as the service does, but for what is wrong within regular expressions: what knows them is large. */
export const readWhere: TraceableParser = (text, notes) => parseFilter(text, 'where', { trace: notes })

let withRegexes: Promise<TraceableParser> | undefined

/** wholeRead reads regular expressions too, by the very rules of the service; they are fetched for the first text that may hold one. */
export async function wholeRead(read: TraceableParser, text: string): Promise<TraceableParser> {
  if (read !== readWhere || !/~|regexp/i.test(text)) return read
  withRegexes ??= import('@dendro/language/regex').then(
    ({ regexProblem }): TraceableParser =>
      (whole, notes) =>
        parseFilter(whole, 'where', { trace: notes, regexProblem }),
  )
  return withRegexes.catch(() => {
    withRegexes = undefined
    return read
  })
}

/** readItem reads one item of a select, readKeys the keys to group by, readFormula a formula over queries with these names. */
export const readItem: TraceableParser = (text, notes) => parseSelect([text], 'select', notes)
export const readKeys: TraceableParser = (text, notes) => parseGroups([text], 'groups', notes)
export const readFormula =
  (names: readonly string[]): TraceableParser =>
  (text, notes) =>
    parseFormula(text, names, 'expression', notes)

/** jointsOf are the places where the parts of a filter meet; there are none that can be told in what is no filter. */
export function jointsOf(where: string): readonly JoinPoint[] {
  const { joinPoints: joints, problem } = parseText(readWhere, where)
  return problem ? [] : joints
}

/** isOr reports whether a filter would swallow a neighbour, as it is an OR that stands in no parentheses. */
export const isOr = (where: string): boolean => jointsOf(where).some(({ word }) => word === 'OR')
