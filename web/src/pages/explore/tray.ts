import type { Event } from '@dendro/api'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { clockOf, type Zone } from '../../parts/time-range.ts'
import { keepEvents, keptEvents } from '../../session/kept-events.ts'
import { plainLine } from './line-text.ts'
import { idOf } from './link.ts'

/** Tray holds events that were put aside, whatever is asked next. */
export type Tray = {
  events: readonly Event[]
  ids: ReadonlySet<string>
  turn(event: Event): void
  clear(): void
}

export const TRAY_MAX = 50

/** useTray keeps events in the order in which they happened, for its owner also when the page is loaded anew in the same tab. */
export function useTray(owner: string | undefined): Tray {
  const [events, setEvents] = useState<readonly Event[]>([])
  const [keeper, setKeeper] = useState<string>()
  useEffect(() => {
    if (owner === undefined) return
    const kept = keptEvents(owner)
    setEvents((before) => [...kept.filter((event) => !before.some((one) => idOf(one) === idOf(event))), ...before].toSorted(inOrder))
    setKeeper(owner)
  }, [owner])
  useEffect(() => {
    if (keeper !== undefined) keepEvents(keeper, events)
  }, [keeper, events])
  const ids = useMemo(() => new Set(events.map(idOf)), [events])
  const turn = useCallback((event: Event) => setEvents((before) => turned(before, event)), [])
  const clear = useCallback(() => setEvents([]), [])
  return { events, ids, turn, clear }
}

function turned(events: readonly Event[], event: Event): readonly Event[] {
  const rest = events.filter((one) => idOf(one) !== idOf(event))
  if (rest.length < events.length) return rest
  return [...rest, event].slice(-TRAY_MAX).toSorted(inOrder)
}

const inOrder = ({ metadata: one }: Event, { metadata: other }: Event): number =>
  one.timestamp - other.timestamp || Number(BigInt(one.sequence) - BigInt(other.sequence))

type Reader = { zone: Zone; nameOf(id: string): string }

/** markdownOf writes events as a table that keeps its shape wherever it is pasted. */
export function markdownOf(events: readonly Event[], { zone, nameOf }: Reader): string {
  const rows = events.map((event) => {
    const { day, clock } = clockOf(event.metadata.timestamp, zone)
    return [`${day} ${clock}`, cell(nameOf(event.metadata.service_id)), code(event['@raw'] ?? '')]
  })
  const heads = [[zone === 'utc' ? 'Time (UTC)' : 'Time', 'Dataset', 'Line'], Array.from({ length: 3 }, () => '---')]
  return [...heads, ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('')
}

/** A cell is one line, and a bar in it does not end it. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*[\r\n]+\s*/g, ' ⏎ ')

/** code is fenced by more backticks than follow one another within. */
function code(raw: string): string {
  const text = cell(plainLine(raw).trim())
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`
}

/** textOf is what an event has under a name, which may be any text. */
export function textOf({ message_kvs, attributes }: Pick<Event, 'message_kvs' | 'attributes'>, name: string): string | undefined {
  if (Object.hasOwn(message_kvs, name)) return message_kvs[name]
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined
}

/** A Comparison is a key with its value in each event; what differs comes first. */
export type Comparison = { name: string; values: readonly (string | undefined)[]; isSame: boolean }

export function comparedKeys(events: readonly Event[]): Comparison[] {
  const names = [...new Set(events.flatMap(({ message_kvs, attributes }) => [...Object.keys(message_kvs), ...Object.keys(attributes)]))]
  const rows = names.toSorted().map((name) => {
    const values = events.map((event) => textOf(event, name))
    return { name, values, isSame: values.every((value) => value === values[0]) }
  })
  return [...rows.filter(({ isSame }) => !isSame), ...rows.filter(({ isSame }) => isSame)]
}
