import { parseFilter } from '@dendro/language/filter'
import { parseFormula } from '@dendro/language/formula'
import type { Joint } from '@dendro/language/notes'
import { type Read, readText } from '@dendro/language/offers'
import { parseGroups, parseSelect } from '@dendro/language/select'

/** readWhere reads a filter as the service does; only regular expressions are left to the service, for what knows them is large. */
export const readWhere: Read = (text, notes) => parseFilter(text, 'where', { notes })

/** readItem reads one item of a select, readKeys the keys to group by, readFormula a formula over queries with these names. */
export const readItem: Read = (text, notes) => parseSelect([text], 'select', notes)
export const readKeys: Read = (text, notes) => parseGroups([text], 'groups', notes)
export const readFormula =
  (names: readonly string[]): Read =>
  (text, notes) =>
    parseFormula(text, names, 'expression', notes)

/** jointsOf are the places where the parts of a filter meet; there are none that can be told in what is no filter. */
export function jointsOf(where: string): readonly Joint[] {
  const { joints, problem } = readText(readWhere, where)
  return problem ? [] : joints
}

/** isOr reports whether a filter would swallow a neighbour, as it is an OR that stands in no parentheses. */
export const isOr = (where: string): boolean => jointsOf(where).some(({ word }) => word === 'OR')
