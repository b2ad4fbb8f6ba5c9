/** A FieldBranch holds the fields with a common prefix up to a dot; a FieldLeaf is a field with its value. */
export type FieldBranch = { kind: 'branch'; name: string; path: string; leaves: number; inner: FieldNode[] }
export type FieldLeaf = { kind: 'leaf'; name: string; path: string; value: string }
export type FieldNode = FieldBranch | FieldLeaf

/** Nests fields by their dots where at least two share a prefix. The prefix of a single field stays part of its name. */
export function fieldTree(pairs: readonly (readonly [string, string])[], before = ''): FieldNode[] {
  const byPrefix = Map.groupBy(pairs, ([path]) => prefixOf(path.slice(before.length)))
  return [...byPrefix].flatMap(([prefix, members]): FieldNode[] => {
    const path = before + prefix
    const inner = members.filter(([one]) => one.startsWith(`${path}.`))
    if (inner.length < 2) return members.map(([one, value]) => ({ kind: 'leaf', name: one.slice(before.length), path: one, value }))
    const own = members.filter(([one]) => one === path)
    return [
      ...own.map(([one, value]): FieldLeaf => ({ kind: 'leaf', name: prefix, path: one, value })),
      { kind: 'branch', name: prefix, path, leaves: inner.length, inner: fieldTree(inner, `${path}.`) },
    ]
  })
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

/** Rebuilds the nested object from dotted fields. */
export function nestedJson(nodes: readonly FieldNode[]): string {
  return JSON.stringify(toObject(nodes), undefined, 2)
}

const toObject = (nodes: readonly FieldNode[]): Record<string, unknown> =>
  Object.fromEntries(nodes.map((node) => [node.name, node.kind === 'leaf' ? node.value : toObject(node.inner)]))
