/**
 * Long work on the event loop is done in pieces, and between two pieces everybody else gets a turn. However many tasks wait, an iteration of the loop
 * continues only one of them: if it continued all, each would wait for the pieces of all others.
 */

/** The length of a piece. */
const PIECE_MS = 8

let waiting: (() => void)[] = []
let next = 0

/** Resolves in a later iteration of the event loop, after those who waited before. */
export const nextTurn = (): Promise<void> =>
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
export class Piece {
  #endMs = performance.now() + PIECE_MS

  /** Undefined while the task may go on; otherwise it has to wait for the promise. */
  pause(): Promise<void> | undefined {
    return performance.now() < this.#endMs ? undefined : this.#pause()
  }

  async #pause(): Promise<void> {
    await nextTurn()
    this.#endMs = performance.now() + PIECE_MS
  }
}

/** Maps each element, with pauses. */
export async function mapInTurns<T, R>(all: Iterable<T>, make: (one: T, index: number) => R): Promise<R[]> {
  const piece = new Piece()
  const made: R[] = []
  for (const one of all) {
    made.push(make(one, made.length))
    const pause = piece.pause()
    if (pause) await pause
  }
  return made
}
