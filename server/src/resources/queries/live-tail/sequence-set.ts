/**
 * An immutable set of sequence numbers. It needs eight bytes per number, outside the heap. A Set of bigints needs about seven times as much, and live
 * tails keep the numbers of a minute.
 */
export class SequenceSet {
  static readonly EMPTY = new SequenceSet(new BigUint64Array())
  readonly #sorted: BigUint64Array

  private constructor(sorted: BigUint64Array) {
    this.#sorted = sorted
  }

  static of(seqs: Iterable<bigint>): SequenceSet {
    return SequenceSet.EMPTY.with(BigUint64Array.from(seqs))
  }

  get size(): number {
    return this.#sorted.length
  }

  has(seq: bigint): boolean {
    return this.#sorted[this.#firstFrom(seq)] === seq
  }

  /** Iterates in ascending order. */
  [Symbol.iterator](): IterableIterator<bigint> {
    return this.#sorted.values()
  }

  with(seqs: ArrayLike<bigint>): SequenceSet {
    const added = BigUint64Array.from(seqs).sort()
    const [first] = added
    if (first === undefined) return this
    const own = this.#sorted
    const merged = new BigUint64Array(own.length + added.length)
    // New numbers are mostly the highest, so that little has to be merged.
    let at = this.#firstFrom(first)
    let size = at
    merged.set(own.subarray(0, at))
    for (let next = 0; at < own.length || next < added.length; ) {
      const [a, b] = [own[at], added[next]]
      const seq = a === undefined || (b !== undefined && b < a) ? b : a
      if (seq === undefined) break
      merged[size] = seq
      size += 1
      if (a === seq) at += 1
      while (added[next] === seq) next += 1
    }
    return new SequenceSet(size === merged.length ? merged : merged.slice(0, size))
  }

  without(other: SequenceSet): SequenceSet {
    return other.size === 0 ? this : new SequenceSet(this.#sorted.filter((seq) => !other.has(seq)))
  }

  /** Returns the numbers above `seq`. */
  above(seq: bigint): SequenceSet {
    const at = this.#firstFrom(seq + 1n)
    return at === 0 ? this : new SequenceSet(this.#sorted.slice(at))
  }

  /** Returns the number that has `count` numbers above it. */
  fromEnd(count: number): bigint | undefined {
    return this.#sorted.at(-count - 1)
  }

  /** Returns the index of the first number that is not lower. */
  #firstFrom(seq: bigint): number {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#sorted[middle] ?? 0n) < seq) low = middle + 1
      else high = middle
    }
    return low
  }
}
