import type { Pool } from './intake/pool.ts'
import type { Question, Reply } from './intake/worker-messages.ts'
import { PostWork } from './post-work.ts'

/** openOwnPool does the work of a pool in this thread, for the few and small posts that the service makes itself. */
export function openOwnPool(): Pool {
  const work = new PostWork()
  let jobs = 0
  return {
    size: 0,
    open: () => {
      jobs += 1
      const job = jobs
      return {
        ask: async <Q extends Question>(question: Q) => work.answer(job, question) as Reply<Q>,
        close: () => work.forget(job),
      }
    },
    close: async () => undefined,
  }
}
