import type { WorkerPool } from './intake/pool.ts'
import type { WorkerReply, WorkerRequest } from './intake/worker-messages.ts'
import { PostProcessor } from './post-processor.ts'

/** openOwnPool does the work of a pool in this thread, for the few and small posts that the service makes itself. */
export function openInlinePool(): WorkerPool {
  const work = new PostProcessor()
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
    close: async () => undefined,
  }
}
