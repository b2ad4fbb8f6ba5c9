import { countLeaves, type FieldLeaf, type FieldNode } from './field-node.ts'

/** The elements of an array that the query language reaches by number. */
const REACHABLE = 32
/** Longer arrays stay text: their nodes would not be read, and parsing would hold up the page. */
const PARSED_CHARS_MAX = 50_000
const NODES_MAX = 500

/** A number, `true` or `false` as it is written in the event. */
class Written {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The nodes of an array in JSON with the paths that the query language reads, such as `items.0.sku`; undefined for any other value. */
export function elementNodes(path: string, value: string): FieldNode[] | undefined {
  if (!value.startsWith('[') || value.length > PARSED_CHARS_MAX) return undefined
  const parsed = readWritten(value)
  if (!Array.isArray(parsed) || parsed.length === 0 || countNodes(parsed) > NODES_MAX) return undefined
  return parsed.map((element, at) => nodeOf(String(at), `${path}.${at}`, element, at < REACHABLE))
}

function readWritten(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' || typeof value === 'boolean' ? new Written(context?.source ?? String(value)) : value,
    )
  } catch {
    return undefined
  }
}

const countNodes = (value: unknown): number =>
  isContainer(value) ? Object.values(value).reduce((sum: number, one) => sum + countNodes(one), 1) : 1

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null && !(value instanceof Written)

function nodeOf(name: string, path: string, value: unknown, isReachable: boolean): FieldNode {
  if (!isContainer(value)) return leafOf(name, path, value, isReachable)
  const isArray = Array.isArray(value)
  const inner = Object.entries(value).map(([key, one], at) =>
    nodeOf(key, `${path}.${key}`, one, isReachable && (!isArray || at < REACHABLE)),
  )
  if (inner.length === 0) return { kind: 'leaf', name, path, value: isArray ? '[]' : '{}', isReachable: false }
  return {
    kind: 'branch',
    name,
    path,
    leaves: countLeaves(inner),
    inner,
    ...(isArray ? { isArray } : {}),
    ...(isReachable ? { isField: true } : {}),
  }
}

/** A null is shown, and no condition equals it: in a query it is an absent field. */
const leafOf = (name: string, path: string, value: unknown, isReachable: boolean): FieldLeaf => {
  const text = value instanceof Written ? value.text : String(value)
  return { kind: 'leaf', name, path, value: text, ...(value === null || !isReachable ? { isReachable: false } : {}) }
}
