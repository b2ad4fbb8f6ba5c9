import type { Logger } from '../kernel/log.ts'
import { TRAPPED, type WorkerPool } from './intake/pool.ts'
import type { WorkerReply, WorkerRequest } from './intake/worker-messages.ts'
import { PostProcessor } from './post-processor.ts'

/** Works in the calling thread, for the few small requests that the service makes itself. */
export function openInlinePool(log: Logger): WorkerPool {
  const work = new PostProcessor((err) => log.error({ err }, TRAPPED))
  let jobs = 0
  return {
    size: 0,
    open: () => {
      jobs += 1
      const job = jobs
      return {
        run: async <Q extends WorkerRequest>(request: Q) => work.run(job, request) as WorkerReply<Q>,
        close: () => work.forget(job),
      }
    },
    prepare: () => undefined,
    close: async () => undefined,
  }
}
