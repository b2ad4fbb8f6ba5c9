import { expect, test } from 'vitest'
import { mapInSteps, nextStep, Stretch } from './steps.ts'

/** Counts the iterations of the event loop. */
function countIterations(): { now: () => number; stop: () => void } {
  let iterations = 0
  let isCounting = true
  const count = (): void => {
    iterations += 1
    if (isCounting) setImmediate(count)
  }
  setImmediate(count)
  return {
    now: () => iterations,
    stop: () => {
      isCounting = false
    },
  }
}

test('an iteration of the event loop continues one of the tasks that wait, in their order', async () => {
  const iterations = countIterations()
  const seen: [task: string, iteration: number][] = []
  const work = async (task: string) => {
    for (let step = 0; step < 3; step += 1) {
      await nextStep()
      seen.push([task, iterations.now()])
    }
  }
  await Promise.all(['a', 'b', 'c'].map(work))
  iterations.stop()
  expect(seen.map(([task]) => task).join('')).toBe('abcabcabc')
  expect(new Set(seen.map(([, iteration]) => iteration)).size).toBe(seen.length)
})

test('a task waits only when it has computed for a while', async () => {
  const stretch = new Stretch()
  let pause = stretch.pause()
  while (!pause) pause = stretch.pause()
  await pause
  expect(await mapInSteps(new Set(['x', 'y']), (one, index) => `${one}${index}`)).toEqual(['x0', 'y1'])
})
