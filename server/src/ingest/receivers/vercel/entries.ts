import { hash } from 'node:crypto'
import type { Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { Batches, timeOf } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader, OPEN_ARRAY } from '../json/reader.ts'
import { unescapeBytes } from '../json/unescape.ts'
import { KeyNames } from '../names.ts'

const COLLECTION = 'vercel'
const COMMA = 0x2c
const LINE_FEED = 0x0a
/** Members that describe the source of an event. */
const sourceNames: ReadonlySet<string> = new Set([
  'source',
  'projectId',
  'projectName',
  'deploymentId',
  'environment',
  'branch',
  'buildId',
  'executionRegion',
])

type Entry = { message: Uint8Array | undefined; texts: Map<string, string>; keys: Pair[]; attributes: Pair[]; isWhole: boolean }

/** Functions write the line end into their message. */
const withoutLineEnd = (message: Uint8Array): Uint8Array => (message.at(-1) === LINE_FEED ? message.subarray(0, -1) : message)

/** Reads an array of entries, or entries one after another. */
export function readDrain(body: Uint8Array): ParsedBody {
  return new DrainEntries(body).read()
}

class DrainEntries {
  readonly #body: Uint8Array
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #names: KeyNames<undefined>
  readonly #batches = new Batches()
  readonly #ids: string[] = []

  constructor(body: Uint8Array) {
    this.#body = body
    this.#reader = new JsonReader(body)
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, () => undefined)
  }

  read(): ParsedBody {
    const reader = this.#reader
    for (let byte = reader.peek(); byte >= 0; byte = reader.peek()) {
      if (byte !== OPEN_ARRAY) this.#entry()
      else {
        reader.openArray()
        while (reader.element()) this.#entry()
      }
      if (reader.peek() === COMMA) reader.at += 1
    }
    const parsed = this.#batches.parsed()
    // A drain repeats a post unchanged, so the ids of its entries identify it.
    const isNamed = parsed.total > 0 && this.#ids.length === parsed.total
    return isNamed ? { ...parsed, idempotencyKey: hash('sha256', this.#ids.join('\n')) } : parsed
  }

  #entry(): void {
    const reader = this.#reader
    reader.peek()
    const from = reader.at
    const entry: Entry = { message: undefined, texts: new Map(), keys: [], attributes: [], isWhole: false }
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { path } = name
      if (path === 'message' && leaves.isString) {
        const source = this.#body.subarray(reader.start, reader.stop)
        entry.message = withoutLineEnd(reader.escaped ? unescapeBytes(source) : source)
      } else if (path === '' || entry.keys.length >= KEYS_MAX) entry.isWhole = true
      else this.#member(entry, path, leaves.text())
    }
    this.#add(entry, this.#body.subarray(from, reader.at))
  }

  #member({ texts, keys, attributes }: Entry, path: string, text: string): void {
    texts.set(path, text)
    if (path === 'timestamp' || path === 'level') return
    if (sourceNames.has(path)) attributes.push([`$${path}`, text])
    else keys.push([path, text])
  }

  /** The message is the line; an entry without one is its own line. */
  #add({ message, texts, keys, attributes, isWhole }: Entry, whole: Uint8Array): void {
    const { time, refused } = timeOf(texts.get('timestamp'))
    const isLine = message !== undefined && message.length > 0 && !isWhole
    const id = texts.get('id')
    if (id) this.#ids.push(id)
    const record: ReceivedRecord = {
      raw: isLine ? message : whole,
      time,
      level: texts.get('level'),
      keys: isLine ? keys : [],
      attributes: [...attributes, ...refused],
    }
    const dataset = texts.get('projectName') || texts.get('projectId') || undefined
    this.#batches.add(this.#batches.of({ collection: COLLECTION, dataset }), record)
  }
}
