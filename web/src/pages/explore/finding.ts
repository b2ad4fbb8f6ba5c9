import type { Event } from '@dendro/api'

/** Finding is how far a text was looked for in loaded events, and where it was. */
export type Finding = {
  text: string
  hits: readonly number[]
  reached: number
  first: Event | undefined
  last: Event | undefined
}

export const nothingFound = (text: string): Finding => ({ text, hits: [], reached: 0, first: undefined, last: undefined })

/** literal is a text as part of a pattern that finds just it. */
export const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** findFurther goes on looking where it has stopped, for as long as it may; events that came below go on, any others begin anew. */
export function findFurther(before: Finding, text: string, events: readonly Event[], mayGoOn: () => boolean): Finding {
  const isSame =
    before.text === text && before.reached <= events.length && events[0] === before.first && events[before.reached - 1] === before.last
  const start = isSame ? before : nothingFound(text)
  if (text === '' || start.reached === events.length) return start
  const pattern = new RegExp(literal(text), 'i')
  const hits = [...start.hits]
  let reached = start.reached
  do {
    const event = events[reached]
    if (!event) break
    if (has(event, pattern)) hits.push(reached)
    reached += 1
  } while (reached < events.length && (reached % STRIDE !== 0 || mayGoOn()))
  return { text, hits, reached, first: events[0], last: events[reached - 1] }
}

const STRIDE = 64

/** What was written with signs before it in the line, as JSON writes quotes, stands plainly only in the values. */
function has({ '@raw': raw, message_kvs, attributes }: Event, pattern: RegExp): boolean {
  if (raw !== null && pattern.test(raw)) return true
  if (hasValue(attributes, pattern)) return true
  return (raw === null || raw.includes('\\')) && hasValue(message_kvs, pattern)
}

function hasValue(keys: Readonly<Record<string, string>>, pattern: RegExp): boolean {
  for (const name in keys) if (pattern.test(keys[name] ?? '')) return true
  return false
}
