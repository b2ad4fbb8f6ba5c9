import { createHash } from 'node:crypto'
import type { Delivery } from './batch.ts'
import { countArrivals, linesOf } from './intake/arrivals.ts'
import { Parsings } from './intake/parsing.ts'
import { Shredders } from './intake/shredding.ts'
import type { CountReply, ParseQuestion, ParseReply, Question, ShredQuestion, ShredReply } from './intake/worker-messages.ts'
import { receivers } from './receivers/receivers.ts'

/** PostWork reads posts and splits their events, one step at a time, and holds no more than the posts under way. */
export class PostWork {
  readonly #shredders = new Shredders(Math.random)
  readonly #parsings = new Parsings()
  readonly #posts = new Map<number, readonly Delivery[]>()

  answer(job: number, question: Question): ParseReply | ShredReply | CountReply {
    if (question.kind === 'parse') return this.#parse(job, question)
    if (question.kind === 'count') return { events: countAll(this.#posts.get(job) ?? []) }
    return this.#shred(job, question)
  }

  forget(job: number): void {
    this.#posts.delete(job)
  }

  #parse(job: number, { receiver: name, request, wantsHash }: ParseQuestion): ParseReply {
    const receiver = receivers.find((candidate) => candidate.name === name)
    if (!receiver) throw new Error('a post is for a receiver that is not in the list')
    const parsed = receiver.parse(request)
    this.#posts.set(job, parsed.deliveries)
    return {
      deliveries: parsed.deliveries.map(({ collection, dataset }) => ({ collection, dataset })),
      rejected: parsed.rejected,
      total: parsed.total,
      identity: parsed.identity,
      notes: parsed.notes,
      bodyHash: wantsHash || parsed.identity !== undefined ? hash64(request.body) : 0n,
    }
  }

  #shred(job: number, { atMs, origin, targets }: ShredQuestion): ShredReply {
    const deliveries = this.#posts.get(job)
    if (!deliveries) throw new Error('a post is to be split that was never read')
    return {
      shredded: targets.map((target) => {
        const delivery = deliveries[target.delivery]
        if (!delivery) throw new Error('a delivery is to be split that the post does not have')
        const parsing = target.parser && this.#parsings.of(target.parser)
        const one = this.#shredders.shred(linesOf(delivery, { at: { ms: atMs, ns: 0 }, origin }, target.attributes, parsing), target)
        return parsing && one.kind === 'blocks' ? { ...one, parsed: parsing.counts } : one
      }),
    }
  }
}

const countAll = (deliveries: readonly Delivery[]): number => deliveries.reduce((sum, { arrivals }) => sum + countArrivals(arrivals), 0)

const hash64 = (bytes: Uint8Array): bigint => createHash('sha256').update(bytes).digest().readBigUInt64LE()
