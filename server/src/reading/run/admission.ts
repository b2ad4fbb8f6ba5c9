import { Failure } from '../../kernel/errors.ts'
import type { QueryAdmission, QueryBounds, QueryClass, QueryOwner, QuerySlot, QueryTicket, World } from '../../world.ts'
import { QueryQueue, type QueueEntry } from './fair-queue.ts'

/** The concurrent statements of one query, unless its organization shares the store with others. */
const STATEMENTS_AT_ONCE = 4
/** The waiting queries of an organization for each one that it may run. */
const WAITING_PER_RUNNING = 8
const RETRY_AFTER_S = 2
/** Internal reads have their own queues, so that they and queries of callers never wait for each other. */
const MONITORS_AT_ONCE = 4
const TAILS_AT_ONCE = 4
const EXPORTS_AT_ONCE = 2

type Deps = Pick<World, 'clock'>

/** Decides, for this process, which query runs, which one waits, and which one is refused. */
export function openAdmission(bounds: QueryBounds, { clock }: Deps): QueryAdmission {
  const internalLane = (atOnce: number) =>
    new QueryQueue({ running: atOnce, perOrg: atOnce, perOrgShared: atOnce, reserved: 1, waitingPerOrg: Number.POSITIVE_INFINITY }, clock)
  const { perOrg } = bounds
  const queues: Record<QueryClass, QueryQueue> = {
    caller: new QueryQueue({ ...bounds, waitingPerOrg: perOrg * WAITING_PER_RUNNING }, clock),
    monitor: internalLane(MONITORS_AT_ONCE),
    tail: internalLane(TAILS_AT_ONCE),
    export: internalLane(EXPORTS_AT_ONCE),
  }
  return {
    ticket: (owner) => new AdmissionTicket(queues[owner.class], owner, clock),
    running: (kind) => queues[kind].running,
    waiting: (kind) => queues[kind].waiting,
  }
}

/**
 * The admission of one query. It occupies a running slot only while one of its statements, or a holder of the ticket, needs it. A query
 * that has begun waits ahead of those that have not, and is never refused.
 */
class AdmissionTicket implements QueryTicket {
  readonly #queue: QueryQueue
  readonly #owner: QueryOwner
  readonly #clock: World['clock']
  #entry: QueueEntry | undefined
  #users = 0
  #statements = 0
  #hasBegun = false
  readonly #next: (() => void)[] = []

  constructor(queue: QueryQueue, owner: QueryOwner, clock: World['clock']) {
    this.#queue = queue
    this.#owner = owner
    this.#clock = clock
  }

  hold(): { leave(): void } {
    this.#join()
    let hasLeft = false
    return {
      leave: () => {
        if (!hasLeft) this.#leave()
        hasLeft = true
      },
    }
  }

  async run<T>({ signal, waitMs }: { signal: AbortSignal; waitMs: number }, work: (slot: QuerySlot) => Promise<T>): Promise<T> {
    const entry = this.#join()
    try {
      await this.#granted(entry, { signal, waitMs })
      await this.#statementSlot()
      try {
        signal.throwIfAborted()
        return await work({ rank: entry.rank, running: this.#queue.running, isLast: this.#owner.class === 'export' })
      } finally {
        this.#statements -= 1
        for (const wake of this.#next.splice(0)) wake()
      }
    } finally {
      this.#leave()
    }
  }

  #join(): QueueEntry {
    if (!this.#entry) {
      const entry = this.#queue.enter(this.#owner, this.#hasBegun)
      if ('full' in entry) throw refusal(entry.full, this.#owner, this.#queue.bounds.perOrg)
      this.#entry = entry
    }
    this.#users += 1
    return this.#entry
  }

  #leave(): void {
    this.#users -= 1
    if (this.#users > 0) return
    this.#entry?.leave()
    this.#entry = undefined
  }

  async #granted(entry: QueueEntry, { signal, waitMs }: { signal: AbortSignal; waitMs: number }): Promise<void> {
    if (!entry.isGranted) {
      const ended = new AbortController()
      const late = this.#clock.sleep(waitMs, AbortSignal.any([ended.signal, signal])).then(
        () => 'late' as const,
        () => 'left' as const,
      )
      const outcome = await Promise.race([entry.granted.then(() => 'granted' as const), late])
      ended.abort()
      signal.throwIfAborted()
      if (outcome === 'late' && !entry.isGranted) throw tooMany(`this query has waited ${Math.round(waitMs / 1_000)} s for other queries`)
    }
    this.#hasBegun = true
  }

  async #statementSlot(): Promise<void> {
    const statementsMax = (): number => Math.min(STATEMENTS_AT_ONCE, this.#queue.statementsAtOnce(this.#owner.orgId))
    while (this.#statements >= statementsMax()) await new Promise<void>((wake) => void this.#next.push(wake))
    this.#statements += 1
  }
}

function refusal(full: 'credential' | 'organization', { running, waiting }: QueryOwner, perOrg: number): Failure {
  if (full === 'credential') return tooMany(`a credential may have ${running} running and ${waiting} waiting queries`)
  return tooMany(`an organization may have ${perOrg} running and ${perOrg * WAITING_PER_RUNNING} waiting queries`)
}

const tooMany = (rule: string): Failure =>
  new Failure(429, `too many queries: ${rule}; try again in ${RETRY_AFTER_S} s`, { headers: { 'retry-after': String(RETRY_AFTER_S) } })
