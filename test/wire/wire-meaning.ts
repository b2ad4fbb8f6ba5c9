import type { Senders } from '../support/senders.ts'
import type { StoredEvent } from '../support/stored-events.ts'
import { type LineRule, objectIn, wireLines } from './wire.ts'

/** What a line says about itself: the severity and the fields of the event that it gives when it is sent as a line of text. */
export type LineMeaning = { readonly severity: string; readonly keys: Readonly<Record<string, string>> }

/** Sends the lines as they are, and returns the meaning of each by its text without blanks around it. */
export async function lineMeanings(senders: Senders): Promise<ReadonlyMap<string, LineMeaning>> {
  const dataset = 'meanings'
  await senders.post(`${wireLines.filter((line) => line !== '').join('\n')}\n`, {
    path: '/ingest',
    headers: { 'content-type': 'text/plain', 'x-service-dataset': dataset },
  })
  const events = await senders.eventsIn(dataset)
  return new Map(events.map(({ line, severity, keys }) => [line.trim(), { severity, keys }]))
}

/** How a sender changes the meaning of lines. */
export type MeaningRule = {
  /** Set for a sender that gives every record a level of its own: this one counts, not the one in the text. */
  decidesLevel?: true
  /** Set for a transport with a header of its own: it counts, not another one within the line. */
  hasHeader?: true
  /** Set for a sender that writes fields after the text, which are read instead of those in the text. */
  addsFields?: true
}

/** Lines that have the header of a transport themselves. */
const HEADED: ReadonlySet<string> = new Set(wireLines.slice(100))

/** The events whose severity is another one than their line gives alone, or which lack one of its fields. */
export function otherMeanings(
  events: readonly StoredEvent[],
  { textOf, decidesLevel, hasHeader, addsFields }: LineRule & MeaningRule,
  meanings: ReadonlyMap<string, LineMeaning>,
): string[] {
  const skipped = new Set(['message', ...(decidesLevel ? ['level', 'severity'] : [])])
  return events.flatMap((event) => {
    const text = textOf(event) ?? event.line
    if (typeof text !== 'string' || (hasHeader && HEADED.has(text))) return []
    const meaning = meanings.get(text.trim())
    if (!meaning) return []
    const isRight = decidesLevel || meaning.severity === 'none' || event.severity === meaning.severity
    const level = isRight ? [] : [`is ${event.severity}, not ${meaning.severity}`]
    // The fields of lines that are JSON are checked with their types.
    const fields = objectIn(text) || addsFields ? [] : Object.entries(meaning.keys).filter(([path]) => !skipped.has(path))
    const missing = fields.filter(([path, value]) => event.keys[path] !== value)
    const wrong = [...level, ...missing.map(([path, value]) => `${path} is ${event.keys[path]}, not ${value}`)]
    return wrong.length === 0 ? [] : [`${text.trim().slice(0, 70)}: ${wrong.join('; ')}`]
  })
}
