import type { Identity } from '@dendro/api'
import { NIL_ID } from '../../kernel/ids.ts'
import { SEQ_EPOCH_MS } from '../../kernel/sequence-time.ts'
import type { SeqRun } from '../writer/post.ts'
import { seqAt } from '../writer/seq.ts'
import type { SampledOutcome } from './samples.ts'

/** The outcome of one request for one dataset. received = stored + rejected + duplicate + dropped. */
export type RequestOutcome = SampledOutcome & {
  orgNumber: number
  /** Undefined when the request was rejected before its dataset was known. */
  logId: string | undefined
  identity: Identity
  protocol: string
  /** Counted while reading the request, independently of the outcomes. */
  received: number
  /** The `runs` of the write result. Sequence numbers give the minute of arrival, as in a recount. */
  stored: readonly SeqRun[]
  duplicate: number
  /** Counts by reason; reasons are fixed words, never caller text. */
  rejected: Readonly<Record<string, number>>
  /** Events that ingest rules dropped, and the bytes of their lines. */
  dropped: number
  droppedBytes: number
  /** The events that each ingest rule dropped or changed, by the id of the rule. */
  rules: ReadonlyMap<string, number>
  truncated: number
  /** Events older than an hour on arrival. */
  late: number
  /** Network bytes (`wireBytes`) and bytes of the lines (`rawBytes`). */
  wireBytes: number
  rawBytes: number
}

export const MINUTE_MS = 60_000
/** Sequence numbers begin on a full minute, so multiples of this are full minutes. */
export const NUMBERS_PER_MINUTE = seqAt(SEQ_EPOCH_MS + MINUTE_MS)
/** From this size on, a page merges minutes, which bounds memory while the store cannot be written. */
const CELLS_MAX = 50_000

export type CellCounts = {
  received: number
  stored: number
  duplicate: number
  rejected: number
  dropped: number
  truncated: number
  late: number
  wire_bytes: number
  raw_bytes: number
  dropped_bytes: number
}

/** Counts of one minute, identity, protocol and dataset. */
export type LedgerCell = {
  orgNumber: number
  logId: string
  minuteMs: number
  identity: Identity
  protocol: string
  counts: CellCounts
  reasons: Map<string, number>
  rules: Map<string, number>
  /** Rises with every note; `written` is its value at the last successful write. */
  changes: number
  written: number
}

/** The counts of a period. Cells only grow, so the latest write of a cell replaces earlier ones. */
export class LedgerPage {
  readonly id: string
  readonly openedMs: number
  private readonly cells = new Map<string, LedgerCell>()
  private readonly latest = new Map<string, LedgerCell>()
  private readonly byOrg = new Map<number, LedgerCell[]>()
  private readonly cellsMax: number

  constructor(id: string, openedMs: number, cellsMax = CELLS_MAX) {
    this.id = id
    this.openedMs = openedMs
    this.cellsMax = cellsMax
  }

  /** Adds an outcome; nowMs dates events that were not stored. */
  note(entry: RequestOutcome, nowMs: number): void {
    const minutes = entry.stored.flatMap(minutesOf)
    const mainMs = minutes[0]?.minuteMs ?? Math.floor(nowMs / MINUTE_MS) * MINUTE_MS
    let elsewhere = 0
    for (const { minuteMs, rows } of minutes) {
      const cell = this.cell(entry, minuteMs)
      cell.counts.stored += rows
      if (minuteMs === mainMs) continue
      cell.counts.received += rows
      elsewhere += rows
    }
    const cell = this.cell(entry, mainMs)
    cell.counts.received += entry.received - elsewhere
    addUnstored(cell.counts, entry)
    for (const [reason, events] of Object.entries(entry.rejected)) cell.reasons.set(reason, (cell.reasons.get(reason) ?? 0) + events)
    for (const [rule, events] of entry.rules) cell.rules.set(rule, (cell.rules.get(rule) ?? 0) + events)
  }

  /** Cells that changed since their last write. */
  unwritten(): LedgerCell[] {
    return [...this.cells.values()].filter((cell) => cell.changes > cell.written)
  }

  /** Stored bytes of an organization since a minute, in all datasets or in the given ones. */
  storedBytes(orgNumber: number, sinceMs: number, logIds: ReadonlySet<string> | undefined): number {
    let bytes = 0
    for (const { minuteMs, logId, counts } of this.byOrg.get(orgNumber) ?? []) {
      if (minuteMs >= sinceMs && (!logIds || logIds.has(logId))) bytes += counts.raw_bytes
    }
    return bytes
  }

  get size(): number {
    return this.cells.size
  }

  private cell({ orgNumber, logId = NIL_ID, identity, protocol }: RequestOutcome, minuteMs: number): LedgerCell {
    const kind = `${orgNumber} ${logId} ${identity.id} ${protocol}`
    const place = `${kind} ${minuteMs}`
    const known = this.cells.get(place) ?? (this.cells.size >= this.cellsMax ? this.latest.get(kind) : undefined)
    const cell = known ?? {
      orgNumber,
      logId,
      minuteMs,
      identity,
      protocol,
      counts: noCounts(),
      reasons: new Map(),
      rules: new Map(),
      changes: 0,
      written: 0,
    }
    if (!known) {
      this.cells.set(place, cell)
      this.latest.set(kind, cell)
      const own = this.byOrg.get(orgNumber)
      if (own) own.push(cell)
      else this.byOrg.set(orgNumber, [cell])
    }
    cell.changes += 1
    return cell
  }
}

export const noCounts = (): CellCounts => ({
  received: 0,
  stored: 0,
  duplicate: 0,
  rejected: 0,
  dropped: 0,
  truncated: 0,
  late: 0,
  wire_bytes: 0,
  raw_bytes: 0,
  dropped_bytes: 0,
})

/** Adds an outcome without regard to minutes. */
export function addOutcome(counts: CellCounts, entry: RequestOutcome): void {
  counts.received += entry.received
  for (const { rows } of entry.stored) counts.stored += rows
  addUnstored(counts, entry)
}

/** Adds all but the received and the stored events. */
function addUnstored(counts: CellCounts, entry: RequestOutcome): void {
  counts.duplicate += entry.duplicate
  counts.truncated += entry.truncated
  counts.late += entry.late
  counts.wire_bytes += entry.wireBytes
  counts.raw_bytes += entry.rawBytes
  counts.dropped += entry.dropped
  counts.dropped_bytes += entry.droppedBytes
  for (const events of Object.values(entry.rejected)) counts.rejected += events
}

/** The minute of arrival of a sequence number. */
export const minuteOfSeq = (seq: bigint): number => Number(seq / NUMBERS_PER_MINUTE) * MINUTE_MS + SEQ_EPOCH_MS

/** Splits a run at minute boundaries. */
function minutesOf({ firstSeq, rows }: SeqRun): { minuteMs: number; rows: number }[] {
  const minutes: { minuteMs: number; rows: number }[] = []
  for (let [seq, left] = [firstSeq, rows]; left > 0; ) {
    const minuteMs = minuteOfSeq(seq)
    const within = Math.min(left, Number(seqAt(minuteMs + MINUTE_MS) - seq))
    minutes.push({ minuteMs, rows: within })
    left -= within
    seq += BigInt(within)
  }
  return minutes
}
