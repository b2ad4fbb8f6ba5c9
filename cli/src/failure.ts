import { ApiFailure, NoResponse } from '@dendro/api'

/** A wrong command line; it exits with status 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

export const OK = 0
export const FAILED = 1
export const MISUSED = 2

/** Returns one sentence with the correlation id, and the exit status. */
export function describeFailure(thrown: unknown): { sentence: string; status: number } {
  if (thrown instanceof UsageError) return { sentence: thrown.message, status: MISUSED }
  if (thrown instanceof ApiFailure) {
    const kind = [String(thrown.status), thrown.type].filter((word) => word !== '').join(' ')
    const id = thrown.correlation_id === undefined ? '' : `, correlation id ${thrown.correlation_id}`
    return { sentence: `${thrown.details} (${kind}${id})`, status: FAILED }
  }
  if (thrown instanceof NoResponse) return { sentence: `${thrown.message}; check DENDRO_URL`, status: FAILED }
  return { sentence: thrown instanceof Error ? thrown.message : String(thrown), status: FAILED }
}
