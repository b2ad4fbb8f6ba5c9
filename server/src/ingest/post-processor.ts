import { createHash } from 'node:crypto'
import type { DatasetBatch } from './batch.ts'
import { countEvents, linesOfBatch } from './intake/arrivals.ts'
import { LineParsers } from './intake/parsing.ts'
import { Shredders } from './intake/shredding.ts'
import type { CountReply, ParseReply, ParseRequest, ShredReply, ShredRequest, WorkerRequest } from './intake/worker-messages.ts'
import { receivers } from './receivers/receivers.ts'

/** PostProcessor parses bodies and splits their events, step by step. It keeps only bodies in progress. */
export class PostProcessor {
  readonly #shredders = new Shredders(Math.random)
  readonly #parsings = new LineParsers()
  readonly #posts = new Map<number, readonly DatasetBatch[]>()

  run(job: number, request: WorkerRequest): ParseReply | ShredReply | CountReply {
    if (request.kind === 'parse') return this.#parse(job, request)
    if (request.kind === 'count') return { events: countAll(this.#posts.get(job) ?? []) }
    return this.#shred(job, request)
  }

  forget(job: number): void {
    this.#posts.delete(job)
  }

  #parse(job: number, { receiver: name, request, wantsHash }: ParseRequest): ParseReply {
    const receiver = receivers.find((candidate) => candidate.name === name)
    if (!receiver) throw new Error('a post is for a receiver that is not in the list')
    const parsed = receiver.parse(request)
    this.#posts.set(job, parsed.batches)
    return {
      batches: parsed.batches.map(({ collection, dataset }) => ({ collection, dataset })),
      rejected: parsed.rejected,
      total: parsed.total,
      idempotencyKey: parsed.idempotencyKey,
      notes: parsed.notes,
      bodyHash: wantsHash || parsed.idempotencyKey !== undefined ? hash64(request.body) : 0n,
    }
  }

  #shred(job: number, { atMs, origin, targets }: ShredRequest): ShredReply {
    const deliveries = this.#posts.get(job)
    if (!deliveries) throw new Error('a post is to be split that was never read')
    return {
      shredded: targets.map((target) => {
        const delivery = deliveries[target.batch]
        if (!delivery) throw new Error('a delivery is to be split that the post does not have')
        const parsing = target.parser && this.#parsings.of(target.parser)
        const one = this.#shredders.shred(linesOfBatch(delivery, { at: { ms: atMs, ns: 0 }, origin }, target.attributes, parsing), target)
        return parsing && one.kind === 'blocks' ? { ...one, parsed: parsing.counts } : one
      }),
    }
  }
}

const countAll = (deliveries: readonly DatasetBatch[]): number =>
  deliveries.reduce((sum, { events: arrivals }) => sum + countEvents(arrivals), 0)

const hash64 = (bytes: Uint8Array): bigint => createHash('sha256').update(bytes).digest().readBigUInt64LE()
