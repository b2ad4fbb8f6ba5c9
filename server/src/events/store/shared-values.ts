type Owned<T> = { readonly values: Map<string, { readonly value: T; readonly bytes: number }>; bytes: number }

/**
 * Values of several organizations within one limit. Beyond it, the organization with the most bytes loses the value that it has not used for longest, so
 * that none drops what the others use.
 */
export class FairMemory<T> {
  readonly #bytesMax: number
  readonly #owners = new Map<number, Owned<T>>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get(owner: number, name: string): T | undefined {
    const values = this.#owners.get(owner)?.values
    const found = values?.get(name)
    if (!values || !found) return undefined
    values.delete(name)
    values.set(name, found)
    return found.value
  }

  set(owner: number, name: string, value: T, bytes: number): void {
    this.delete(owner, name)
    const owned = this.#owners.get(owner) ?? { values: new Map(), bytes: 0 }
    this.#owners.set(owner, owned)
    owned.values.set(name, { value, bytes })
    this.#count(owned, bytes)
    while (this.#bytes > this.#bytesMax) this.#dropOldest()
  }

  delete(owner: number, name: string): void {
    const owned = this.#owners.get(owner)
    const found = owned?.values.get(name)
    if (!owned || !found) return
    owned.values.delete(name)
    this.#count(owned, -found.bytes)
    if (owned.values.size === 0) this.#owners.delete(owner)
  }

  #count(owned: Owned<T>, bytes: number): void {
    owned.bytes += bytes
    this.#bytes += bytes
  }

  #dropOldest(): void {
    const [largest] = [...this.#owners].sort(([, one], [, other]) => other.bytes - one.bytes)
    const [oldest] = largest?.[1].values.keys() ?? []
    if (largest && oldest !== undefined) this.delete(largest[0], oldest)
  }
}

/** Names a value by everything that it depends on. */
export const cacheKey = (parts: readonly unknown[]): string =>
  JSON.stringify(parts, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
