/** A Branch of the keys of an event holds the keys that begin alike up to a dot; a leaf is a key with its value. */
export type Branch = { kind: 'branch'; name: string; path: string; leaves: number; inner: Node[] }
export type Leaf = { kind: 'leaf'; name: string; path: string; value: string }
export type Node = Branch | Leaf

/** keyTree nests keys by their dots wherever two or more share a beginning; a beginning that only one key has stays part of its name. */
export function keyTree(pairs: readonly (readonly [string, string])[], before = ''): Node[] {
  const heads = Map.groupBy(pairs, ([path]) => headOf(path.slice(before.length)))
  return [...heads].flatMap(([head, within]): Node[] => {
    const path = before + head
    const inner = within.filter(([one]) => one.startsWith(`${path}.`))
    if (inner.length < 2) return within.map(([one, value]) => ({ kind: 'leaf', name: one.slice(before.length), path: one, value }))
    const own = within.filter(([one]) => one === path)
    return [
      ...own.map(([one, value]): Leaf => ({ kind: 'leaf', name: head, path: one, value })),
      { kind: 'branch', name: head, path, leaves: inner.length, inner: keyTree(inner, `${path}.`) },
    ]
  })
}

/** A dot at the very beginning, or two in a row, separate nothing. */
const headOf = (path: string): string => /^\.*[^.]*/.exec(path)?.[0] ?? path

/** nestedJson writes keys as the object that they were cut from, as far as dots tell. */
export function nestedJson(nodes: readonly Node[]): string {
  return JSON.stringify(asObject(nodes), undefined, 2)
}

const asObject = (nodes: readonly Node[]): Record<string, unknown> =>
  Object.fromEntries(nodes.map((node) => [node.name, node.kind === 'leaf' ? node.value : asObject(node.inner)]))
