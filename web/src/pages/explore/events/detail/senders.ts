import type { Event } from '@dendro/api'
import { isValue } from '../../query/clauses.ts'

/** An EventSender is what an event came from, or the trace that it belongs to, with the condition of its events. */
export type EventSender = { kind: string; value: string; clause: string }

/** The fields that name a sender, by the end of their path. */
const KINDS: readonly (readonly [string, RegExp])[] = [
  ['service', /(?:^|\.)(?:service|service[._]name|app|application)$/i],
  ['pod', /(?:^|[._])pod(?:[._]name)?$/i],
  ['container', /(?:^|[._])container(?:[._]name)?$/i],
  ['host', /(?:^|[._])(?:host|hostname|host[._]name|node|node[._]name)$/i],
  ['trace', /(?:^|[._])trace[._]?id$/i],
]

/** The senders of an event, at most one of each kind, with the shortest name of a field. */
export function sendersOf({ message_kvs, attributes }: Pick<Event, 'message_kvs' | 'attributes'>): EventSender[] {
  const fields = [...Object.entries(message_kvs), ...Object.entries(attributes)].filter(([, value]) => value !== '')
  return KINDS.flatMap(([kind, pattern]) => {
    const [found] = fields
      .filter(([name]) => pattern.test(name.replace(/^\$/, '')))
      .toSorted(([one], [other]) => one.length - other.length || (one < other ? -1 : 1))
    return found ? [{ kind, value: found[1], clause: isValue(...found) }] : []
  })
}

/** True for the condition of a trace, which passes through the datasets of several services. */
export const isTrace = (clause: string): boolean => /^"?[$\w.]*trace[._]?id"? =/i.test(clause)
