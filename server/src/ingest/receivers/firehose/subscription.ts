import { Failure } from '../../../kernel/errors.ts'
import type { Pair } from '../../batch.ts'
import type { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader, OPEN_ARRAY } from '../json/reader.ts'
import { readText } from '../json/texts.ts'
import { LogEvents } from './log-events.ts'

/** The events of one log stream that a subscription forwards. Control messages have none. */
export type Subscription = { group: string | undefined; attributes: readonly Pair[]; events: LogEvents }

const MARK = Buffer.from('"messageType"')
const DATA = 'DATA_MESSAGE'
const CONTROL = 'CONTROL_MESSAGE'
const described: ReadonlySet<string> = new Set(['messageType', 'logGroup', 'logStream', 'owner'])

/** Reads the message of a log subscription; undefined for any other object. The lines of its events are put into the memory of the batches. */
export function readSubscription(part: Uint8Array, batches: Batches): Subscription | undefined {
  if (!Buffer.from(part.buffer, part.byteOffset, part.length).includes(MARK)) return undefined
  try {
    return new SubscriptionMessage(part, batches).read()
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.status === 400) return undefined
    throw thrown
  }
}

class SubscriptionMessage {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #events: LogEvents

  constructor(part: Uint8Array, batches: Batches) {
    this.#reader = new JsonReader(part)
    this.#text = new BodyText(part)
    this.#events = new LogEvents(this.#reader, batches)
  }

  read(): Subscription | undefined {
    const reader = this.#reader
    const texts = new Map<string, string>()
    const events = this.#events
    let hasEvents = false
    reader.openObject()
    while (reader.key()) {
      const name = this.#text.text(reader.start, reader.stop)
      if (name === 'logEvents' && reader.peek() === OPEN_ARRAY) {
        events.clear()
        events.read()
        hasEvents = true
      } else if (described.has(name)) texts.set(name, readText(reader, this.#text))
      else reader.skip()
    }
    reader.finish()
    const type = texts.get('messageType')
    if ((type !== DATA && type !== CONTROL) || !hasEvents) return undefined
    const group = texts.get('logGroup') || undefined
    const stream = texts.get('logStream')
    const account = texts.get('owner')
    const attributes: Pair[] = []
    if (group) attributes.push(['$aws.log_group', group])
    if (stream) attributes.push(['$aws.log_stream', stream])
    if (account) attributes.push(['$aws.account', account])
    if (type === CONTROL) events.clear()
    return { group, attributes, events }
  }
}
