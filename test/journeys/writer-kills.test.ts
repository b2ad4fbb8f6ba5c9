import { expect, test } from 'vitest'
import { killLoop, type Round } from '../programs/kill-loop.ts'

const ROUNDS = 3
const ROUND_MS = 5_000

test('killed at random moments under load it loses nothing, stores nothing twice', async () => {
  const rounds: Round[] = []
  await killLoop(ROUNDS, ROUND_MS, Date.now() % 2 ** 31, (round) => rounds.push(round))
  expect(rounds.length).toBe(ROUNDS)
  for (const { posts, lost, double, phantom } of rounds) {
    expect(posts).toBeGreaterThan(0)
    expect({ lost, double, phantom }).toEqual({ lost: 0, double: 0, phantom: 0 })
  }
})
