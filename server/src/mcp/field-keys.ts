import { printKey } from '@dendro/language/print'

const isQuoted = (name: string): boolean => name.length > 1 && name.startsWith('"') && name.endsWith('"')

/** A field in the query language. Agents name it as list_fields does, without the quotes that blanks and other marks need, or with them. */
export const fieldKey = (name: string): string => (isQuoted(name) ? name : printKey(name))

/** Fields to group by. As in the API, a comma outside quotes separates two fields. */
export const groupKeys = (names: readonly string[]): string[] => names.map((name) => (name.includes(',') ? name : fieldKey(name)))
