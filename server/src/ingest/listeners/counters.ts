/** Why messages of a listener are not stored. `kernel` counts datagrams that the system dropped before we could read them. */
export type DropReason = 'full' | 'refused' | 'malformed' | 'incomplete' | 'kernel'
/** Why a connection was closed by us. */
export type CloseReason = 'network' | 'too_many' | 'too_slow' | 'idle' | 'memory' | 'handshake' | 'malformed' | 'unauthenticated'

/** Counts the traffic of one listener since the start. */
export class ListenerCounters {
  readonly name: string
  connections = 0
  messages = 0
  readonly dropped = new Map<DropReason, number>()
  readonly closed = new Map<CloseReason, number>()

  constructor(name: string) {
    this.name = name
  }

  drop(reason: DropReason, count = 1): void {
    if (count === 0) return
    this.dropped.set(reason, (this.dropped.get(reason) ?? 0) + count)
  }

  close(reason: CloseReason): void {
    this.closed.set(reason, (this.closed.get(reason) ?? 0) + 1)
  }

  get droppedTotal(): number {
    return [...this.dropped.values()].reduce((sum, count) => sum + count, 0)
  }
}
