import type { Ledger, RequestOutcome } from '../../events/ledger/ledger.ts'
import type { PostResult } from '../../events/writer/post.ts'
import type { Actor } from '../../http/actor.ts'
import type { RuleCounts } from '../../ingest-rules/ingest-rules.ts'
import { Failure } from '../../kernel/errors.ts'
import type { IngestReservation } from '../../resources/data/limits/limits.ts'
import type { CountedBlock } from './worker-messages.ts'

/** The ledger's reasons for rejections, by status. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'malformed',
  403: 'forbidden',
  404: 'unknown_path',
  408: 'too_slow',
  409: 'conflict',
  413: 'too_large',
  415: 'encoding',
  422: 'identity',
  429: 'limit',
  503: 'unavailable',
}
/** Other statuses are bugs of the service. */
const FAULT = 'fault'

export const reasonOf = (failure: unknown): string => (failure instanceof Failure ? (REASONS[failure.status] ?? FAULT) : FAULT)

/** The part of a post for one dataset: the rows to store, and what ingest rules did to its events. */
export type DatasetShare = { logId: string; rows: number; blocks: readonly CountedBlock[]; ruled?: RuleCounts | undefined }

/** The events of a share that arrived. */
export const arrivedOf = ({ rows, ruled }: DatasetShare): number => rows + (ruled?.dropped ?? 0)

/** The protocol name in the ledger for events of the service itself. */
export const OWN_PROTOCOL = 'dendro'

type Sender = { actor: Actor; protocol: string }

/** Accounts for every event of one post. Until its events are counted, their number is unknown, and a refused post counts as one event. */
export class PostAccounting {
  /** The bytes of the body received so far. */
  wireBytes = 0
  /** The events of the post, as far as known. */
  events = 1
  /** Set when all events of the post belong to one dataset. */
  logId: string | undefined
  /** True when the service itself stores the post again after a failure. Then its events count once, when they are stored or given up. */
  willRepeat: (failure: unknown) => boolean = () => false
  /** True when an earlier attempt of the service was split too. */
  isRepeated = false
  /** What will be stored again, unless it is given up. */
  readonly #left: { logId: string; rows: number; wireBytes: number }[] = []
  readonly #ledger: Pick<Ledger, 'note'>
  readonly #sender: Sender
  /** True when the shares of the post are noted one by one. */
  isSplit = false

  constructor(ledger: Pick<Ledger, 'note'>, sender: Sender) {
    this.#ledger = ledger
    this.#sender = sender
  }

  /** Notes a post that is given up: all of it, or what is left of its shares. */
  noteRefused(failure: unknown, reason = reasonOf(failure)): void {
    for (const { logId, rows, wireBytes } of this.#left.splice(0)) {
      this.#note({ logId, received: rows, rejected: { [reason]: rows }, wireBytes })
    }
    if (this.isSplit) return
    const { events, logId, wireBytes } = this
    this.#note({ logId, received: events, rejected: { [reason]: events }, wireBytes })
  }

  /** Notes events that are not stored while the others are. */
  noteLeftOut(share: DatasetShare, failure: unknown): void {
    const { logId } = share
    const events = arrivedOf(share)
    if (!this.isRepeated) this.#note({ logId, received: events, rejected: { [reasonOf(failure)]: events } })
  }

  /** Splits the post by dataset. Each share is noted when it ends; unreadable records belong to no dataset. */
  splitByDataset(
    shares: readonly DatasetShare[],
    unreadable: number,
    admission: IngestReservation,
    rejectedAs = 'malformed',
  ): readonly { share: DatasetShare; ended: (end: PostResult) => void }[] {
    this.isSplit = true
    const wire = partsOf(this.wireBytes, shares.map(rawBytesOf))
    if ((unreadable > 0 || shares.length === 0) && !this.isRepeated) {
      const wireBytes = shares.length === 0 ? this.wireBytes : 0
      this.#note({ logId: this.logId, received: unreadable, rejected: unreadable > 0 ? { [rejectedAs]: unreadable } : {}, wireBytes })
    }
    return shares.map((share, index) => ({
      share,
      ended: (end) => {
        this.#ended(share, wire[index] ?? 0, end)
        admission.release(share.logId)
      },
    }))
  }

  #ended({ logId, rows, blocks, ruled }: DatasetShare, wireBytes: number, { stored, failure }: PostResult): void {
    const runs = stored.map(({ block, firstSeq }) => ({ firstSeq, rows: block.rows }))
    const storedRows = runs.reduce((sum, run) => sum + run.rows, 0)
    const others = rows - storedRows
    const counts = new Map<unknown, CountedBlock['counts']>(blocks.map((block) => [block, block.counts]))
    const sumOf = (name: 'truncated' | 'late' | 'rawBytes'): number =>
      stored.reduce((sum, { block }) => sum + (counts.get(block)?.[name] ?? 0), 0)
    const sampled = stored.flatMap(({ block }) => counts.get(block)?.samples ?? [])
    const sums = { truncated: sumOf('truncated'), late: sumOf('late'), rawBytes: sumOf('rawBytes') }
    const noted = {
      logId,
      stored: runs,
      ...sums,
      ...(sampled.length === 0 ? {} : { sampled, sender: senderName(this.#sender.actor.facts) }),
    }
    const dropped = ruled?.dropped ?? 0
    if (failure !== undefined && others > 0) {
      // The sender repeats events that are not stored, and with them those that rules drop.
      if (this.willRepeat(failure)) {
        this.#left.push({ logId, rows: others + dropped, wireBytes })
        if (storedRows > 0) this.#note({ ...noted, received: storedRows })
        return
      }
      const rejected = { [reasonOf(failure)]: others + dropped }
      this.#note({ ...noted, received: rows + dropped, rejected, wireBytes })
      return
    }
    // Duplicates of an earlier attempt were counted by it.
    if (this.isRepeated && others === rows) return
    const acted = { dropped, droppedBytes: ruled?.droppedBytes ?? 0, rules: ruled?.acted ?? NO_RULES }
    if (this.isRepeated) this.#note({ ...noted, received: storedRows + dropped, ...acted, wireBytes })
    else if (others > 0) this.#note({ ...noted, received: rows + dropped, duplicate: others + dropped, wireBytes })
    else this.#note({ ...noted, received: rows + dropped, ...acted, wireBytes })
  }

  #note(entry: Partial<RequestOutcome> & Pick<RequestOutcome, 'logId' | 'received'>): void {
    const { actor, protocol } = this.#sender
    const { orgNumber, identity } = actor
    const nothing = { stored: [], duplicate: 0, rejected: {}, truncated: 0, late: 0, wireBytes: 0, rawBytes: 0, ...NOTHING_RULED }
    this.#ledger.note({ orgNumber, identity, protocol, ...nothing, ...entry })
  }
}

const PROGRAM_CHARS_MAX = 60

/** The program and the address that sent a post, as far as they are known. */
function senderName({ address, userAgent }: Actor['facts']): string {
  const [program = ''] = userAgent.split(/[\s/]/, 1)
  return [program.slice(0, PROGRAM_CHARS_MAX), address].filter((part) => part !== '').join(' ')
}

const NO_RULES: ReadonlyMap<string, number> = new Map()
const NOTHING_RULED = { dropped: 0, droppedBytes: 0, rules: NO_RULES }

export const rawBytesOf = ({ blocks }: DatasetShare): number => blocks.reduce((sum, { counts }) => sum + counts.rawBytes, 0)

/** Divides a total by weights; the parts add up to the total. */
function partsOf(whole: number, weights: readonly number[]): number[] {
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const parts = weights.map((weight) => (all === 0 ? 0 : Math.floor((whole * weight) / all)))
  const left = whole - parts.reduce((sum, part) => sum + part, 0)
  return parts.map((part, index) => (index === 0 ? part + left : part))
}
