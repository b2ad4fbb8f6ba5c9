import type { Actor } from '../../http/actor.ts'
import { Failure } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'

const SAY_EVERY_MS = 60_000
/** Bounds the senders in memory. Refusals of further senders are only in the ledger and the debug log. */
const SENDERS_MAX = 1_000

type Refused = { fields: object; unsaid: number; timer: NodeJS.Timeout }

/**
 * Logs refused senders with the reason, once a minute per sender and reason, since refused senders retry. The ledger counts every refusal,
 * and the debug log contains each of them.
 */
export class Refusals {
  readonly #log: Logger
  readonly #sayEveryMs: number
  readonly #refused = new Map<string, Refused>()

  constructor(log: Logger, sayEveryMs = SAY_EVERY_MS) {
    this.#log = log
    this.#sayEveryMs = sayEveryMs
  }

  note(actor: Actor, protocol: string, reason: string, failure: Failure): void {
    const { status, message: details } = failure
    const { address, correlationId: correlation_id } = actor.facts
    const fields = { org_id: actor.orgId, identity_id: actor.identity.id, protocol, reason, status }
    this.#log.debug({ ...fields, details, correlation_id, address }, 'a post was refused')
    const key = `${actor.orgId}/${actor.identity.id}/${protocol}/${reason}`
    const known = this.#refused.get(key)
    if (known) {
      known.unsaid += 1
      return
    }
    if (this.#refused.size >= SENDERS_MAX) return
    this.#log.warn({ ...fields, details, correlation_id, address, ...troubleOf(failure) }, 'posts are refused')
    const timer = setTimeout(() => this.#end(key), this.#sayEveryMs).unref()
    this.#refused.set(key, { fields, unsaid: 0, timer })
  }

  /** Logs the counts that are still pending. */
  close(): void {
    for (const key of [...this.#refused.keys()]) this.#end(key)
  }

  #end(key: string): void {
    const refused = this.#refused.get(key)
    if (!refused) return
    clearTimeout(refused.timer)
    this.#refused.delete(key)
    if (refused.unsaid > 0) this.#log.warn({ ...refused.fields, posts: refused.unsaid }, 'more posts were refused')
  }
}

/** The internal cause of a refusal; only failures of the service have one worth logging. */
function troubleOf({ status, cause }: Failure): { cause?: string } {
  if (status < 500 || cause === undefined) return {}
  const innermost = cause instanceof Failure && cause.cause !== undefined ? cause.cause : cause
  return { cause: innermost instanceof Error ? innermost.message : String(innermost) }
}
