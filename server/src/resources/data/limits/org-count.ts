import type { OpenPage } from '../../../events/ledger/ledger.ts'
import { selectBytes } from '../../../events/ledger/reads.ts'
import type { World } from '../../../world.ts'
import { ByteCounter } from './tally.ts'

type OrgCountWorld = Pick<World, 'clock' | 'events' | 'ledger' | 'log'>

/** POLL_MS and STALE_MS: what other processes took is known here soon after their ledgers are written, so that all agree within two seconds. */
const POLL_MS = 600
const STALE_MS = 1_000
const MINUTE_MS = 60_000
/** What is older than OPEN_MS hardly changes any more, and is summed up again only every CLOSED_EVERY_MS. */
const OPEN_MS = 60 * MINUTE_MS
const CLOSED_EVERY_MS = 10 * MINUTE_MS

/**
 * An OrgCount knows how many bytes an organisation has stored since the start of a window: from the ledger what all processes wrote down, and from
 * memory, to the byte, what this one took and has not written yet.
 */
export class OrgCount {
  readonly windowStartMs: number
  /** crossed names limits, in one state of theirs, that this process found crossed: it need not wait until that is written down. */
  readonly crossed = new Map<string, number>()
  readonly #world: OrgCountWorld
  readonly #orgNumber: number
  #closed = { tally: new ByteCounter(), toMs: Number.NEGATIVE_INFINITY }
  #written = new ByteCounter()
  /** #pages of this process's ledger are left out of the sums of the store, which may not have them in full, and are read where they are. */
  #pages: readonly OpenPage[] = []
  readonly #reserved = new ByteCounter()
  #polledMs = Number.NEGATIVE_INFINITY
  #polling: Promise<void> | undefined

  constructor(world: OrgCountWorld, orgNumber: number, windowStartMs: number) {
    this.#world = world
    this.#orgNumber = orgNumber
    this.windowStartMs = windowStartMs
  }

  /** fresh returns when the count is at most a second behind the other processes. */
  async fresh(): Promise<void> {
    const ageMs = this.#world.clock.monotonicMs() - this.#polledMs
    if (ageMs < POLL_MS) return
    const polling = this.#poll()
    if (ageMs < STALE_MS) polling.catch(() => undefined)
    else
      await polling.catch((err) => {
        if (this.#polledMs === Number.NEGATIVE_INFINITY) throw err
        this.#world.log.warn({ err, org_number: this.#orgNumber }, 'the use of limits could not be read; what was known is used')
      })
  }

  /** used is what is stored of the named datasets, or of all, and what is on its way. */
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

  /** release ends a reservation, right after the ledger was told what became of it. */
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
