/** Bounds of one event, so that hostile values cost little; a longer text is cut and says so. */
const DEPTH_MAX = 10
const NODES_MAX = 10_000
const TEXT_LENGTH_MAX = 200_000

type Member = readonly [name: string, read: () => unknown]
type Walk = { nodes: number; textLeft: number; readonly ancestors: Set<object> }

/**
 * Writes a record of a logger as JSON, whatever its values are: it never throws. Time, level and message come first, so that a huge value cuts others.
 */
export function jsonOf(record: object, level: unknown, now: string): string {
  const walk: Walk = { nodes: 0, textLeft: TEXT_LENGTH_MAX, ancestors: new Set([record]) }
  const read = (name: string) => (record as Readonly<Record<string, unknown>>)[name]
  const first: Member[] = [
    ['timestamp', () => read('timestamp') ?? now],
    ['level', () => level],
    ['message', () => read('message')],
  ]
  const names = new Set(first.map(([name]) => name))
  return JSON.stringify(members([...first, ...entriesOf(record).filter(([name]) => !names.has(name))], walk))
}

function plain(value: unknown, walk: Walk): unknown {
  walk.nodes += 1
  if (walk.nodes > NODES_MAX) return '[too many values]'
  try {
    return typeof value === 'object' && value !== null ? plainObject(value, walk) : plainValue(value, walk)
  } catch (thrown) {
    return `[unreadable: ${messageOf(thrown)}]`
  }
}

function plainValue(value: unknown, walk: Walk): unknown {
  if (typeof value === 'string') return cut(value, walk)
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
  if (typeof value === 'function') return `[function ${value.name}]`
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return value
}

function plainObject(value: object, walk: Walk): unknown {
  if (walk.ancestors.has(value)) return '[circular]'
  if (walk.ancestors.size >= DEPTH_MAX) return '[too deep]'
  walk.ancestors.add(value)
  try {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (ArrayBuffer.isView(value)) return cut(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'), walk)
    if (Array.isArray(value)) return value.slice(0, NODES_MAX).map((one) => plain(one, walk))
    if (value instanceof Set) return [...value].map((one) => plain(one, walk))
    if (value instanceof Map)
      return members(
        [...value].map(([key, one]) => [String(key), () => one]),
        walk,
      )
    if (value instanceof Error) return plainError(value, walk)
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') return plain(toJSON.call(value), walk)
    return members(entriesOf(value), walk)
  } finally {
    walk.ancestors.delete(value)
  }
}

const entriesOf = (value: object): Member[] => Object.keys(value).map((key) => [key, () => (value as Record<string, unknown>)[key]])

function plainError(error: Error, walk: Walk): unknown {
  const known = (['message', 'stack', 'cause', 'errors'] as const)
    .filter((name) => name in error)
    .map((name): Member => [name, () => (error as unknown as Record<string, unknown>)[name]])
  return members([['type', () => error.name], ...known, ...entriesOf(error)], walk)
}

/** Reads each member by itself: a getter that throws costs only its own value. */
function members(entries: readonly Member[], walk: Walk): object {
  const out: Record<string, unknown> = Object.create(null)
  for (const [key, read] of entries) {
    if (walk.nodes > NODES_MAX) break
    try {
      out[key] = plain(read(), walk)
    } catch (thrown) {
      out[key] = `[unreadable: ${messageOf(thrown)}]`
    }
  }
  return out
}

function cut(text: string, walk: Walk): string {
  const kept = text.length <= walk.textLeft ? text : `${text.slice(0, walk.textLeft)}… [${text.length - walk.textLeft} characters cut]`
  walk.textLeft = Math.max(0, walk.textLeft - text.length)
  return kept
}

function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown)
  } catch {
    return 'no reason'
  }
}
