import { elementNodes } from './array-tree.ts'
import { countLeaves, type FieldBranch, type FieldNode } from './field-node.ts'

/** Nests fields by their dots where at least two share a prefix. The prefix of a single field stays part of its name. */
export function fieldTree(pairs: readonly (readonly [string, string])[], before = ''): FieldNode[] {
  const byPrefix = Map.groupBy(pairs, ([path]) => prefixOf(path.slice(before.length)))
  return [...byPrefix].flatMap(([prefix, members]): FieldNode[] => {
    const path = before + prefix
    const inner = members.filter(([one]) => one.startsWith(`${path}.`))
    if (inner.length < 2) return members.map(([one, value]) => fieldNode(one.slice(before.length), one, value))
    const own = members.filter(([one]) => one === path)
    return [
      ...own.map(([one, value]) => fieldNode(prefix, one, value)),
      { kind: 'branch', name: prefix, path, leaves: inner.length, inner: fieldTree(inner, `${path}.`) },
    ]
  })
}

/** A field, or the elements of a field that is an array. */
function fieldNode(name: string, path: string, value: string): FieldNode {
  const inner = elementNodes(path, value)
  if (!inner) return { kind: 'leaf', name, path, value }
  return { kind: 'branch', name, path, leaves: countLeaves(inner), inner, isArray: true, isField: true, json: value }
}

/** The part before the slash of a Kubernetes label such as `app.kubernetes.io/name`, which is one name. */
const DOMAIN = /^[\w-]+(?:\.[\w-]+)+\/./
/** The fields whose children are such labels. */
const LABELS = /^[\w.-]*\b(?:labels|annotations)\./

/** Ignores leading and repeated dots. */
const prefixOf = (path: string): string => {
  if (DOMAIN.test(path) && !LABELS.test(path)) return path
  return /^\.*[^.]*/.exec(path)?.[0] ?? path
}

/** Rebuilds the nested object or array of a branch. Values are texts, as they are stored; a field that is an array is copied as it is. */
export const nestedJson = (branch: FieldBranch): string => branch.json ?? JSON.stringify(toValue(branch), undefined, 2)

const toValue = (node: FieldNode): unknown => {
  if (node.kind === 'leaf') return node.value
  return node.isArray ? node.inner.map(toValue) : Object.fromEntries(node.inner.map((one) => [one.name, toValue(one)]))
}
