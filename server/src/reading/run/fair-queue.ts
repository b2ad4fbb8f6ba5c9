import type { QueryOwner, World } from '../../world.ts'

/** The limits of a queue. An infinite `waitingPerOrg` refuses nothing. */
export type QueryQueueBounds = {
  readonly running: number
  readonly perOrg: number
  /** The running queries per organization while another one is active. */
  readonly perOrgShared: number
  /** The slots that stay free for organizations without running queries while several are active. */
  readonly reserved: number
  readonly waitingPerOrg: number
  /**
   * How many queries of an organization that have run for less than `forMs` run at once. Short queries run one after the other then, which takes each of them
   * less time, and long ones do not hold them up.
   */
  readonly recentlyStarted?: { readonly atOnce: number; readonly forMs: number }
}

/** A running or waiting query of a queue. */
export type QueueEntry = {
  readonly isGranted: boolean
  readonly granted: Promise<void>
  /** The number of running queries that share the processors with this one, including it. It is set when the entry is granted. */
  readonly rank: number
  leave(): void
}

type QueueClock = Pick<World['clock'], 'monotonicMs' | 'sleep'>

/** An organization counts as active until this long after its last query. */
const ACTIVE_MS = 60_000
const ORGS_REMEMBERED_MAX = 1_000

class QueuedEntry implements QueueEntry {
  readonly owner: QueryOwner
  readonly hasBegun: boolean
  readonly granted: Promise<void>
  readonly #left: (entry: QueuedEntry) => void
  resolve: () => void = () => undefined
  isGranted = false
  isOver = false
  rank = 0
  grantedAtMs = 0

  constructor(owner: QueryOwner, hasBegun: boolean, left: (entry: QueuedEntry) => void) {
    this.owner = owner
    this.hasBegun = hasBegun
    this.#left = left
    this.granted = new Promise((resolve) => {
      this.resolve = resolve
    })
  }

  leave(): void {
    if (this.isOver) return
    this.isOver = true
    this.#left(this)
  }
}

type OrganizationQueue = {
  running: number
  /** The running queries in the order of their grants, without those that are known to be old. */
  recentlyStarted: QueuedEntry[]
  /** The number of the last grant; 0 before the first. */
  servedAt: number
  /** In order of arrival, with queries that have begun first. */
  waiting: QueuedEntry[]
  runningOf: Map<string, number>
}

/**
 * Grants running slots: round-robin over organizations, within one to the credential with the fewest running queries, then in order of
 * arrival. No slot stays free that a waiting query may use. While several organizations are active, each gets fewer slots. The last slots are
 * for organizations that run nothing, so that none of them waits for the long queries of others.
 */
export class QueryQueue {
  readonly bounds: QueryQueueBounds
  readonly #clock: QueueClock
  readonly #orgs = new Map<string, OrganizationQueue>()
  readonly #activeAtMs = new Map<string, number>()
  #running = 0
  #grants = 0
  #isAging = false

  constructor(bounds: QueryQueueBounds, clock: QueueClock) {
    this.bounds = bounds
    this.#clock = clock
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#orgs.values().reduce((sum, { waiting }) => sum + waiting.length, 0)
  }

  /** Returns how many statements each query of an organization may run at once. Together they do not exceed its limit of running queries. */
  statementsAtOnce(orgId: string): number {
    const { perOrg, perOrgShared } = this.bounds
    if (perOrgShared === perOrg || !this.#isShared(orgId)) return Number.POSITIVE_INFINITY
    return Math.max(1, Math.floor(perOrgShared / (this.#orgs.get(orgId)?.running ?? 1)))
  }

  /** Enters the queue. The entry is granted at once when a slot is free. When it is refused, the result names the limit that is reached. */
  enter(owner: QueryOwner, hasBegun: boolean): QueueEntry | { full: 'credential' | 'organization' } {
    const org = this.#orgs.get(owner.orgId) ?? { running: 0, recentlyStarted: [], servedAt: 0, waiting: [], runningOf: new Map() }
    const entry = new QueuedEntry(owner, hasBegun, (left) => this.#leave(left))
    const mayRun = this.#isRunnable(org, entry, this.#isShared(owner.orgId))
    if (!mayRun && !hasBegun) {
      const fresh = org.waiting.filter((one) => !one.hasBegun)
      if (fresh.filter((one) => one.owner.credential === owner.credential).length >= owner.waiting) return { full: 'credential' }
      if (fresh.length >= this.bounds.waitingPerOrg) return { full: 'organization' }
    }
    this.#orgs.set(owner.orgId, org)
    if (mayRun) this.#grant(org, entry)
    else {
      org.waiting.splice(hasBegun ? org.waiting.filter((one) => one.hasBegun).length : org.waiting.length, 0, entry)
      this.#fillLater()
    }
    return entry
  }

  #isRunnable(org: OrganizationQueue, { owner }: QueuedEntry, isShared: boolean): boolean {
    const { running, perOrg, perOrgShared, reserved } = this.bounds
    const mayReserve = !isShared || org.running === 0
    return (
      this.#running < (mayReserve ? running : running - reserved) &&
      org.running < (isShared ? perOrgShared : perOrg) &&
      this.#recentIn(org).length < (this.bounds.recentlyStarted?.atOnce ?? Number.POSITIVE_INFINITY) &&
      (org.runningOf.get(owner.credential) ?? 0) < owner.running
    )
  }

  #recentIn(org: OrganizationQueue): readonly QueuedEntry[] {
    const { recentlyStarted } = this.bounds
    const sinceMs = this.#clock.monotonicMs() - (recentlyStarted?.forMs ?? 0)
    if (recentlyStarted) while (org.recentlyStarted[0] && org.recentlyStarted[0].grantedAtMs <= sinceMs) org.recentlyStarted.shift()
    return org.recentlyStarted
  }

  #grant(org: OrganizationQueue, entry: QueuedEntry): void {
    const { orgId, credential } = entry.owner
    this.#running += 1
    org.running += 1
    entry.grantedAtMs = this.#clock.monotonicMs()
    if (this.bounds.recentlyStarted) org.recentlyStarted.push(entry)
    const ownRunning = (org.runningOf.get(credential) ?? 0) + 1
    org.runningOf.set(credential, ownRunning)
    entry.rank = this.#isShared(orgId) ? org.running : ownRunning
    this.#noteActive(orgId)
    entry.isGranted = true
    entry.resolve()
    this.#grants += 1
    org.servedAt = this.#grants
  }

  /** Whether other organizations are active. Then all queries of one organization share one part of the processors. */
  #isShared(orgId: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    for (const [id, atMs] of this.#activeAtMs) {
      // In order of time, the oldest first.
      if (nowMs - atMs <= ACTIVE_MS) break
      this.#activeAtMs.delete(id)
    }
    const othersActive = this.#activeAtMs.size - Number(this.#activeAtMs.has(orgId))
    const othersQueued = this.#orgs.size - Number(this.#orgs.has(orgId))
    return othersActive > 0 || othersQueued > 0
  }

  #noteActive(orgId: string): void {
    this.#activeAtMs.delete(orgId)
    if (this.#activeAtMs.size >= ORGS_REMEMBERED_MAX) this.#activeAtMs.clear()
    this.#activeAtMs.set(orgId, this.#clock.monotonicMs())
  }

  #leave(entry: QueuedEntry): void {
    const { orgId, credential } = entry.owner
    const org = this.#orgs.get(orgId)
    if (!org) return
    if (entry.isGranted) {
      this.#running -= 1
      org.running -= 1
      org.recentlyStarted = org.recentlyStarted.filter((one) => one !== entry)
      const left = (org.runningOf.get(credential) ?? 1) - 1
      if (left > 0) org.runningOf.set(credential, left)
      else org.runningOf.delete(credential)
    } else org.waiting.splice(org.waiting.indexOf(entry), 1)
    if (org.running === 0 && org.waiting.length === 0) this.#orgs.delete(orgId)
    this.#fill()
    this.#fillLater()
  }

  #fill(): void {
    while (this.#running < this.bounds.running) {
      const next = this.#next()
      if (!next) return
      const [org, entry] = next
      org.waiting.splice(org.waiting.indexOf(entry), 1)
      this.#grant(org, entry)
    }
  }

  /** Fills the queue again once the oldest recently started query has run for longer, if queries wait until then. */
  #fillLater(): void {
    const { recentlyStarted } = this.bounds
    if (!recentlyStarted || this.#isAging) return
    const waitedFor = [...this.#orgs.values()].flatMap((org) => (org.waiting.length > 0 ? this.#recentIn(org).slice(0, 1) : []))
    if (waitedFor.length === 0) return
    const oldestMs = Math.min(...waitedFor.map(({ grantedAtMs }) => grantedAtMs))
    this.#isAging = true
    void this.#clock.sleep(Math.max(1, oldestMs + recentlyStarted.forMs - this.#clock.monotonicMs())).then(() => {
      this.#isAging = false
      this.#fill()
      this.#fillLater()
    })
  }

  #next(): [OrganizationQueue, QueuedEntry] | undefined {
    for (const [orgId, org] of [...this.#orgs].sort(([, one], [, other]) => one.servedAt - other.servedAt)) {
      const isShared = this.#isShared(orgId)
      const runnable = org.waiting.filter((entry) => this.#isRunnable(org, entry, isShared))
      const runningOf = ({ owner }: QueuedEntry): number => org.runningOf.get(owner.credential) ?? 0
      const [first, ...rest] = runnable
      if (first) return [org, rest.reduce((best, entry) => (runningOf(entry) < runningOf(best) ? entry : best), first)]
    }
    return undefined
  }
}
