import type { OpenPage } from '../../../events/ledger/ledger.ts'
import { selectBytes } from '../../../events/ledger/reads.ts'
import type { World } from '../../../world.ts'
import { ByteCounter } from './tally.ts'

type OrgCountWorld = Pick<World, 'clock' | 'events' | 'ledger' | 'log'>

/** The ingestion of other processes is known here soon after they flush their ledgers, so that all agree within two seconds. */
const POLL_MS = 600
const STALE_MS = 1_000
const MINUTE_MS = 60_000
/** Counts older than OPEN_MS hardly change and are summed again only every CLOSED_EVERY_MS. */
const OPEN_MS = 60 * MINUTE_MS
const CLOSED_EVERY_MS = 10 * MINUTE_MS

/**
 * Counts the bytes that an organization has stored since the start of a window: the ledger has those of all processes, memory has those of this
 * process that are not flushed yet.
 */
export class OrgCount {
  readonly windowStartMs: number
  /** Limits, each in one version, that this process found crossed before that is stored. */
  readonly crossed = new Map<string, number>()
  readonly #world: OrgCountWorld
  readonly #orgNumber: number
  #closed = { tally: new ByteCounter(), toMs: Number.NEGATIVE_INFINITY }
  #written = new ByteCounter()
  /** Pages of this process's ledger, excluded from the sums of the store, which may have them in part, and added from memory. */
  #pages: readonly OpenPage[] = []
  readonly #reserved = new ByteCounter()
  #polledMs = Number.NEGATIVE_INFINITY
  #polling: Promise<void> | undefined

  constructor(world: OrgCountWorld, orgNumber: number, windowStartMs: number) {
    this.#world = world
    this.#orgNumber = orgNumber
    this.windowStartMs = windowStartMs
  }

  /** Resolves when the count is at most a second behind the other processes. */
  async fresh(): Promise<void> {
    const ageMs = this.#world.clock.monotonicMs() - this.#polledMs
    if (ageMs < POLL_MS) return
    const polling = this.#poll()
    if (ageMs < STALE_MS) polling.catch(() => undefined)
    else
      await polling.catch((err) => {
        if (this.#polledMs === Number.NEGATIVE_INFINITY) throw err
        this.#world.log.warn({ err, org_number: this.#orgNumber }, 'the usage of limits could not be read; the last known values are used')
      })
  }

  /** The stored and reserved bytes of the named datasets, or of all. */
  used(logIds: ReadonlySet<string> | undefined): number {
    let sum = this.#closed.tally.of(logIds) + this.#written.of(logIds) + this.#reserved.of(logIds)
    for (const page of new Set([...this.#pages, ...this.#world.ledger.open()])) {
      sum += page.storedBytes(this.#orgNumber, this.windowStartMs, logIds)
    }
    return sum
  }

  reserve(logId: string, bytes: number): void {
    this.#reserved.add(logId, bytes)
  }

  /** Ends a reservation, right after the ledger has counted the bytes. */
  release(logId: string, bytes: number): void {
    this.#reserved.add(logId, -bytes)
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#read().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #read(): Promise<void> {
    const { clock, events, ledger } = this.#world
    const nowMs = clock.nowMs()
    const span = { orgNumber: this.#orgNumber, logIds: undefined }
    // A page that is opened while the store is being read could be counted twice.
    for (;;) {
      const startedMs = clock.monotonicMs()
      const pages = ledger.open()
      const without = pages.map(({ id }) => id)
      const closedToMs = Math.max(this.windowStartMs, Math.floor((nowMs - OPEN_MS) / CLOSED_EVERY_MS) * CLOSED_EVERY_MS)
      const isSame = closedToMs === this.#closed.toMs
      const [closed, written] = await Promise.all([
        isSame ? undefined : selectBytes(events, { ...span, fromMs: this.windowStartMs, toMs: closedToMs, isOpen: false }, without),
        selectBytes(events, { ...span, fromMs: closedToMs, toMs: nowMs, isOpen: true }, without),
      ])
      if (ledger.open().some((page) => !pages.includes(page))) continue
      if (closed) this.#closed = { tally: tallyOf(closed), toMs: closedToMs }
      this.#written = tallyOf(written)
      this.#pages = pages
      this.#polledMs = startedMs
      return
    }
  }
}

function tallyOf(rows: readonly { logId: string; bytes: number }[]): ByteCounter {
  const tally = new ByteCounter()
  for (const { logId, bytes } of rows) tally.add(logId, bytes)
  return tally
}
