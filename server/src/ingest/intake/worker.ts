import { parentPort, workerData } from 'node:worker_threads'
import { Failure } from '../../kernel/errors.ts'
import { PostProcessor } from '../post-processor.ts'
import { warmUp } from '../warm-up.ts'
import { buffersOf, packSmallBlocks } from './packing.ts'
import type { FailureMessage, FromWorker, ToWorker, WorkerStart } from './worker-messages.ts'

/** The program of an intake worker. */

let trap: string | undefined
const work = new PostProcessor((cause) => {
  trap = stackOf(cause)
})
const warming = (workerData as WorkerStart).warmsUp ? warmUp() : undefined
let hasWork = false

function warmOn(): void {
  if (!hasWork && warming?.next().done === false) setImmediate(warmOn)
}
warmOn()

parentPort?.on('message', ({ job, request }: ToWorker) => {
  hasWork = true
  if (request.kind === 'forget') return void work.forget(job)
  const message: FromWorker = { job }
  let transfer: ArrayBuffer[] = []
  try {
    const reply = work.run(job, request)
    if ('shredded' in reply) {
      const shredded = packSmallBlocks(reply.shredded)
      transfer = buffersOf(shredded)
      message.reply = { shredded }
    } else message.reply = reply
    if (trap !== undefined) message.trap = trap
    trap = undefined
  } catch (cause) {
    message.failure = failureOf(cause)
  }
  parentPort?.postMessage(message, transfer)
})

function failureOf(cause: unknown): FailureMessage {
  if (cause instanceof Failure) return { kind: 'refused', status: cause.status, details: cause.message, headers: cause.headers }
  return { kind: 'bug', stack: stackOf(cause) }
}

function stackOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
