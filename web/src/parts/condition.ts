import { isOr } from './query-readers.ts'

/** groupCondition matches the events of one group: each key with its value, or without one. */
export function groupCondition(keys: readonly string[], values: readonly string[]): string {
  return keys
    .map((key, at) => {
      // Built-in keys start with @ and are never quoted.
      const name = key.startsWith('@') ? key : `"${key.replaceAll('"', '""')}"`
      const value = values[at] ?? ''
      return value === 'null' ? `${name} IS NULL` : `${name} = '${value.replaceAll("'", "''")}'`
    })
    .join(' AND ')
}

/** bothConditions joins two conditions with AND; an empty one is dropped. */
export const bothConditions = (first: string, second: string): string =>
  first === '' || second === '' ? first + second : `${isOr(first) ? `(${first})` : first} AND ${second}`
