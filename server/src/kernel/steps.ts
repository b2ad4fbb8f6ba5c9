/**
 * Long work on the event loop is done in steps, and other work goes first between them. However many tasks wait, an iteration of the loop continues only
 * one of them: if it continued all, each would wait for the steps of all others.
 */

const STEP_MS = 8

let waiting: (() => void)[] = []
let next = 0

/** Resolves in a later iteration of the event loop, after those who waited before. */
export const nextStep = (): Promise<void> =>
  new Promise((resolve) => {
    if (next === waiting.length) setImmediate(continueOne)
    waiting.push(resolve)
  })

function continueOne(): void {
  const resume = waiting[next]
  next += 1
  if (next < waiting.length) setImmediate(continueOne)
  else {
    waiting = []
    next = 0
  }
  resume?.()
}

/** Measures how long a task has computed since it last let others go first. */
export class Stretch {
  #endMs = performance.now() + STEP_MS

  /** Undefined while the task may go on; otherwise it has to wait for the promise. */
  pause(): Promise<void> | undefined {
    return performance.now() < this.#endMs ? undefined : this.#pause()
  }

  async #pause(): Promise<void> {
    await nextStep()
    this.#endMs = performance.now() + STEP_MS
  }
}

/** Maps each element, with pauses. */
export async function mapInSteps<T, R>(all: Iterable<T>, make: (one: T, index: number) => R): Promise<R[]> {
  const stretch = new Stretch()
  const made: R[] = []
  for (const one of all) {
    made.push(make(one, made.length))
    const pause = stretch.pause()
    if (pause) await pause
  }
  return made
}
