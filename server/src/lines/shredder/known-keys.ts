import type { BlockBuilder } from '../block/block.ts'
import type { TextColumn } from '../block/columns.ts'
import type { SlotMap } from '../layout/slots.ts'
import { messageKeys } from '../reference/event.ts'
import { cleanName } from '../reference/walk.ts'
import { severityKeys } from '../values/severity.ts'

/** The facts about a key, computed once for all lines or arrivals that have it. */
export type KnownKey = {
  readonly path: string
  readonly column: TextColumn | undefined
  readonly tellsSeverity: boolean
  /** The rank among message keys (0 is best), -1 for other keys. */
  readonly message: number
  /** The last set of keys that had it, and its position there. */
  set: number
  at: number
}

const KEYS_MAX = 4_096

/** Caches the keys of a slot map. */
export class KnownKeys {
  private readonly keys = new Map<string, KnownKey>()
  private readonly map: SlotMap
  private readonly block: BlockBuilder
  private sets = 0

  constructor(map: SlotMap, block: BlockBuilder) {
    this.map = map
    this.block = block
  }

  /** Begins a set of keys, of a line or an arrival. Only here are keys dropped, so that one set never has two keys of one path. */
  nextSet(): number {
    if (this.keys.size > KEYS_MAX) this.keys.clear()
    this.sets += 1
    return this.sets
  }

  of(name: string): KnownKey {
    const known = this.keys.get(name)
    if (known) return known
    const path = cleanName(name)
    // Names of one path share their key, so that a repeated key is noticed.
    const key = path === name ? this.make(path) : this.of(path)
    this.keys.set(name, key)
    return key
  }

  private make(path: string): KnownKey {
    const slot = this.map.slots.get(path)
    return {
      path,
      column: slot && this.block.slot(slot),
      tellsSeverity: severityKeys.has(path),
      message: messageKeys.indexOf(path),
      set: 0,
      at: 0,
    }
  }
}
