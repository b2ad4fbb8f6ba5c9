import { METRICS_COLLECTION } from '@dendro/api'
import { AddressDatabases } from '../ingest-rules/address-databases.ts'
import { RuleCompiler } from '../ingest-rules/ingest-rules.ts'
import { RuleRun } from '../ingest-rules/rule-run.ts'
import { RuleTime } from '../ingest-rules/rule-time.ts'
import { Failure } from '../kernel/errors.ts'
import { lineKernel } from '../lines/kernel/kernel.ts'
import type { PackedSpans } from '../resources/data/waiting-spans/waiting-spans.ts'
import type { DatasetBatch } from './batch.ts'
import { bodyHash } from './body-hash.ts'
import { bodyOfBatch, countEvents, linesOfBatch, type PostContext, rowsOfBatch } from './intake/arrivals.ts'
import { LineParsers } from './intake/parsing.ts'
import { applyRules, isEmpty } from './intake/ruled.ts'
import { type EventSource, Shredders } from './intake/shredding.ts'
import { packWaiting } from './intake/waiting.ts'
import type {
  CountReply,
  MovedEvents,
  ParseReply,
  ParseRequest,
  RuledEvents,
  Shredded,
  ShredReply,
  ShredRequest,
  ShredTarget,
  WorkerRequest,
} from './intake/worker-messages.ts'
import { parsers } from './receivers/receivers.ts'

const raise = (cause: unknown): never => {
  throw cause
}

/** Parses bodies and splits their events, step by step. It keeps only bodies in progress. */
export class PostProcessor {
  readonly #shredders = new Shredders(Math.random)
  readonly #parsings = new LineParsers()
  readonly #rules = new RuleCompiler()
  readonly #addresses = new AddressDatabases()
  readonly #posts = new Map<number, PostInProgress>()
  readonly #onTrap: (cause: unknown) => void

  /** `onTrap` is called with a failure after which the reference has read the events; without it the failure is thrown. */
  constructor(onTrap: (cause: unknown) => void = raise) {
    this.#onTrap = onTrap
  }

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
    this.#posts.set(job, { batches: parsed.batches, moved: [], ruled: new Map(), ruleTime: new RuleTime() })
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
    return { shredded: targets.map((target) => this.#shredSafely(() => this.#shredTarget(post, target, common))) }
  }

  /** A line may trap the kernel, or make it fail in another way. Then the reference reads the events, and the next ones get a new instance. */
  #shredSafely(shred: () => Shredded): Shredded {
    try {
      return shred()
    } catch (cause) {
      if (cause instanceof Failure) throw cause
      const shredded = lineKernel().restartFor(shred)
      this.#onTrap(cause)
      return shredded
    }
  }

  #shredTarget(post: PostInProgress, target: ShredTarget, common: PostContext): Shredded {
    const { batches, events } = this.#batchesOf(post, target, common)
    const ruled = events && { ruled: events }
    // Rules left nothing to store.
    if (events && batches.every(isEmpty)) return { kind: 'blocks', logId: target.logId, blocks: [], rows: 0, ...ruled }
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
  }

  /** The batches of a target after its rules. They are applied once, although events may be split several times. */
  #batchesOf(post: PostInProgress, { batches: numbers, rules, attributes, map }: ShredTarget, common: PostContext): RuledBatches {
    const given = numbers.map((number) => {
      const batch = post.batches[number] ?? post.moved[number - post.batches.length]
      if (!batch) throw new Error('the body has no such batch')
      return batch
    })
    const [first] = numbers
    if (!rules || first === undefined) return { batches: given, events: undefined }
    const known = post.ruled.get(first)
    if (known) return known
    const run = new RuleRun(post.ruleTime, rules.sources, this.#addresses)
    const chain = this.#rules.of(rules.rules, run)
    const moved: MovedEvents[] = []
    const waiting: PackedSpans[] = []
    const numberOf = (batch: DatasetBatch): number => post.batches.length + post.moved.push(batch) - 1
    const batches = given.map((one) => {
      const result = applyRules(one, { chain, run, place: rules, open: map?.open ?? NO_OPEN_MAPS }, { common, more: attributes })
      for (const { batch, after } of result.moved) {
        moved.push({ collection: batch.collection, dataset: batch.dataset, batch: numberOf(batch), after })
      }
      for (const batch of result.waiting) waiting.push(...packWaiting(batch, common.at.ms))
      return result.batch
    })
    for (const [metric, lines] of run.counts.lines()) {
      const place = { collection: METRICS_COLLECTION, dataset: metric }
      const events = { kind: 'lines' as const, bytes: Buffer.from(lines.join('\n')) }
      moved.push({ ...place, batch: numberOf({ ...place, attributes: [], events }), after: Number.POSITIVE_INFINITY, isCounts: true })
    }
    const ruled = { batches, events: { counts: chain.counts, moved, waiting } }
    post.ruled.set(first, ruled)
    return ruled
  }
}

const NO_OPEN_MAPS: ReadonlySet<string> = new Set()

type RuledBatches = { batches: readonly DatasetBatch[]; events: RuledEvents | undefined }
/** A parsed body, the batches that rules made of it, and its batches after their rules, by the number of the first of a target. */
type PostInProgress = {
  batches: readonly DatasetBatch[]
  moved: DatasetBatch[]
  ruled: Map<number, RuledBatches>
  ruleTime: RuleTime
}

const countAll = (batches: readonly DatasetBatch[]): number => batches.reduce((sum, { events }) => sum + countEvents(events), 0)

const hash64 = (bytes: Uint8Array): bigint => bodyHash(bytes).readBigUInt64LE()
