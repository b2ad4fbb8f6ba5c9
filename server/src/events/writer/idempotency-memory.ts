/**
 * Maps 64-bit keys to 64-bit numbers for at least `keepMs` and not much longer. It consists of flat hash tables, one per tenth of that time, since there
 * may be a million keys.
 */
export type IdempotencyMemory = {
  get(key: bigint): bigint | undefined
  set(key: bigint, value: bigint): void
  /** The time since which no key is missing. It advances when keys are evicted for space. */
  completeSinceMs(): number
  /** Records that keys from before now may be missing. */
  forgot(): void
  size(): number
}

type Options = { keepMs: number; keysMax: number; nowMs: () => number }

const TABLES = 10
const FIRST_SLOTS = 1_024

/** `nowMs` must be monotonic. */
export function createIdempotencyMemory({ keepMs, keysMax, nowMs }: Options): IdempotencyMemory {
  const spanMs = keepMs / TABLES
  let tables = [makeTable(nowMs())]
  let fullFromMs = Number.NEGATIVE_INFINITY

  const newest = (): Table => {
    const [first] = tables
    if (first && nowMs() - first.sinceMs <= spanMs && first.size() < keysMax / TABLES) return first
    const fresh = makeTable(nowMs())
    tables = [fresh, ...tables]
    dropOld()
    return fresh
  }

  function dropOld(): void {
    // The newest key of a table is as old as the next table.
    while (tables.length > 1 && nowMs() - (tables.at(-2)?.sinceMs ?? 0) > keepMs) tables.pop()
    for (let keys = size(); keys > keysMax && tables.length > 1; keys = size()) {
      tables.pop()
      fullFromMs = tables.at(-1)?.sinceMs ?? fullFromMs
    }
  }

  const size = (): number => tables.reduce((keys, table) => keys + table.size(), 0)

  return {
    get: (key) => {
      for (const table of tables) {
        const value = table.get(key)
        if (value !== undefined) return value
      }
      return undefined
    },
    set: (key, value) => newest().set(key, value),
    completeSinceMs: () => fullFromMs,
    forgot: () => {
      fullFromMs = nowMs()
    },
    size,
  }
}

type Table = { sinceMs: number; get(key: bigint): bigint | undefined; set(key: bigint, value: bigint): void; size(): number }

/** Open addressing with linear probing; doubles at half load. Keys are hashes already. Value 0 marks an empty slot. */
function makeTable(sinceMs: number): Table {
  let keys = new BigUint64Array(FIRST_SLOTS)
  let values = new BigUint64Array(FIRST_SLOTS)
  let used = 0

  function slotOf(key: bigint): number {
    const mask = keys.length - 1
    let slot = Number(key & 0x7fff_ffffn) & mask
    while (values[slot] !== 0n && keys[slot] !== key) slot = (slot + 1) & mask
    return slot
  }

  function put(key: bigint, value: bigint): void {
    const slot = slotOf(key)
    if (values[slot] === 0n) used += 1
    keys[slot] = key
    values[slot] = value
  }

  function grow(): void {
    const [oldKeys, oldValues] = [keys, values]
    keys = new BigUint64Array(2 * oldKeys.length)
    values = new BigUint64Array(2 * oldKeys.length)
    used = 0
    for (const [slot, value] of oldValues.entries()) if (value !== 0n) put(oldKeys[slot] ?? 0n, value)
  }

  return {
    sinceMs,
    get: (key) => {
      const value = values[slotOf(key)]
      return value === 0n ? undefined : value
    },
    set: (key, value) => {
      if (value === 0n) throw new Error('0 cannot be remembered')
      if (2 * (used + 1) > keys.length) grow()
      put(key, value)
    },
    size: () => used,
  }
}
