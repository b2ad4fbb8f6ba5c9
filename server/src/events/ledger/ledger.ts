import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import { addOutcome, type CellCounts, LedgerPage, noCounts, type RequestOutcome } from './page.ts'
import { insertCells } from './rows.ts'
import { SampleCounts } from './samples.ts'

export type { RequestOutcome } from './page.ts'

export type OpenPage = Pick<LedgerPage, 'id' | 'storedBytes'>

/** Accounts for every event that was sent: received = stored + rejected + duplicate + dropped. */
export type Ledger = {
  /** When this process began counting. */
  readonly openedMs: number
  /** The counts of this process since it began. */
  readonly totals: Readonly<CellCounts>
  /** Adds an outcome in memory. Call it once per request and dataset, when the outcomes are known. */
  note(entry: RequestOutcome): void
  /** The pages that may not be fully stored. The last one receives notes. */
  open(): readonly OpenPage[]
  /** Resolves when everything noted before is in the store. */
  flush(): Promise<void>
  /** Resolves when all samples noted before are in the store. Without it they are written every minute. */
  flushSamples(): Promise<void>
  /** Writes the rest. Nothing may be noted afterwards. */
  close(): Promise<void>
}

export type LedgerDeps = { clock: Clock; ids: Ids; log: Logger }

/** Leaves a write time to finish within a second of the events. */
const FLUSH_MS = 800
/** Samples need not be exact to the second, and their sums change with every post. */
const SAMPLES_MS = 60_000
const CLOSE_TRIES = 5
/** A page is closed at this age or size; its memory is freed once it is written. */
const PAGE_MS = 600_000
const PAGE_CELLS = 20_000

/** Warns of the first of several failed writes in a row. */
function firstFailure(log: Logger, what: string) {
  let isFailing = false
  return {
    note: (err: unknown): void => {
      if (!isFailing) log.warn({ err }, `${what} could not be written yet`)
      isFailing = true
    },
    end: (): void => {
      isFailing = false
    },
  }
}

/** Keeps counts in memory and writes them within a second. A recount finds what a killed process did not write (recount.ts). */
export function openLedger(store: EventStore, { clock, ids, log }: LedgerDeps, { flushMs = FLUSH_MS } = {}): Ledger {
  const stopping = new AbortController()
  const totals = noCounts()
  let page = newPage()
  let closedPage: LedgerPage | undefined
  let version = 0
  let writing: Promise<void> = Promise.resolve()
  const samples = new SampleCounts(ids)
  let samplesMs = clock.monotonicMs()

  function newPage(): LedgerPage {
    return new LedgerPage(ids.uuid(), clock.monotonicMs())
  }

  const openPages = (): LedgerPage[] => (closedPage ? [closedPage, page] : [page])

  async function write(): Promise<void> {
    const isOver = page.size >= PAGE_CELLS || (page.size > 0 && clock.monotonicMs() - page.openedMs > PAGE_MS)
    // At most one page waits. While the store cannot be written, the open page grows to its bound.
    if (isOver && !closedPage) {
      closedPage = page
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
    if (closedPage?.unwritten().length === 0) closedPage = undefined
  }

  function flushSamples(): Promise<void> {
    const flushed = writing.then(() => samples.write(store))
    writing = flushed.catch(() => undefined)
    return flushed
  }

  /** Also waits for a running write, which may have begun before the last note. */
  function flush(): Promise<void> {
    const flushed = writing.then(write)
    writing = flushed.catch(() => undefined)
    return flushed
  }

  const [ofCounts, ofSamples] = [firstFailure(log, 'the ledger'), firstFailure(log, 'samples of lines')]

  async function flushAlways(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(flushMs, stopping.signal).catch(() => undefined)
      await flush().then(ofCounts.end, ofCounts.note)
      if (clock.monotonicMs() - samplesMs < SAMPLES_MS) continue
      samplesMs = clock.monotonicMs()
      await flushSamples().then(ofSamples.end, ofSamples.note)
    }
  }

  const openedMs = clock.nowMs()
  const flushing = flushAlways()
  return {
    openedMs,
    totals,
    note: (entry) => {
      page.note(entry, clock.nowMs())
      samples.note(entry, clock.nowMs())
      addOutcome(totals, entry)
    },
    open: openPages,
    flush,
    flushSamples,
    close: async () => {
      stopping.abort()
      await flushing
      await flushSamples().catch((err) => log.warn({ err }, 'samples of lines could not be written and are lost'))
      for (let tries = 1; tries <= CLOSE_TRIES; tries += 1) {
        try {
          return await flush()
        } catch (err) {
          const cells = openPages().reduce((sum, one) => sum + one.unwritten().length, 0)
          if (tries === CLOSE_TRIES) log.error({ err, cells }, 'ledger counts were lost; a recount finds the stored events')
          else await clock.sleep(flushMs)
        }
      }
    },
  }
}
