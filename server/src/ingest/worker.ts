import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { Failure } from '../errors.ts'
import { countArrivals, linesOf } from './arrivals.ts'
import type { Delivery } from './batch.ts'
import { Parsings } from './parsing.ts'
import { receivers } from './receivers.ts'
import { buffersOf, Shredders } from './shredding.ts'
import type { Asked, FailureMessage, ParseQuestion, ParseReply, ShredQuestion, ShredReply, Told } from './worker-messages.ts'

/** The program of an intake worker: it reads posts and splits their events, one step at a time, and holds no more than the posts under way. */

const shredders = new Shredders(Math.random)
const parsings = new Parsings()
const posts = new Map<number, readonly Delivery[]>()

parentPort?.on('message', ({ job, question }: Asked) => {
  if (question.kind === 'forget') return void posts.delete(job)
  const told: Told = { job }
  const transfer: ArrayBuffer[] = []
  try {
    if (question.kind === 'parse') told.reply = parse(job, question)
    else if (question.kind === 'count') told.reply = { events: countAll(posts.get(job) ?? []) }
    else {
      const reply = shred(job, question)
      transfer.push(...reply.shredded.flatMap((one) => (one.kind === 'blocks' ? buffersOf(one.blocks) : [])))
      told.reply = reply
    }
  } catch (cause) {
    told.failure = failureOf(cause)
  }
  parentPort?.postMessage(told, transfer)
})

function parse(job: number, { receiver: name, request, wantsHash }: ParseQuestion): ParseReply {
  const receiver = receivers.find((candidate) => candidate.name === name)
  if (!receiver) throw new Error('a post is for a receiver that is not in the list')
  const parsed = receiver.parse(request)
  posts.set(job, parsed.deliveries)
  return {
    deliveries: parsed.deliveries.map(({ collection, dataset }) => ({ collection, dataset })),
    rejected: parsed.rejected,
    total: parsed.total,
    identity: parsed.identity,
    notes: parsed.notes,
    bodyHash: wantsHash || parsed.identity !== undefined ? hash64(request.body) : 0n,
  }
}

function shred(job: number, { atMs, origin, targets }: ShredQuestion): ShredReply {
  const deliveries = posts.get(job)
  if (!deliveries) throw new Error('a post is to be split that was never read')
  return {
    shredded: targets.map((target) => {
      const delivery = deliveries[target.delivery]
      if (!delivery) throw new Error('a delivery is to be split that the post does not have')
      const parsing = target.parser && parsings.of(target.parser)
      const one = shredders.shred(linesOf(delivery, { at: { ms: atMs, ns: 0 }, origin }, target.attributes, parsing), target)
      return parsing && one.kind === 'blocks' ? { ...one, parsed: parsing.counts } : one
    }),
  }
}

const countAll = (deliveries: readonly Delivery[]): number => deliveries.reduce((sum, { arrivals }) => sum + countArrivals(arrivals), 0)

const hash64 = (bytes: Uint8Array): bigint => createHash('sha256').update(bytes).digest().readBigUInt64LE()

function failureOf(cause: unknown): FailureMessage {
  if (cause instanceof Failure) return { kind: 'refused', status: cause.status, details: cause.message, headers: cause.headers }
  return { kind: 'bug', stack: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
}
