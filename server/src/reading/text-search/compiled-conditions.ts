import { randomUUID } from 'node:crypto'
import { oncePerObject } from '../../kernel/once-per-object.ts'
import { Recent } from '../../kernel/recent.ts'
import type { LineSources } from './rebuild-line.ts'

/** How many conditions are remembered. Those on lines of a hundred shapes are some 100 kB each. */
const REMEMBERED_MAX = 64

/** A name for a list of shapes. Queries share the list while the facts about their events hold. */
const nameOf = oncePerObject((_: readonly string[]): string => randomUUID())

/** Remembers conditions on lines of known shapes. Writing one for a hundred shapes takes up to 50 ms, and a query needs it more than once. */
export function conditionMemory<T>(): (text: string, lines: LineSources, write: () => T) => T {
  const remembered = new Recent<string, { readonly condition: T }>(REMEMBERED_MAX)
  return (text, lines, write) => {
    const { shapes, hasParts, columns, levels } = lines
    if (!shapes || hasParts) return write()
    const key = JSON.stringify([nameOf(shapes), text, columns, levels])
    return remembered.of(key, () => ({ condition: write() })).condition
  }
}
