/** A connection of a listener: its sender, and when it was last used. `isPartial` is true within a message. */
export type ListenerConnection = { readonly address: string; readonly activeMs: number; readonly isPartial: boolean }

/**
 * Chooses the connection that a full listener closes for a sender with fewer connections: of the sender with the most, the one that was not
 * used for the longest time. Undefined when the newcomer would have as many, or when all are in use.
 */
export function spareConnection<C extends ListenerConnection>(open: readonly C[], newcomer: string, unusedSinceMs: number): C | undefined {
  const counts = new Map<string, number>()
  for (const { address } of open) counts.set(address, (counts.get(address) ?? 0) + 1)
  const most = Math.max(0, ...counts.values())
  if ((counts.get(newcomer) ?? 0) + 1 >= most) return undefined
  let spare: C | undefined
  for (const one of open) {
    const isSpare = counts.get(one.address) === most && !one.isPartial && one.activeMs <= unusedSinceMs
    if (isSpare && (spare === undefined || one.activeMs < spare.activeMs)) spare = one
  }
  return spare
}
