export type QueueBounds = { readonly eventsMax: number; readonly bytesMax: number }
export type QueuedEvent = { readonly line: string; readonly bytes: number }

/**
 * Events in order of arrival, bounded by count and bytes. Taken events count until they are released, so that a batch in flight stays within the bound.
 * A full queue drops the newest event: an event that was accepted is never lost to a later one.
 */
export class EventQueue {
  readonly #bounds: QueueBounds
  #events: QueuedEvent[] = []
  #head = 0
  #waitingBytes = 0
  #takenEvents = 0
  #takenBytes = 0

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  /** The number of waiting events. */
  get length(): number {
    return this.#events.length - this.#head
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Adds an event unless it exceeds a bound. */
  add(event: QueuedEvent): boolean {
    const { eventsMax, bytesMax } = this.#bounds
    if (this.length + this.#takenEvents + 1 > eventsMax) return false
    if (this.#waitingBytes + this.#takenBytes + event.bytes > bytesMax) return false
    this.#events.push(event)
    this.#waitingBytes += event.bytes
    return true
  }

  /** Takes the oldest events; at least one, if any waits. */
  take(eventsMax: number, bytesMax: number): QueuedEvent[] {
    const taken: QueuedEvent[] = []
    let bytes = 0
    for (let next = this.#events[this.#head]; next && taken.length < eventsMax; next = this.#events[this.#head]) {
      if (taken.length > 0 && bytes + next.bytes > bytesMax) break
      taken.push(next)
      bytes += next.bytes
      this.#head += 1
    }
    this.#waitingBytes -= bytes
    this.#takenEvents += taken.length
    this.#takenBytes += bytes
    if (this.#head * 2 >= this.#events.length) {
      this.#events = this.#events.slice(this.#head)
      this.#head = 0
    }
    return taken
  }

  /** Frees the space of taken events: they are stored, or given up. */
  release(events: readonly QueuedEvent[]): void {
    this.#takenEvents -= events.length
    for (const { bytes } of events) this.#takenBytes -= bytes
  }
}
