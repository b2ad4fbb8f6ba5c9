import type { QueryOwner, World } from '../world.ts'

/** Bounds of a lane; an infinite `waitingPerOrg` refuses nothing. */
export type LaneBounds = { readonly running: number; readonly perOrg: number; readonly waitingPerOrg: number }

/** A Place is a running or waiting query in a lane. */
export type Place = {
  readonly isGranted: boolean
  readonly granted: Promise<void>
  /** rank counts the running queries that this one competes with for its share, itself included; it is known once the place is granted. */
  readonly rank: number
  leave(): void
}

/** ACTIVE_MS is how long an organization without queries still counts as one that others have to share with. */
const ACTIVE_MS = 60_000
const ORGS_REMEMBERED_MAX = 1_000

class Entry implements Place {
  readonly owner: QueryOwner
  readonly hasBegun: boolean
  readonly granted: Promise<void>
  readonly #left: (entry: Entry) => void
  resolve: () => void = () => undefined
  isGranted = false
  isOver = false
  rank = 0

  constructor(owner: QueryOwner, hasBegun: boolean, left: (entry: Entry) => void) {
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

type Organization = {
  running: number
  /** servedAt numbers the grant that it had last; 0 before the first. */
  servedAt: number
  /** waiting is in the order of arrival, queries that have begun first. */
  waiting: Entry[]
  runningOf: Map<string, number>
}

/**
 * Lane grants places: to organizations in turn, within one to the credential that runs the fewest, within that in the order of arrival. It never
 * leaves a place free that somebody may have.
 */
export class Lane {
  readonly bounds: LaneBounds
  readonly #clock: Pick<World['clock'], 'monotonicMs'>
  readonly #orgs = new Map<string, Organization>()
  readonly #activeAtMs = new Map<string, number>()
  #running = 0
  #grants = 0

  constructor(bounds: LaneBounds, clock: Pick<World['clock'], 'monotonicMs'>) {
    this.bounds = bounds
    this.#clock = clock
  }

  get running(): number {
    return this.#running
  }

  /** enter gives a place, which is granted at once where there is room, or names what is full. */
  enter(owner: QueryOwner, hasBegun: boolean): Place | { full: 'credential' | 'organization' } {
    const org = this.#orgs.get(owner.orgId) ?? { running: 0, servedAt: 0, waiting: [], runningOf: new Map() }
    const entry = new Entry(owner, hasBegun, (left) => this.#leave(left))
    const mayRun = this.#running < this.bounds.running && this.#isRunnable(org, entry)
    if (!mayRun && !hasBegun) {
      const fresh = org.waiting.filter((one) => !one.hasBegun)
      if (fresh.filter((one) => one.owner.credential === owner.credential).length >= owner.waiting) return { full: 'credential' }
      if (fresh.length >= this.bounds.waitingPerOrg) return { full: 'organization' }
    }
    this.#orgs.set(owner.orgId, org)
    if (mayRun) this.#grant(org, entry)
    else org.waiting.splice(hasBegun ? org.waiting.filter((one) => one.hasBegun).length : org.waiting.length, 0, entry)
    return entry
  }

  #isRunnable(org: Organization, { owner }: Entry): boolean {
    return org.running < this.bounds.perOrg && (org.runningOf.get(owner.credential) ?? 0) < owner.running
  }

  #grant(org: Organization, entry: Entry): void {
    const { orgId, credential } = entry.owner
    this.#running += 1
    org.running += 1
    const ownRunning = (org.runningOf.get(credential) ?? 0) + 1
    org.runningOf.set(credential, ownRunning)
    entry.rank = this.#isShared(orgId) ? org.running : ownRunning
    entry.isGranted = true
    entry.resolve()
    this.#grants += 1
    org.servedAt = this.#grants
  }

  /** #isShared is true while other organizations ask, too: then all queries of one organization share one share. */
  #isShared(orgId: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    for (const [id, atMs] of this.#activeAtMs) if (nowMs - atMs > ACTIVE_MS) this.#activeAtMs.delete(id)
    this.#activeAtMs.delete(orgId)
    if (this.#activeAtMs.size >= ORGS_REMEMBERED_MAX) this.#activeAtMs.clear()
    const others =
      this.#activeAtMs.size > 0 || [...this.#orgs].some(([id, { running, waiting }]) => id !== orgId && running + waiting.length > 0)
    this.#activeAtMs.set(orgId, nowMs)
    return others
  }

  #leave(entry: Entry): void {
    const { orgId, credential } = entry.owner
    const org = this.#orgs.get(orgId)
    if (!org) return
    if (entry.isGranted) {
      this.#running -= 1
      org.running -= 1
      const left = (org.runningOf.get(credential) ?? 1) - 1
      if (left > 0) org.runningOf.set(credential, left)
      else org.runningOf.delete(credential)
    } else org.waiting.splice(org.waiting.indexOf(entry), 1)
    if (org.running === 0 && org.waiting.length === 0) this.#orgs.delete(orgId)
    this.#fill()
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

  #next(): [Organization, Entry] | undefined {
    for (const org of [...this.#orgs.values()].sort((one, other) => one.servedAt - other.servedAt)) {
      const runnable = org.waiting.filter((entry) => this.#isRunnable(org, entry))
      const runningOf = ({ owner }: Entry): number => org.runningOf.get(owner.credential) ?? 0
      const [first, ...rest] = runnable
      if (first) return [org, rest.reduce((best, entry) => (runningOf(entry) < runningOf(best) ? entry : best), first)]
    }
    return undefined
  }
}
