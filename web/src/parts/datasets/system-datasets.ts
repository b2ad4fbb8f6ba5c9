import type { Dataset } from '@dendro/api'

/** Collections that the service itself writes. Spans are in a system collection too, but senders report them. */
const ownTexts: ReadonlyMap<string, string> = new Map([
  ['.canary', 'Written by Dendro: an event each minute, to see that events are found'],
  ['.audit-trail', 'Written by Dendro: changes, sign-ins and refused requests'],
  ['.usage', 'Reserved by Dendro for usage'],
])
const systemTexts: ReadonlyMap<string, string> = new Map([...ownTexts, ['.traces', 'Spans that senders report as traces']])

/** True for a dataset with events of senders; what Dendro writes itself is not received. */
export const hasReceivedEvents = ({ collection, metadata }: Dataset): boolean =>
  metadata.last_heartbeat_at !== undefined && !ownTexts.has(collection)

/** Explains a system collection: its name begins with a dot, which others must not. */
export const systemText = (collection: string): string | undefined =>
  collection.startsWith('.') ? (systemTexts.get(collection) ?? 'A system dataset') : undefined
