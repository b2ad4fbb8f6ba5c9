/** Keeps a number of values. The one that was used longest ago is dropped first. */
export class Recent<Key, Value> {
  readonly #values = new Map<Key, Value>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** The value of a key, which counts as a use. */
  get(key: Key): Value | undefined {
    const value = this.#values.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  values(): Iterable<Value> {
    return this.#values.values()
  }

  delete(key: Key): void {
    this.#values.delete(key)
  }

  /** Sets a value, which counts as a use. */
  set(key: Key, value: Value): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    const oldest = this.#values.keys().next()
    if (this.#values.size > this.#max && !oldest.done) this.#values.delete(oldest.value)
  }

  /** The value of a key; one that is not kept is made. */
  of(key: Key, make: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }
}
