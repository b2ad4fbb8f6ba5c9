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
 * Delays the responses to an address that shows many different unknown credentials. A sender that repeats one dead key, or shows a valid one, is not
 * delayed. In memory and bounded: credentials have 256 random bits and cannot be guessed; this only discourages trying.
 */
export class KeyGuessLimiter {
  readonly #world: Pick<World, 'clock'>
  readonly #guessers = new Map<string, GuessRecord>()
  #sleepers = 0

  constructor(world: Pick<World, 'clock'>) {
    this.#world = world
  }

  /** Records a rejected credential, by its hash, and resolves when the response may be sent. */
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
