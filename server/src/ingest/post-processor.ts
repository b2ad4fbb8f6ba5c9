import type { DatasetBatch } from './batch.ts'
import { bodyHash } from './body-hash.ts'
import { bodyOfBatch, countEvents, linesOfBatch, rowsOfBatch } from './intake/arrivals.ts'
import { LineParsers } from './intake/parsing.ts'
import { type EventSource, Shredders } from './intake/shredding.ts'
import type { CountReply, ParseReply, ParseRequest, ShredReply, ShredRequest, WorkerRequest } from './intake/worker-messages.ts'
import { parsers } from './receivers/receivers.ts'

/** Parses bodies and splits their events, step by step. It keeps only bodies in progress. */
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
    const parser = parsers.find((candidate) => candidate.name === name)
    if (!parser) throw new Error('the parser is unknown')
    const parsed = parser.parse(request)
    this.#posts.set(job, parsed.batches)
    return {
      batches: parsed.batches.map(({ collection, dataset }) => ({ collection, dataset })),
      rejected: parsed.rejected,
      unsupported: parsed.unsupported,
      total: parsed.total,
      idempotencyKey: parsed.idempotencyKey,
      notes: parsed.notes,
      bodyHash: wantsHash || parsed.idempotencyKey !== undefined ? hash64(request.body) : 0n,
    }
  }

  #shred(job: number, { atMs, origin, targets }: ShredRequest): ShredReply {
    const batches = this.#posts.get(job)
    if (!batches) throw new Error('a body must be parsed before it is split')
    return {
      shredded: targets.map((target) => {
        const parsing = target.parser && this.#parsings.of(target.parser)
        const settings = { parsing, lineTime: target.lineTime }
        const common = { at: { ms: atMs, ns: 0 }, origin }
        const hasSettings = parsing !== undefined || target.lineTime !== undefined
        const sources = target.batches.map((number): EventSource => {
          const batch = batches[number]
          if (!batch) throw new Error('the body has no such batch')
          return {
            lines: () => linesOfBatch(batch, common, target.attributes, settings),
            body: () => (hasSettings ? undefined : bodyOfBatch(batch, common, target.attributes)),
            rows: () => (hasSettings ? undefined : rowsOfBatch(batch, common, target.attributes)),
          }
        })
        const one = this.#shredders.shred(sources, target)
        return parsing && one.kind === 'blocks' ? { ...one, parsed: parsing.counts } : one
      }),
    }
  }
}

const countAll = (batches: readonly DatasetBatch[]): number => batches.reduce((sum, { events }) => sum + countEvents(events), 0)

const hash64 = (bytes: Uint8Array): bigint => bodyHash(bytes).readBigUInt64LE()
