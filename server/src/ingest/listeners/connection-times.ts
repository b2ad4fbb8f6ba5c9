/** The message of a connection that is not complete: its number on the connection, and its bytes so far. */
export type HeldMessage = { readonly number: number; readonly bytes: number }

/** When a connection was last used, and since when its incomplete message has been arriving. */
export type ConnectionTimes = {
  readonly activeMs: number
  readonly partial: { readonly number: number; readonly sinceMs: number } | undefined
}

/** The times after bytes arrived. Messages that became complete do not count for the one that began after them. */
export function timesAfter(before: ConnectionTimes | undefined, held: HeldMessage | undefined, nowMs: number): ConnectionTimes {
  if (held === undefined) return { activeMs: nowMs, partial: undefined }
  const isSame = before?.partial?.number === held.number
  return { activeMs: nowMs, partial: isSame ? before.partial : { number: held.number, sinceMs: nowMs } }
}

/** The times once a connection is read again: its sender could not go on meanwhile. */
export const timesAfterPause = ({ partial }: ConnectionTimes, nowMs: number): ConnectionTimes => ({
  activeMs: nowMs,
  partial: partial && { ...partial, sinceMs: nowMs },
})

/** The reason to close a connection for its times, if there is one. */
export function overdue(
  { activeMs, partial }: ConnectionTimes,
  { messageMs, idleMs }: { messageMs: number; idleMs: number },
  nowMs: number,
): 'too_slow' | 'idle' | undefined {
  if (partial && nowMs - partial.sinceMs > messageMs) return 'too_slow'
  return nowMs - activeMs > idleMs ? 'idle' : undefined
}
