import { unavailable } from '../../../kernel/errors.ts'
import { Slots } from '../../../kernel/slots.ts'
import { networkOf, slowdownPolicies } from './attempts.ts'

/**
 * How many logins of one network are checked at a time. A login counts as failed while it is checked, so with more than the free attempts a crowd that
 * logs in when work begins, from the one address of an office, would be slowed down and turned away.
 */
const AT_ONCE = slowdownPolicies.address.free
/** WAITING_MAX is for one network, so that no network keeps out another. */
const WAITING_MAX = 250
const WAITING_OF_ALL_MAX = 1_000

/** Lines of one process, first in, first out. */
export class LoginLines {
  readonly #lines = new Map<string, Slots>()
  #waiting = 0

  /** Runs a login once it is its time. A caller who would wait long is refused instead. */
  async run<T>(address: string, login: () => Promise<T>): Promise<T> {
    const network = networkOf(address)
    const line = this.#lines.get(network) ?? new Slots({ atOnce: AT_ONCE, waitingMax: WAITING_MAX })
    this.#lines.set(network, line)
    await this.#enter(line)
    try {
      return await login()
    } finally {
      line.leave()
      if (line.areUnused) this.#lines.delete(network)
    }
  }

  async #enter(line: Slots): Promise<void> {
    if (!line.areFree && this.#waiting >= WAITING_OF_ALL_MAX) throw refused()
    const waits = line.areFree ? 0 : 1
    this.#waiting += waits
    try {
      if (!(await line.enter())) throw refused()
    } finally {
      this.#waiting -= waits
    }
  }
}

const refused = () => unavailable('too many concurrent logins')
