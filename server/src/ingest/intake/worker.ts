import { parentPort } from 'node:worker_threads'
import { Failure } from '../../kernel/errors.ts'
import { PostWork } from '../post-work.ts'
import { buffersOf } from './shredding.ts'
import type { Asked, FailureMessage, Told } from './worker-messages.ts'

/** The program of an intake worker. */

const work = new PostWork()

parentPort?.on('message', ({ job, question }: Asked) => {
  if (question.kind === 'forget') return void work.forget(job)
  const told: Told = { job }
  const transfer: ArrayBuffer[] = []
  try {
    const reply = work.answer(job, question)
    if ('shredded' in reply) transfer.push(...reply.shredded.flatMap((one) => (one.kind === 'blocks' ? buffersOf(one.blocks) : [])))
    told.reply = reply
  } catch (cause) {
    told.failure = failureOf(cause)
  }
  parentPort?.postMessage(told, transfer)
})

function failureOf(cause: unknown): FailureMessage {
  if (cause instanceof Failure) return { kind: 'refused', status: cause.status, details: cause.message, headers: cause.headers }
  return { kind: 'bug', stack: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
}
