import type { World } from '../../../world.ts'
import { networkOf } from './attempts.ts'

type GuessRecord = { credentials: Set<string>; wrong: number; untilMs: number }

const WINDOW_MS = 60_000
const FREE = 50
const FIRST_MS = 100
const MOST_MS = 2_000
const GUESSERS_MAX = 10_000
const SLEEPERS_MAX = 500

/**
 * KeyGuessLimiter makes an address that shows ever new unknown keys or tokens wait for its answers. A sender that repeats one dead key is not
 * guessing and is not slowed, nor is anybody with a good one. It is kept in memory and bounded: 256 random bits are not guessed anyway,
 * this only takes the fun out of trying.
 */
export class KeyGuessLimiter {
  readonly #world: Pick<World, 'clock'>
  readonly #guessers = new Map<string, GuessRecord>()
  #sleepers = 0

  constructor(world: Pick<World, 'clock'>) {
    this.#world = world
  }

  /** recordFailure is told of every credential that was not accepted, by its hash, and returns when the caller may be answered. */
  async recordFailure(address: string, credential: string): Promise<void> {
    const guesser = this.#guesserOf(networkOf(address))
    if (guesser.credentials.has(credential)) return
    guesser.wrong += 1
    if (guesser.wrong <= FREE) {
      guesser.credentials.add(credential)
      return
    }
    if (this.#sleepers >= SLEEPERS_MAX) return
    this.#sleepers += 1
    try {
      await this.#world.clock.sleep(Math.min(MOST_MS, FIRST_MS * 2 ** (guesser.wrong - FREE - 1)))
    } finally {
      this.#sleepers -= 1
    }
  }

  #guesserOf(network: string): GuessRecord {
    const nowMs = this.#world.clock.nowMs()
    const known = this.#guessers.get(network)
    if (known && nowMs < known.untilMs) return known
    this.#guessers.delete(network)
    const oldest = this.#guessers.keys().next()
    if (this.#guessers.size >= GUESSERS_MAX && !oldest.done) this.#guessers.delete(oldest.value)
    const fresh: GuessRecord = { credentials: new Set(), wrong: 0, untilMs: nowMs + WINDOW_MS }
    this.#guessers.set(network, fresh)
    return fresh
  }
}
