type Owner<T> = { waiting: T[] /** The virtual time at which the owner has had its share. */; until: number }

/**
 * A queue that shares one worker between owners by the time that their items take (start-time fair queueing): the next item is the first one of the owner
 * that has used least. An owner that used nothing for a while has no credit for it, so it waits for the running item and not for those after it.
 */
export class FairQueue<T> {
  readonly #owners = new Map<string, Owner<T>>()
  #now = 0

  push(name: string, item: T): void {
    const owner = this.#owners.get(name) ?? { waiting: [], until: 0 }
    owner.until = Math.max(owner.until, this.#now)
    owner.waiting.push(item)
    this.#owners.set(name, owner)
  }

  shift(): T | undefined {
    let next: Owner<T> | undefined
    for (const [name, owner] of this.#owners) {
      if (owner.waiting.length > 0) next = next === undefined || owner.until < next.until ? owner : next
      else if (owner.until <= this.#now) this.#owners.delete(name)
    }
    if (next) this.#now = Math.max(this.#now, next.until)
    return next?.waiting.shift()
  }

  /** Charges an owner for an item. */
  charge(name: string, ms: number): void {
    const owner = this.#owners.get(name) ?? { waiting: [], until: this.#now }
    owner.until = Math.max(owner.until, this.#now) + ms
    this.#owners.set(name, owner)
  }

  clear(): T[] {
    const items = [...this.#owners.values()].flatMap(({ waiting }) => waiting)
    this.#owners.clear()
    return items
  }
}
