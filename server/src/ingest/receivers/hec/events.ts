import { Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, Pair, ParsedBody, ReceivedRecord, RejectedRecord } from '../../batch.ts'
import { Batches, RECORDS_MAX, timeOf } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader, OPEN_OBJECT, QUOTE } from '../json/reader.ts'
import { readBytes, readText } from '../json/texts.ts'
import { KeyNames } from '../names.ts'
import type { HecStatus } from './answer.ts'
import { type HecMetadata, METADATA, METADATA_ATTRIBUTES, metadataOf, routeOf } from './route.ts'

/** The first event that could not be read; its number counts from 0. */
export type HecNotes = { problem?: HecStatus; number?: number }

const MISSING: HecStatus = { text: 'Event field is required', code: 12 }
const BLANK: HecStatus = { text: 'Event field cannot be blank', code: 13 }
const BROKEN: HecStatus = { text: 'Invalid data format', code: 6 }

/** Fields in which senders put the level of a text, best first. */
const levelFields: readonly string[] = ['$level', '$severity', '$otel.log.severity.text']

/** The name of a member or field, with the name of its attribute and its rank among the level fields. */
type Role = { attribute: string; levelRank: number }
const NO_RANK = -1
function roleOf(path: string): Role {
  const attribute = `$${path}`
  return { attribute, levelRank: levelFields.indexOf(attribute) }
}

/**
 * Reads objects one after another, or an array of them. An object without an event is rejected alone; behind broken JSON nothing can be
 * read.
 */
export function readEvents({ body, query }: Pick<IngestRequest, 'body' | 'query'>): ParsedBody {
  return new HecEvents(body, query).read()
}

class HecEvent {
  raw: Uint8Array | undefined
  isBlank = false
  time: string | undefined
  readonly fields: Pair[] = []
  readonly metadata: HecMetadata
  level: string | undefined
  #levelRank = levelFields.length
  dropped = 0

  constructor({ host, source, sourcetype, index }: HecMetadata) {
    this.metadata = { host, source, sourcetype, index }
  }

  add({ attribute, levelRank }: Role, text: string): void {
    this.fields.push([attribute, text])
    if (levelRank <= NO_RANK || levelRank >= this.#levelRank || text === '') return
    this.level = text
    this.#levelRank = levelRank
  }
}

class HecEvents {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #names: KeyNames<Role>
  readonly #query: HecMetadata
  readonly #batches = new Batches()
  readonly #rejected: RejectedRecord[] = []
  readonly #notes: HecNotes = {}
  #number = 0
  #blank = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#reader = new JsonReader(body)
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, roleOf)
    this.#query = metadataOf(query)
  }

  read(): ParsedBody {
    try {
      this.#reader.records(() => this.#event())
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
    const event = new HecEvent(this.#query)
    reader.openObject()
    while (reader.key()) {
      const { path: name, role } = this.#names.of(undefined, reader.start, reader.stop, reader.hash, reader.escaped)
      if (reader.isNull()) reader.skip()
      else if (name === 'event') {
        const isText = reader.peek() === QUOTE
        event.raw = readBytes(reader)
        event.isBlank = isText && event.raw.length === 0
      } else if (name === 'time') event.time = readText(reader, this.#text).trim()
      else if (name === 'fields' && reader.peek() === OPEN_OBJECT) this.#fields(event)
      else if (isMetadata(name)) event.metadata[name] = readText(reader, this.#text)
      else if (name !== '' && event.fields.length < KEYS_MAX) event.add(role, readText(reader, this.#text))
      else {
        reader.skip()
        event.dropped += 1
      }
    }
    return event
  }

  #fields(event: HecEvent): void {
    const leaves = new JsonLeaves(this.#reader, this.#names, this.#text)
    for (let leaf = leaves.next(); leaf !== undefined; leaf = leaves.next()) {
      if (leaf.path === '' || event.fields.length >= KEYS_MAX) event.dropped += 1
      else event.add(leaf.role, leaves.text())
    }
  }

  #add({ time: written, fields: attributes, level, metadata, dropped }: HecEvent, raw: Uint8Array): void {
    const { time, refused } = timeOf(written)
    for (const pair of refused) attributes.push(pair)
    if (dropped > 0) attributes.push(['$hec.dropped_fields', String(dropped)])
    for (const name of METADATA) {
      const text = metadata[name]
      if (text) attributes.push([METADATA_ATTRIBUTES[name], text])
    }
    const record: ReceivedRecord = { raw, time, level, keys: [], attributes }
    this.#batches.add(this.#batches.of(routeOf(metadata)), record)
  }

  #reject(problem: HecStatus): void {
    if (!this.#notes.problem) {
      this.#notes.problem = problem
      this.#notes.number = this.#number
    }
    if (this.#rejected.length === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} objects without an event in one post`)
    this.#rejected.push({ index: this.#number, reason: problem.text })
    this.#number += 1
  }
}

const isMetadata = (name: string): name is keyof HecMetadata =>
  name === 'host' || name === 'source' || name === 'sourcetype' || name === 'index'
