/**
 * Batches concurrent calls. One batch of at most `max` items runs at a time; items that arrive meanwhile form the next. `work` returns one
 * answer for each item, in order.
 */
export function inBatches<Item, Answer>(
  max: number,
  work: (asks: readonly Item[]) => Promise<readonly Answer[]>,
): (item: Item) => Promise<Answer> {
  type PendingItem = { ask: Item; answer: PromiseWithResolvers<Answer> }
  const waiting: PendingItem[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    for (let batch = waiting.splice(0, max); batch.length > 0; batch = waiting.splice(0, max)) {
      try {
        const answers = await work(batch.map(({ ask: item }) => item))
        if (answers.length !== batch.length) throw new Error(`${batch.length} items got ${answers.length} answers`)
        for (const [index, { answer }] of batch.entries()) answer.resolve(answers[index] as Answer)
      } catch (cause) {
        for (const { answer } of batch) answer.reject(cause)
      }
    }
    isRunning = false
  }

  return (item) => {
    const answer = Promise.withResolvers<Answer>()
    waiting.push({ ask: item, answer })
    // Start in the next microtask, so that simultaneous calls share a batch.
    if (!isRunning) {
      isRunning = true
      queueMicrotask(() => void run())
    }
    return answer.promise
  }
}
