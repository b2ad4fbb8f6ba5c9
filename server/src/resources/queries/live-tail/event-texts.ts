import type { Event } from '@dendro/api'
import type { FoundEvent } from '../../../reading/query.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { SELECT_ALL, showOne } from '../../data/event-queries/event-queries.ts'
import { eventId } from './delivered.ts'
import type { StreamGuard } from './stream-guard.ts'

/** The inputs for serializing an event besides the event itself. */
export type TailContext = { baseUrl: string; datasetsById: ReadonlyMap<string, DatasetRow> }

/** The texts of some events, and the last of these. */
export type EventChunk = { readonly text: string; readonly seq: bigint }

/** The approximate size of the text that a stream serializes at once. */
const CHUNK_CHARS = 65_536

/** Serializes events for streams. A text is cached with its event and shared by all streams with the same context. */
export class EventTexts {
  readonly #texts = new WeakMap<FoundEvent, { key: string; text: string }>()

  #of(event: FoundEvent, context: TailContext): string {
    const { collection = '', dataset = '' } = context.datasetsById.get(event.logId) ?? {}
    const key = JSON.stringify([context.baseUrl, collection, dataset])
    const known = this.#texts.get(event)
    if (known?.key === key) return known.text
    const text = `data: ${JSON.stringify(toApiEvent(event, context))}\n\n`
    this.#texts.set(event, { key, text })
    return text
  }

  /** Yields chunks of bounded size, so that a slow client holds only one of them. A caller that loses access gets no further chunk. */
  *chunks(turn: number, events: readonly FoundEvent[], context: TailContext, guard: StreamGuard): Generator<EventChunk> {
    let text = ''
    let seq = 0n
    for (const event of events) {
      seq = event.seq
      text += `id: ${eventId({ turn, seq })}\n${this.#of(event, context)}`
      if (text.length < CHUNK_CHARS) continue
      yield { text, seq }
      if (guard.isLost) return
      text = ''
    }
    if (text !== '') yield { text, seq }
  }
}

/** Converts a found event to the event of the API. */
export function toApiEvent(event: FoundEvent, { baseUrl, datasetsById }: TailContext): Event {
  return showOne(event, { items: SELECT_ALL, baseUrl, places: datasetsById }).event
}
