const words: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    malformed: 'could not be read in the form they were sent in',
    forbidden: 'the key may not send',
    unknown_path: 'sent to a path that takes nothing',
    too_slow: 'the body came too slowly',
    conflict: 'the same post was being stored already',
    too_large: 'longer than a post may be',
    encoding: 'packed in a way that is not known',
    identity: 'the dataset they name cannot be used',
    limit: 'a limit of the month, or of the rate, was reached',
    unavailable: 'the service could not store them just then; most senders try again',
    fault: 'a fault of the service; its log says which',
  }),
)

/** reasonText describes why events were rejected. */
export const reasonText = (reason: string): string => words.get(reason) ?? reason.replaceAll('_', ' ')
