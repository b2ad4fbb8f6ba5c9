import { parseFilter } from '@dendro/language/filter'
import { parseFormula } from '@dendro/language/formula'
import type { Joint } from '@dendro/language/notes'
import { type Read, readText } from '@dendro/language/offers'
import { parseGroups, parseSelect } from '@dendro/language/select'

/** readWhere parses a filter as the service does, except inside regular expressions, whose parser is large. */
export const readWhere: Read = (text, notes) => parseFilter(text, 'where', { notes })

let withRegexes: Promise<Read> | undefined

/** wholeRead also checks regular expressions; their parser is downloaded for the first text that may contain one. */
export async function wholeRead(read: Read, text: string): Promise<Read> {
  if (read !== readWhere || !/~|regexp/i.test(text)) return read
  withRegexes ??= import('@dendro/language/regex').then(
    ({ regexProblem }): Read =>
      (whole, notes) =>
        parseFilter(whole, 'where', { notes, regexProblem }),
  )
  return withRegexes.catch(() => {
    withRegexes = undefined
    return read
  })
}

/** readItem parses one select item, readKeys the group keys, readFormula a formula over named queries. */
export const readItem: Read = (text, notes) => parseSelect([text], 'select', notes)
export const readKeys: Read = (text, notes) => parseGroups([text], 'groups', notes)
export const readFormula =
  (names: readonly string[]): Read =>
  (text, notes) =>
    parseFormula(text, names, 'expression', notes)

/** jointsOf are the positions of AND and OR; an invalid filter has none. */
export function jointsOf(where: string): readonly Joint[] {
  const { joints, problem } = readText(readWhere, where)
  return problem ? [] : joints
}

/** isOr is true for a filter with a top-level OR, which needs parentheses before AND. */
export const isOr = (where: string): boolean => jointsOf(where).some(({ word }) => word === 'OR')
