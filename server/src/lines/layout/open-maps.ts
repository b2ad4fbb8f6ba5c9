import { BROKEN, END, isNameless, OPEN_OBJECT, Walk } from '../reference/walk.ts'
import { PATH_CHARS_MAX } from './slots.ts'

/** An object with this many different lists of keys is an open map. A list is a sequence of names. */
export const OPEN_LISTS = 64
/** Limits of the open maps per dataset and of the objects whose keys are counted. */
const OPEN_MAPS_MAX = 256
const OBJECTS_MAX = 512

/** A key of a line, with the prefixes of the objects around it, outermost first. */
export type NestedKey = { readonly path: string; readonly prefixes: readonly string[] }

/** Finds the objects of a dataset whose keys differ from event to event. */
export class OpenMapFinder {
  /** The hashes of the lists of each object, by its prefix. */
  private readonly lists = new Map<string, Set<number>>()

  /** Adds a line by its keys in their order. */
  see(keys: Iterable<NestedKey>): void {
    for (const [prefix, names] of namesByObject(keys)) {
      const known = this.listsOf(prefix)
      if (known.size < OPEN_LISTS) known.add(hashOf(names))
    }
  }

  /** Adds a line by its bytes; a line that is not a JSON object has no keys. */
  seeLine(line: Uint8Array): void {
    if (line.includes(OPEN_OBJECT)) this.see(keysOf(line))
  }

  /** Returns the prefixes of open maps that are not known yet. */
  found(known: ReadonlySet<string>): string[] {
    const fresh: string[] = []
    for (const [prefix, { size }] of this.lists) {
      if (size < OPEN_LISTS || known.has(prefix) || prefix.length > PATH_CHARS_MAX) continue
      if (known.size + fresh.length < OPEN_MAPS_MAX) fresh.push(prefix)
    }
    return fresh
  }

  private listsOf(prefix: string): Set<number> {
    const known = this.lists.get(prefix)
    if (known) return known
    if (this.lists.size >= OBJECTS_MAX) this.lists.clear()
    const created = new Set<number>()
    this.lists.set(prefix, created)
    return created
  }
}

/** True for a key in an open map at any depth. */
export function liesInOpenMap(open: ReadonlySet<string>, path: string): boolean {
  if (open.size === 0) return false
  if (open.has('')) return true
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) if (open.has(path.slice(0, dot + 1))) return true
  return false
}

/** Returns the names in each object, including nested objects, as one text. */
function namesByObject(keys: Iterable<NestedKey>): Map<string, string> {
  const names = new Map<string, string>()
  const last = new Map<string, string>()
  for (const { path, prefixes } of keys) {
    for (const [level, prefix] of prefixes.entries()) {
      const name = prefixes[level + 1] ?? path
      if (last.get(prefix) === name) continue
      last.set(prefix, name)
      names.set(prefix, `${names.get(prefix) ?? ''}\0${name}`)
    }
  }
  return names
}

/** Two lists with one hash count as one, which only delays finding an open map. */
function hashOf(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) + at
  return hash
}

function* keysOf(line: Uint8Array): Generator<NestedKey> {
  const walk = new Walk(line, 0, line.length)
  for (let step = walk.next(); step !== END && step !== BROKEN; step = walk.next()) {
    if (!isNameless(walk.path)) yield { path: walk.path, prefixes: [...walk.prefixes] }
  }
}
