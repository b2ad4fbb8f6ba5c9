import { Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, Pair, ParsedBody, ReceivedRecord, RejectedRecord } from '../../batch.ts'
import { Batches, timeOf } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../json/reader.ts'
import { readBytes, readText } from '../json/texts.ts'
import { KeyNames } from '../names.ts'
import type { HecStatus } from './answer.ts'
import { type HecMetadata, METADATA, metadataOf, routeOf } from './route.ts'

/** The first event that could not be read; its number counts from 0. */
export type HecNotes = { problem?: HecStatus; number?: number }

const MISSING: HecStatus = { text: 'Event field is required', code: 12 }
const BLANK: HecStatus = { text: 'Event field cannot be blank', code: 13 }
const BROKEN: HecStatus = { text: 'Invalid data format', code: 6 }
const COMMA = 0x2c

/** Fields in which senders put the level of a text. */
const levelFields: readonly string[] = ['$level', '$severity', '$otel.log.severity.text']
const levelIn = (fields: readonly Pair[]): string | undefined =>
  levelFields.map((name) => fields.find(([path]) => path === name)?.[1]).find((word) => word)

/**
 * Reads objects one after another, or an array of them. An object without an event is rejected alone; behind broken JSON nothing can be
 * read.
 */
export function readEvents({ body, query }: Pick<IngestRequest, 'body' | 'query'>): ParsedBody {
  return new HecEvents(body, query).read()
}

type HecEvent = { raw: Uint8Array | undefined; isBlank: boolean; time: string | undefined; fields: Pair[]; metadata: HecMetadata }

class HecEvents {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #names: KeyNames<undefined>
  readonly #query: HecMetadata
  readonly #batches = new Batches()
  readonly #rejected: RejectedRecord[] = []
  readonly #notes: HecNotes = {}
  #number = 0
  #blank = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#reader = new JsonReader(body)
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, () => undefined)
    this.#query = metadataOf(query)
  }

  read(): ParsedBody {
    const reader = this.#reader
    try {
      for (let byte = reader.peek(); byte >= 0; byte = reader.peek()) {
        if (byte !== OPEN_ARRAY) this.#event()
        else {
          reader.openArray()
          while (reader.element()) this.#event()
        }
        if (reader.peek() === COMMA) reader.at += 1
      }
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status !== 400) throw thrown
      this.#reject(BROKEN)
    }
    // A post of nothing but blank events is a mistake; among others, a blank event is an empty line of a file.
    if (this.#blank > 0 && this.#blank === this.#number) {
      this.#notes.problem = BLANK
      this.#notes.number = 0
      return {
        batches: [],
        rejected: Array.from({ length: this.#number }, (_, index) => ({ index, reason: BLANK.text })),
        total: this.#number,
        notes: this.#notes,
      }
    }
    return { ...this.#batches.parsed(), rejected: this.#rejected, total: this.#number, notes: this.#notes }
  }

  #event(): void {
    const event = this.#object()
    if (event.raw === undefined) {
      this.#reject(MISSING)
      return
    }
    if (event.isBlank) this.#blank += 1
    this.#number += 1
    this.#add(event, event.raw)
  }

  #object(): HecEvent {
    const reader = this.#reader
    const event: HecEvent = { raw: undefined, isBlank: false, time: undefined, fields: [], metadata: { ...this.#query } }
    reader.openObject()
    while (reader.key()) {
      const name = this.#text.text(reader.start, reader.stop)
      if (reader.isNull()) reader.skip()
      else if (name === 'event') {
        const isText = reader.peek() === QUOTE
        event.raw = readBytes(reader)
        event.isBlank = isText && event.raw.length === 0
      } else if (name === 'time') event.time = readText(reader, this.#text).trim()
      else if (name === 'fields' && reader.peek() === OPEN_OBJECT) this.#fields(event.fields)
      else if (isMetadata(name)) event.metadata[name] = readText(reader, this.#text)
      else event.fields.push([`$${name}`, readText(reader, this.#text)])
    }
    return event
  }

  #fields(pairs: Pair[]): void {
    const leaves = new JsonLeaves(this.#reader, this.#names, this.#text)
    let dropped = 0
    for (let leaf = leaves.next(); leaf !== undefined; leaf = leaves.next()) {
      if (leaf.path === '' || pairs.length >= KEYS_MAX) dropped += 1
      else pairs.push([`$${leaf.path}`, leaves.text()])
    }
    if (dropped > 0) pairs.push(['$hec.dropped_fields', String(dropped)])
  }

  #add({ time: written, fields, metadata }: HecEvent, raw: Uint8Array): void {
    const { time, refused } = timeOf(written)
    const level = fields.length === 0 ? undefined : levelIn(fields)
    const attributes: Pair[] = [...fields, ...refused]
    for (const name of METADATA) {
      const text = metadata[name]
      if (text) attributes.push([`$${name}`, text])
    }
    const record: ReceivedRecord = { raw, time, level, keys: [], attributes }
    this.#batches.add(this.#batches.of(routeOf(metadata)), record)
  }

  #reject(problem: HecStatus): void {
    if (!this.#notes.problem) {
      this.#notes.problem = problem
      this.#notes.number = this.#number
    }
    this.#rejected.push({ index: this.#number, reason: problem.text })
    this.#number += 1
  }
}

const isMetadata = (name: string): name is keyof HecMetadata =>
  name === 'host' || name === 'source' || name === 'sourcetype' || name === 'index'
