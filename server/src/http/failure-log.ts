import type { Failure } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { LogLimit } from '../kernel/log-limit.ts'

/** The bugs logged per window with their correlation id, the first of them with its stack. */
const BUGS_PER_WINDOW = 20
const CAUSES_MAX = 5

type Fields = { correlation_id: string; action: string | undefined }

/** Logs 5xx responses. While a store is down there may be many, so it logs one line per kind and then their number. */
export class FailureLog {
  readonly #expected = new LogLimit({ burst: 1 })
  readonly #bugs = new LogLimit({ burst: BUGS_PER_WINDOW })

  /** Logs nothing below 500. Expected failures, such as a store that is down, are logged without a stack. */
  note(log: Logger, thrown: unknown, known: Failure | undefined, fields: Fields): void {
    if (known === undefined) this.#bug(log, thrown, fields)
    else if (known.status >= 500) this.#known(log, known, fields)
  }

  #known(log: Logger, known: Failure, fields: Fields): void {
    const reason = known.message
    const repeated = (requests: number): void => log.warn({ status: known.status, reason, requests }, 'more requests could not be served')
    if (this.#expected.note(`${known.status} ${reason}`, repeated) === undefined) return
    log.warn({ status: known.status, reason, causes: causesOf(known), ...fields }, 'a request could not be served')
  }

  #bug(log: Logger, thrown: unknown, fields: Fields): void {
    const { action } = fields
    const repeated = (requests: number): void => log.error({ action, requests }, 'more requests failed unexpectedly')
    const before = this.#bugs.note(`bug in ${action}`, repeated)
    if (before === undefined) return
    log.error(before === 0 ? { err: thrown, ...fields } : { message: messageOf(thrown), ...fields }, 'a request failed unexpectedly')
  }
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** Lists the messages of the causes of a failure, without stacks. */
function causesOf(failure: Failure): string[] {
  const causes: string[] = []
  for (
    let cause = failure.cause;
    cause !== undefined && causes.length < CAUSES_MAX;
    cause = cause instanceof Error ? cause.cause : undefined
  ) {
    causes.push(messageOf(cause))
  }
  return causes
}
