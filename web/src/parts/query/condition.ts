import { quoted } from '@dendro/language/language-error'
import { printKey } from '@dendro/language/print'
import { parseGroups } from '@dendro/language/select'
import { ABSENT } from '../chart/group-name.ts'
import { isOr } from './query-readers.ts'

/** The keys of a stored query's groups, which are written as in the query language: in quotes, or several in one text. */
export function groupKeys(groups: readonly string[] = []): readonly string[] {
  try {
    return parseGroups([...groups])
  } catch {
    return groups
  }
}

/** Matches the events of one group: each key with its value, or without one. */
export function groupCondition(keys: readonly string[], values: readonly string[]): string {
  return keys
    .map((key, at) => {
      const name = printKey(key)
      const value = values[at] ?? ''
      const isValue = `${name} = ${quoted(value)}`
      return value === ABSENT ? `(${name} IS NULL OR ${isValue})` : isValue
    })
    .join(' AND ')
}

/** Joins two conditions with AND; an empty one is dropped. */
export const bothConditions = (first: string, second: string): string =>
  first === '' || second === '' ? first + second : `${isOr(first) ? `(${first})` : first} AND ${second}`
