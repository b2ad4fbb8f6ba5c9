/**
 * inBatches puts asks together: one batch is under way at a time, and what is asked meanwhile is the next, of at most `max`. `work` gives an answer
 * for each ask, in their order.
 */
export function inBatches<Ask, Answer>(
  max: number,
  work: (asks: readonly Ask[]) => Promise<readonly Answer[]>,
): (ask: Ask) => Promise<Answer> {
  type Waiting = { ask: Ask; answer: PromiseWithResolvers<Answer> }
  const waiting: Waiting[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    for (let batch = waiting.splice(0, max); batch.length > 0; batch = waiting.splice(0, max)) {
      try {
        const answers = await work(batch.map(({ ask }) => ask))
        if (answers.length !== batch.length) throw new Error(`${batch.length} asks had ${answers.length} answers`)
        for (const [index, { answer }] of batch.entries()) answer.resolve(answers[index] as Answer)
      } catch (cause) {
        for (const { answer } of batch) answer.reject(cause)
      }
    }
    isRunning = false
  }

  return (ask) => {
    const answer = Promise.withResolvers<Answer>()
    waiting.push({ ask, answer })
    // On the next turn, so that those who ask at the same moment share a batch.
    if (!isRunning) {
      isRunning = true
      queueMicrotask(() => void run())
    }
    return answer.promise
  }
}
