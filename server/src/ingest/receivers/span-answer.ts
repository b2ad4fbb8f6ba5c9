import type { IngestOutcome, IngestRequestHead, ParsedSummary, ReceiverReply } from '../batch.ts'

const SHOWN_MAX = 3
const TEXT = { 'content-type': 'text/plain; charset=utf-8' }

/**
 * The reply to spans of protocols that have none for a part of a post: the spans that were stored are accepted, and a text names the others.
 */
export function spanAnswer(_head: IngestRequestHead, outcome: IngestOutcome, parsed: ParsedSummary | undefined): ReceiverReply {
  if (outcome.kind === 'refused') {
    const { status, message, headers } = outcome.failure
    return { status, headers: { ...headers, ...TEXT }, body: `${message}\n` }
  }
  const rejected = [...new Map([...(parsed?.rejected ?? []), ...outcome.rejected].map((one) => [one.index, one])).values()]
  if (rejected.length === 0) return { status: 202, headers: {}, body: '' }
  const reasons = rejected.slice(0, SHOWN_MAX).map(({ index, reason }) => `span ${index}: ${reason}`)
  return { status: 202, headers: TEXT, body: `${rejected.length} of ${outcome.total} spans were rejected; ${reasons.join('; ')}\n` }
}
