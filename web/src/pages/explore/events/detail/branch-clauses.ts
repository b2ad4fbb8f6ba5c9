import { isValue, keyText } from '../../query/clauses.ts'
import type { FieldBranch, FieldLeaf, FieldNode } from './field-node.ts'

/** A condition over more fields than these could not be read as a chip, and would be slow. */
const LEAVES_MAX = 20

/** The conditions that hold for the events with the same values below a branch; undefined where they would be too many. */
export function sameValues(branch: FieldBranch): string[] | undefined {
  const leaves = reachable(branch)
  return leaves.length === 0 || leaves.length > LEAVES_MAX ? undefined : leaves.map(({ path, value }) => isValue(path, value))
}

/** The condition for the events with a branch. An array and its elements are fields themselves; a prefix is there where one of its fields is. */
export function hasBranch(branch: FieldBranch): string | undefined {
  if (branch.isField) return `${keyText(branch.path)} IS NOT NULL`
  const leaves = reachable(branch)
  if (leaves.length === 0 || leaves.length > LEAVES_MAX) return undefined
  return leaves.map(({ path }) => `${keyText(path)} IS NOT NULL`).join(' OR ')
}

const reachable = (node: FieldNode): FieldLeaf[] =>
  node.kind === 'leaf' ? (node.isReachable === false ? [] : [node]) : node.inner.flatMap(reachable)
