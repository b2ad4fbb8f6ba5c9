import type { Identity } from '@dendro/api'
import type { Run } from '../writer/post.ts'
import { SEQ_EPOCH_MS, seqAt } from '../writer/seq.ts'

/** A LedgerEntry is what became of one request to one dataset. The three must account for what was received: stored, rejected, duplicate. */
export type LedgerEntry = {
  orgNumber: number
  /** logId is undefined where something was refused before its dataset was known. */
  logId: string | undefined
  identity: Identity
  protocol: string
  /** received is counted where the request is read, apart from the ends that its events come to. */
  received: number
  /** stored is `runs` of what the writer answered; it tells by the numbers in which minute the events arrived, just as a recount does. */
  stored: readonly Run[]
  duplicate: number
  /** rejected counts by reason; reasons are words of our own, never of a caller. */
  rejected: Readonly<Record<string, number>>
  truncated: number
  /** late are events older than an hour when they arrived. */
  late: number
  /** wireBytes came over the network, rawBytes are the lines themselves. */
  wireBytes: number
  rawBytes: number
}

export const MINUTE_MS = 60_000
/** NUMBERS_PER_MINUTE: sequence numbers begin on a full minute, so that minutes of them are minutes of the clock. */
export const NUMBERS_PER_MINUTE = seqAt(SEQ_EPOCH_MS + MINUTE_MS)
/** NOBODY stands for a dataset or an identity that is not known. */
export const NOBODY = '00000000-0000-0000-0000-000000000000'
/** CELLS_MAX is where a page stops to tell minutes apart: while the store cannot be written, only refusals arrive, and memory has a bound. */
const CELLS_MAX = 50_000

export type Counts = {
  received: number
  stored: number
  duplicate: number
  rejected: number
  truncated: number
  late: number
  wire_bytes: number
  raw_bytes: number
}

/** A Cell counts one minute of one identity's requests of one protocol to one dataset. */
export type Cell = {
  orgNumber: number
  logId: string
  minuteMs: number
  identity: Identity
  protocol: string
  counts: Counts
  reasons: Map<string, number>
  /** changes rise with every note; `written` is what they were in the last write that succeeded. */
  changes: number
  written: number
}

/** A LedgerPage holds the counts of a while. Its cells only grow, so that the latest write of each says all that the page knows. */
export class LedgerPage {
  readonly id: string
  readonly openedMs: number
  private readonly cells = new Map<string, Cell>()
  private readonly latest = new Map<string, Cell>()
  private readonly byOrg = new Map<number, Cell[]>()
  private readonly cellsMax: number

  constructor(id: string, openedMs: number, cellsMax = CELLS_MAX) {
    this.id = id
    this.openedMs = openedMs
    this.cellsMax = cellsMax
  }

  /** note adds an entry; nowMs dates what was not stored. */
  note(entry: LedgerEntry, nowMs: number): void {
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
    cell.counts.duplicate += entry.duplicate
    cell.counts.truncated += entry.truncated
    cell.counts.late += entry.late
    cell.counts.wire_bytes += entry.wireBytes
    cell.counts.raw_bytes += entry.rawBytes
    for (const [reason, events] of Object.entries(entry.rejected)) {
      cell.counts.rejected += events
      cell.reasons.set(reason, (cell.reasons.get(reason) ?? 0) + events)
    }
  }

  /** unwritten gives the cells that changed since they were last written. */
  unwritten(): Cell[] {
    return [...this.cells.values()].filter((cell) => cell.changes > cell.written)
  }

  /** storedBytes are those of an organisation that the page counts from a minute on, in all datasets or in those named. */
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

  private cell({ orgNumber, logId = NOBODY, identity, protocol }: LedgerEntry, minuteMs: number): Cell {
    const kind = `${orgNumber} ${logId} ${identity.id} ${protocol}`
    const place = `${kind} ${minuteMs}`
    const known = this.cells.get(place) ?? (this.cells.size >= this.cellsMax ? this.latest.get(kind) : undefined)
    const cell = known ?? { orgNumber, logId, minuteMs, identity, protocol, counts: noCounts(), reasons: new Map(), changes: 0, written: 0 }
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

const noCounts = (): Counts => ({
  received: 0,
  stored: 0,
  duplicate: 0,
  rejected: 0,
  truncated: 0,
  late: 0,
  wire_bytes: 0,
  raw_bytes: 0,
})

/** minuteOfSeq is when the event with that number arrived, to the minute. */
export const minuteOfSeq = (seq: bigint): number => Number(seq / NUMBERS_PER_MINUTE) * MINUTE_MS + SEQ_EPOCH_MS

/** minutesOf cuts a run where a minute ends. */
function minutesOf({ firstSeq, rows }: Run): { minuteMs: number; rows: number }[] {
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
