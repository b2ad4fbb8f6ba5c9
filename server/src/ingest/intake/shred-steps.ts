import type { PostJob } from './pool.ts'
import type { Shredded, ShredRequest } from './worker-messages.ts'

/** A worker cannot interrupt a step, so that posts of other organizations wait for the datasets of one. */
export const STEP_TARGETS_MAX = 100

/** Lets a worker split the events of many datasets in several steps, between which it works for other organizations. */
export async function shredInSteps(job: Pick<PostJob, 'run'>, { targets, ...request }: ShredRequest): Promise<Shredded[]> {
  const all: Shredded[] = []
  for (let first = 0; first < targets.length; first += STEP_TARGETS_MAX) {
    const { shredded } = await job.run({ ...request, targets: targets.slice(first, first + STEP_TARGETS_MAX) })
    for (const one of shredded) all.push(one)
  }
  return all
}
