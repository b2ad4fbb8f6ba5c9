import { RuleCompiler, type RuleCounts, RuleTime } from '../ingest-rules/ingest-rules.ts'
import type { DatasetBatch } from './batch.ts'
import { bodyHash } from './body-hash.ts'
import { bodyOfBatch, countEvents, linesOfBatch, type PostContext, rowsOfBatch } from './intake/arrivals.ts'
import { LineParsers } from './intake/parsing.ts'
import { applyRules, isEmpty } from './intake/ruled.ts'
import { type EventSource, Shredders } from './intake/shredding.ts'
import type {
  CountReply,
  ParseReply,
  ParseRequest,
  ShredReply,
  ShredRequest,
  ShredTarget,
  WorkerRequest,
} from './intake/worker-messages.ts'
import { parsers } from './receivers/receivers.ts'

/** Parses bodies and splits their events, step by step. It keeps only bodies in progress. */
export class PostProcessor {
  readonly #shredders = new Shredders(Math.random)
  readonly #parsings = new LineParsers()
  readonly #rules = new RuleCompiler()
  readonly #posts = new Map<number, PostInProgress>()

  run(job: number, request: WorkerRequest): ParseReply | ShredReply | CountReply {
    if (request.kind === 'parse') return this.#parse(job, request)
    if (request.kind === 'count') return { events: countAll(this.#posts.get(job)?.batches ?? []) }
    return this.#shred(job, request)
  }

  forget(job: number): void {
    this.#posts.delete(job)
  }

  #parse(job: number, { receiver: name, request, wantsHash }: ParseRequest): ParseReply {
    const parser = parsers.find((candidate) => candidate.name === name)
    if (!parser) throw new Error('the parser is unknown')
    const parsed = parser.parse(request)
    this.#posts.set(job, { batches: parsed.batches, ruled: new Map(), ruleTime: new RuleTime() })
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
    const post = this.#posts.get(job)
    if (!post) throw new Error('a body must be parsed before it is split')
    post.ruleTime.start()
    const common = { at: { ms: atMs, ns: 0 }, origin }
    return {
      shredded: targets.map((target) => {
        const { batches, counts } = this.#batchesOf(post, target, common)
        const ruled = counts && { ruled: counts }
        // Rules left nothing to store.
        if (counts && batches.every(isEmpty)) return { kind: 'blocks', logId: target.logId, blocks: [], rows: 0, ...ruled }
        const parsing = target.parser && this.#parsings.of(target.parser)
        const settings = { parsing, lineTime: target.lineTime }
        const hasSettings = parsing !== undefined || target.lineTime !== undefined
        const sources = batches.map(
          (batch): EventSource => ({
            lines: () => linesOfBatch(batch, common, target.attributes, settings),
            body: () => (hasSettings ? undefined : bodyOfBatch(batch, common, target.attributes)),
            rows: () => (hasSettings ? undefined : rowsOfBatch(batch, common, target.attributes)),
          }),
        )
        const one = this.#shredders.shred(sources, target)
        if (one.kind !== 'blocks') return one
        return { ...one, ...(parsing && { parsed: parsing.counts }), ...ruled }
      }),
    }
  }

  /** The batches of a dataset after its rules. They are applied once, although events may be split several times. */
  #batchesOf(post: PostInProgress, { logId, batches: numbers, rules, attributes }: ShredTarget, common: PostContext): RuledBatches {
    const given = numbers.map((number) => {
      const batch = post.batches[number]
      if (!batch) throw new Error('the body has no such batch')
      return batch
    })
    if (!rules) return { batches: given, counts: undefined }
    const known = post.ruled.get(logId)
    if (known) return known
    const chain = this.#rules.of(rules.rules, post.ruleTime)
    const batches = given.map((batch) => applyRules(batch, chain, { common, more: attributes, place: rules }))
    const ruled = { batches, counts: chain.counts }
    post.ruled.set(logId, ruled)
    return ruled
  }
}

type RuledBatches = { batches: readonly DatasetBatch[]; counts: RuleCounts | undefined }
/** A parsed body, and its batches by dataset after the rules of the dataset. */
type PostInProgress = { batches: readonly DatasetBatch[]; ruled: Map<string, RuledBatches>; ruleTime: RuleTime }

const countAll = (batches: readonly DatasetBatch[]): number => batches.reduce((sum, { events }) => sum + countEvents(events), 0)

const hash64 = (bytes: Uint8Array): bigint => bodyHash(bytes).readBigUInt64LE()
