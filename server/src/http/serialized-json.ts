import { toJson } from './json.ts'

/**
 * A Written is an answer that is JSON already: lists that rarely change are written once, not once per request. It is text and not bytes, since
 * Node sends a head and a text in one piece, and a head and bytes in two, at half the speed.
 */
export class SerializedJson<T> {
  readonly json: string
  /** The value is gone; its type stays, so that the compiler still compares it with the contract. */
  declare readonly value: T

  constructor(value: T) {
    this.json = toJson(value)
  }

  /** as gives an answer whose text is at hand already. */
  static as<T>(json: string): SerializedJson<T> {
    return Object.assign(Object.create(SerializedJson.prototype), { json })
  }
}

/** writeOnce remembers the written answer for as long as the very object it is made from lives; a changed list is another object. */
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
