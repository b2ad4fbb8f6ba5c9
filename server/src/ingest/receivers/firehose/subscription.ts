import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
import { RECORDS_MAX, timeOf } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader, OPEN_ARRAY } from '../json/reader.ts'
import { readBytes, readText } from '../json/texts.ts'

/** The events of one log stream that a subscription forwards. Control messages have none. */
export type Subscription = { group: string | undefined; attributes: readonly Pair[]; events: readonly ReceivedRecord[] }

const MARK = Buffer.from('"messageType"')
const DATA = 'DATA_MESSAGE'
const CONTROL = 'CONTROL_MESSAGE'
const described: ReadonlySet<string> = new Set(['messageType', 'logGroup', 'logStream', 'owner'])

/** Reads the message of a log subscription; undefined for any other object. */
export function readSubscription(part: Uint8Array): Subscription | undefined {
  if (!Buffer.from(part.buffer, part.byteOffset, part.length).includes(MARK)) return undefined
  try {
    return new SubscriptionMessage(part).read()
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.status === 400) return undefined
    throw thrown
  }
}

class SubscriptionMessage {
  readonly #reader: JsonReader
  readonly #text: BodyText

  constructor(part: Uint8Array) {
    this.#reader = new JsonReader(part)
    this.#text = new BodyText(part)
  }

  read(): Subscription | undefined {
    const reader = this.#reader
    const texts = new Map<string, string>()
    let events: ReceivedRecord[] | undefined
    reader.openObject()
    while (reader.key()) {
      const name = this.#name()
      if (name === 'logEvents' && reader.peek() === OPEN_ARRAY) events = this.#events()
      else if (described.has(name)) texts.set(name, readText(reader, this.#text))
      else reader.skip()
    }
    reader.finish()
    const type = texts.get('messageType')
    if ((type !== DATA && type !== CONTROL) || events === undefined) return undefined
    const group = texts.get('logGroup') || undefined
    const stream = texts.get('logStream')
    const account = texts.get('owner')
    const attributes: Pair[] = []
    if (group) attributes.push(['$aws.log_group', group])
    if (stream) attributes.push(['$aws.log_stream', stream])
    if (account) attributes.push(['$aws.account', account])
    return { group, attributes, events: type === CONTROL ? [] : events }
  }

  #name(): string {
    return this.#text.text(this.#reader.start, this.#reader.stop)
  }

  #events(): ReceivedRecord[] {
    const reader = this.#reader
    const events: ReceivedRecord[] = []
    reader.openArray()
    while (reader.element()) {
      if (events.length === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} log events in one record`)
      events.push(this.#event())
    }
    return events
  }

  #event(): ReceivedRecord {
    const reader = this.#reader
    let raw: Uint8Array = new Uint8Array()
    let written: string | undefined
    reader.openObject()
    while (reader.key()) {
      const name = this.#name()
      if (name === 'message') raw = readBytes(reader)
      else if (name === 'timestamp') written = readText(reader, this.#text)
      else reader.skip()
    }
    const { time, refused } = timeOf(written)
    return { raw: withoutLineEnd(raw), time, level: undefined, keys: [], attributes: refused }
  }
}

/** Functions write the line end into their message. */
const withoutLineEnd = (raw: Uint8Array): Uint8Array => (raw.at(-1) === 0x0a ? raw.subarray(0, -1) : raw)
