const words: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    malformed: 'invalid format',
    forbidden: 'the key lacks the permission to send',
    unknown_path: 'sent to an unknown path',
    unsupported: 'of a kind that is not stored, such as metrics',
    too_slow: 'the request timed out',
    conflict: 'the same request was still being stored',
    too_large: 'the request was too large',
    encoding: 'unknown content type or encoding',
    identity: 'the named dataset cannot be used',
    limit: 'a monthly or rate limit was reached',
    unavailable: 'the service could not store them; most senders retry',
    fault: 'an error of the service; see its log',
  }),
)

/** Describes why events were rejected. */
export const reasonText = (reason: string): string => words.get(reason) ?? reason.replaceAll('_', ' ')
