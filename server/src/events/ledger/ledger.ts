import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import { type LedgerEntry, LedgerPage } from './page.ts'
import { insertCells } from './rows.ts'

export type { LedgerEntry } from './page.ts'

export type OpenPage = Pick<LedgerPage, 'id' | 'storedBytes'>

/** A Ledger accounts for every event that was sent: received = stored + rejected + duplicate. */
export type Ledger = {
  /** openedMs is when this process began to note. */
  readonly openedMs: number
  /** note costs no more than a few additions; it is called once per request and dataset, when the ends of its events are known. */
  note(entry: LedgerEntry): void
  /** open are the pages that may not be in the store in full; the last is the one that notes go to. A page that is done keeps its figures. */
  open(): readonly OpenPage[]
  /** flush returns when everything noted before is in the store. */
  flush(): Promise<void>
  /** close writes what is left; nothing may be noted afterwards. */
  close(): Promise<void>
}

export type LedgerDeps = { clock: Clock; ids: Ids; log: Log }

/** FLUSH_MS leaves a write time to end within a second of what it writes. */
const FLUSH_MS = 800
const CLOSE_TRIES = 5
/** A page is turned after so long, or with so many cells: then its memory is free as soon as it is written. */
const PAGE_MS = 600_000
const PAGE_CELLS = 20_000

/** openLedger keeps counts in memory and writes them within a second. What a killed process had not written yet, a recount finds (ledger-recount.ts). */
export function openLedger(store: EventStore, { clock, ids, log }: LedgerDeps, { flushMs = FLUSH_MS } = {}): Ledger {
  const stopping = new AbortController()
  let page = newPage()
  let turned: LedgerPage | undefined
  let version = 0
  let writing: Promise<void> = Promise.resolve()
  let isTroubled = false

  function newPage(): LedgerPage {
    return new LedgerPage(ids.uuid(), clock.monotonicMs())
  }

  const openPages = (): LedgerPage[] => (turned ? [turned, page] : [page])

  async function write(): Promise<void> {
    const isOver = page.size >= PAGE_CELLS || (page.size > 0 && clock.monotonicMs() - page.openedMs > PAGE_MS)
    // One page waits at most: while the store cannot be written, the open one grows to its bound and no further.
    if (isOver && !turned) {
      turned = page
      page = newPage()
    }
    const pages = openPages().map((one) => ({ page: one, cells: one.unwritten().map((cell) => ({ cell, changes: cell.changes })) }))
    version += 1
    for (const { page: one, cells } of pages) {
      await insertCells(
        store,
        one.id,
        version,
        cells.map(({ cell }) => cell),
      )
      for (const { cell, changes } of cells) cell.written = changes
    }
    if (turned?.unwritten().length === 0) turned = undefined
  }

  /** flush waits for the write under way, which may have begun before the last note. */
  function flush(): Promise<void> {
    const flushed = writing.then(write)
    writing = flushed.catch(() => undefined)
    return flushed
  }

  async function flushAlways(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(flushMs, stopping.signal).catch(() => undefined)
      await flush().then(
        () => {
          isTroubled = false
        },
        (err) => {
          if (!isTroubled) log.warn({ err }, 'the ledger could not be written yet')
          isTroubled = true
        },
      )
    }
  }

  const openedMs = clock.nowMs()
  const flushing = flushAlways()
  return {
    openedMs,
    note: (entry) => page.note(entry, clock.nowMs()),
    open: openPages,
    flush,
    close: async () => {
      stopping.abort()
      await flushing
      for (let tries = 1; tries <= CLOSE_TRIES; tries += 1) {
        try {
          return await flush()
        } catch (err) {
          const cells = openPages().reduce((sum, one) => sum + one.unwritten().length, 0)
          if (tries === CLOSE_TRIES) log.error({ err, cells }, 'counts of the ledger are lost; the recount finds what was stored')
          else await clock.sleep(flushMs)
        }
      }
    },
  }
}
