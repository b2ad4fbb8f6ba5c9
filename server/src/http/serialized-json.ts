import { toJson } from '../kernel/exact-json.ts'

/**
 * A response that is JSON already, so that lists that rarely change are serialized once. It is text rather than bytes: Node sends headers
 * and text in one write, but headers and bytes in two, at half the speed.
 */
export class SerializedJson<T> {
  readonly json: string
  /** Only the type of the value stays, so that the compiler compares it with the contract. */
  declare readonly value: T

  constructor(value: T) {
    this.json = toJson(value)
  }

  /** Wraps text that is JSON already. */
  static as<T>(json: string): SerializedJson<T> {
    return Object.assign(Object.create(SerializedJson.prototype), { json })
  }
}

/** Caches the JSON of an object for as long as the object lives. A changed list is another object. */
export function serializeOnce<K extends object, T>(make: (from: K) => T): (from: K) => SerializedJson<T> {
  const known = new WeakMap<K, SerializedJson<T>>()
  return (from) => {
    const found = known.get(from)
    if (found) return found
    const fresh = new SerializedJson(make(from))
    known.set(from, fresh)
    return fresh
  }
}
