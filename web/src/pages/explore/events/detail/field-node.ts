/**
 * A FieldBranch holds the fields with a common prefix up to a dot, or the elements of an array. `isField` means that a condition can name the branch itself;
 * `json` is the text of an array that is a field.
 */
export type FieldBranch = {
  kind: 'branch'
  name: string
  path: string
  leaves: number
  inner: FieldNode[]
  isArray?: true
  isField?: true
  json?: string
}
/** A FieldLeaf is a field with its value. `isReachable` is false where no condition can name it. */
export type FieldLeaf = { kind: 'leaf'; name: string; path: string; value: string; isReachable?: false }
export type FieldNode = FieldBranch | FieldLeaf

export const countLeaves = (nodes: readonly FieldNode[]): number =>
  nodes.reduce((sum, node) => sum + (node.kind === 'leaf' ? 1 : node.leaves), 0)
