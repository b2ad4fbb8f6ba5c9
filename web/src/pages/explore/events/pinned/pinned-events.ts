import type { Event } from '@dendro/api'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { clockOf, type Zone } from '../../../../parts/time/time-range.ts'
import { keepEvents, keptEvents } from '../../../../session/kept-events.ts'
import { eventId } from '../detail/event-link.ts'
import { plainLine } from '../find/line-text.ts'

/** PinnedEvents stay when the query changes. */
export type PinnedEvents = {
  events: readonly Event[]
  ids: ReadonlySet<string>
  toggle(event: Event): void
  clear(): void
}

export const PINNED_MAX = 50

/** Holds events in order of time and restores those of the same owner after a reload of the tab. */
export function usePinnedEvents(owner: string | undefined): PinnedEvents {
  const [events, setEvents] = useState<readonly Event[]>([])
  const [storedOwner, setStoredOwner] = useState<string>()
  useEffect(() => {
    if (owner === undefined) return
    const stored = keptEvents(owner)
    setEvents((before) =>
      [...stored.filter((event) => !before.some((one) => eventId(one) === eventId(event))), ...before].toSorted(inOrder),
    )
    setStoredOwner(owner)
  }, [owner])
  useEffect(() => {
    if (storedOwner !== undefined) keepEvents(storedOwner, events)
  }, [storedOwner, events])
  const ids = useMemo(() => new Set(events.map(eventId)), [events])
  const toggle = useCallback((event: Event) => setEvents((before) => toggled(before, event)), [])
  const clear = useCallback(() => setEvents([]), [])
  return { events, ids, toggle, clear }
}

function toggled(events: readonly Event[], event: Event): readonly Event[] {
  const rest = events.filter((one) => eventId(one) !== eventId(event))
  if (rest.length < events.length) return rest
  return [...rest, event].slice(-PINNED_MAX).toSorted(inOrder)
}

const inOrder = ({ metadata: one }: Event, { metadata: other }: Event): number =>
  one.timestamp - other.timestamp || Number(BigInt(one.sequence) - BigInt(other.sequence))

type MarkdownOptions = { zone: Zone; datasetName(id: string): string }

/** A Markdown table of events. */
export function markdownOf(events: readonly Event[], { zone, datasetName }: MarkdownOptions): string {
  const rows = events.map((event) => {
    const { day, clock } = clockOf(event.metadata.timestamp, zone)
    return [`${day} ${clock}`, tableCell(datasetName(event.metadata.service_id)), codeSpan(event['@raw'] ?? '')]
  })
  const header = [[zone === 'utc' ? 'Time (UTC)' : 'Time', 'Dataset', 'Line'], Array.from({ length: 3 }, () => '---')]
  return [...header, ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('')
}

/** Escapes pipes and line breaks. */
const tableCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*[\r\n]+\s*/g, ' ⏎ ')

/** Uses a fence longer than any run of backticks in the text. */
function codeSpan(raw: string): string {
  const text = tableCell(plainLine(raw).trim())
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`
}

/** fieldValueOf looks up a field; `hasOwn`, since a field name may be any text. */
export function fieldValueOf({ message_kvs, attributes }: Pick<Event, 'message_kvs' | 'attributes'>, name: string): string | undefined {
  if (Object.hasOwn(message_kvs, name)) return message_kvs[name]
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined
}

/** A FieldComparison is a field with its value in each event. */
export type FieldComparison = { name: string; values: readonly (string | undefined)[]; isSame: boolean }

export function comparedFields(events: readonly Event[]): FieldComparison[] {
  const names = [...new Set(events.flatMap(({ message_kvs, attributes }) => [...Object.keys(message_kvs), ...Object.keys(attributes)]))]
  const rows = names.toSorted().map((name) => {
    const values = events.map((event) => fieldValueOf(event, name))
    return { name, values, isSame: values.every((value) => value === values[0]) }
  })
  return [...rows.filter(({ isSame }) => !isSame), ...rows.filter(({ isSame }) => isSame)]
}
