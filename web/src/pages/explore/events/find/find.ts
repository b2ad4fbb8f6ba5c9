import type { Event } from '@dendro/api'

/** Holds the matches found so far and how many events have been searched. */
export type FindProgress = {
  text: string
  hits: readonly number[]
  reached: number
  first: Event | undefined
  last: Event | undefined
}

export const emptyFind = (text: string): FindProgress => ({ text, hits: [], reached: 0, first: undefined, last: undefined })

/** A pattern that matches a text literally. */
export const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Searches on for as long as it has time. Appended events continue the search, any other change restarts it. */
export function continueFind(before: FindProgress, text: string, events: readonly Event[], hasTime: () => boolean): FindProgress {
  const isSame =
    before.text === text && before.reached <= events.length && events[0] === before.first && events[before.reached - 1] === before.last
  const start = isSame ? before : emptyFind(text)
  if (text === '' || start.reached === events.length) return start
  const pattern = new RegExp(escapeRegExp(text), 'i')
  const hits = [...start.hits]
  let reached = start.reached
  do {
    const event = events[reached]
    if (!event) break
    if (matches(event, pattern)) hits.push(reached)
    reached += 1
  } while (reached < events.length && (reached % STRIDE !== 0 || hasTime()))
  return { text, hits, reached, first: events[0], last: events[reached - 1] }
}

const STRIDE = 64

/** matches also searches the values of lines with escapes, since JSON escapes quotes in the raw line. */
function matches({ '@raw': raw, message_kvs, attributes }: Event, pattern: RegExp): boolean {
  if (raw !== null && pattern.test(raw)) return true
  if (anyValueMatches(attributes, pattern)) return true
  return (raw === null || raw.includes('\\')) && anyValueMatches(message_kvs, pattern)
}

function anyValueMatches(fields: Readonly<Record<string, string>>, pattern: RegExp): boolean {
  for (const name in fields) if (pattern.test(fields[name] ?? '')) return true
  return false
}
