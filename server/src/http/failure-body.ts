import type { FailureBody } from '@dendro/api'
import { Failure, reasonPhrase } from '../kernel/errors.ts'

/** Maps a thrown value to a failure that the caller may see; undefined means a bug, which becomes a 500. */
export function toFailure(thrown: unknown): Failure | undefined {
  if (thrown instanceof Failure) return thrown
  const status = (thrown as { statusCode?: unknown } | null)?.statusCode
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined
  return new Failure(status, wordsFor(thrown as { code?: unknown; message?: unknown }, status), { cause: thrown })
}

function wordsFor(thrown: { code?: unknown; message?: unknown }, status: number): string {
  if (status === 413) return 'the body is larger than this endpoint accepts'
  if (thrown.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'the header Content-Type is not a media type; use application/json'
  if (thrown.code === 'FST_ERR_BAD_URL') return 'the path is not valid percent-encoded text'
  return typeof thrown.message === 'string' ? thrown.message : reasonPhrase(status)
}

/** The body of every failure: four required fields, and the violated rules if there are any. */
export function failureBody(failure: Failure, correlationId: string): FailureBody {
  return {
    code: failure.status,
    type: failure.type,
    correlation_id: correlationId,
    details: failure.message,
    ...(failure.errors ? { errors: failure.errors.map((problem) => ({ ...problem })) } : {}),
  }
}

export const unexpected = new Failure(500, 'the service failed unexpectedly; search its log for the correlation id')
