import type { Field } from '../../../parts/query/fields.ts'
import type { FieldNode } from '../events/detail/field-node.ts'
import { fieldTree } from '../events/detail/field-tree.ts'

/** A ListedField is a field with the name that is shown under its prefix; a ListedGroup are the fields with a common prefix. */
export type ListedField = { kind: 'field'; field: Field; name: string }
export type ListedGroup = { kind: 'group'; path: string; name: string; size: number; members: ListedNode[] }
export type ListedNode = ListedField | ListedGroup

/** The fields that come first, in this order: where an event comes from, and how bad it is. */
const LEADING: readonly RegExp[] = [
  /^(service|service[._]name|app|application|resource\.service\.name)$/i,
  /^(level|severity|severity[._]text|log[._]level|loglevel)$/i,
  /^(env|environment|deployment\.environment)$/i,
]

const rankOf = ({ name }: Field): number => LEADING.findIndex((one) => one.test(name))

/** leadingFields are those that come first. */
export const leadingFields = (fields: readonly Field[]): Field[] =>
  fields.filter((field) => rankOf(field) >= 0).toSorted((one, other) => rankOf(one) - rankOf(other) || other.count - one.count)

/** The fields whose name has every word of the search. */
export function matchingFields(fields: readonly Field[], search: string): readonly Field[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return words.length === 0 ? fields : fields.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
}

/** Nests fields by prefix. The order is that of the first member, so the most frequent come first. */
export function groupFields(fields: readonly Field[]): ListedNode[] {
  const byName = new Map(fields.map((field) => [field.name, field]))
  return fieldTree(fields.map(({ name }) => [name, ''])).flatMap((node) => listed(node, byName))
}

function listed(node: FieldNode, byName: ReadonlyMap<string, Field>): ListedNode[] {
  if (node.kind === 'leaf') {
    const field = byName.get(node.path)
    return field ? [{ kind: 'field', field, name: node.name }] : []
  }
  const members = node.inner.flatMap((one) => listed(one, byName))
  const [only] = members
  // A chain of prefixes is one prefix.
  if (only?.kind === 'group' && members.length === 1) return [{ ...only, name: `${node.name}.${only.name}` }]
  return [{ kind: 'group', path: node.path, name: node.name, size: node.leaves, members }]
}

/** TAIL_CHARS are kept at the end of a name that is cut: the end tells apart what the beginning has in common. */
const TAIL_CHARS = 12
const WHOLE_CHARS = 24

/** Divides a long name, so that it can be cut in the middle. */
export const cutName = (name: string): { head: string; tail: string } =>
  name.length <= WHOLE_CHARS ? { head: name, tail: '' } : { head: name.slice(0, -TAIL_CHARS), tail: name.slice(-TAIL_CHARS) }
