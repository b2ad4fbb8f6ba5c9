import { Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, ParsedBody, RejectedRecord } from '../../batch.ts'
import { Batches, RECORDS_MAX } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader, OPEN_OBJECT, QUOTE } from '../json/reader.ts'
import { readText } from '../json/texts.ts'
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

/** The parts of an event that are not fields. */
class HecEvent {
  hasLine = false
  isBlank = false
  time: string | undefined
  readonly metadata: HecMetadata
  level: string | undefined
  levelRank = levelFields.length
  dropped = 0

  constructor({ host, source, sourcetype, index }: HecMetadata) {
    this.metadata = { host, source, sourcetype, index }
  }
}

class HecEvents {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #names: KeyNames<Role>
  readonly #query: HecMetadata
  readonly #batches: Batches
  readonly #rejected: RejectedRecord[] = []
  readonly #notes: HecNotes = {}
  #number = 0
  #blank = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#reader = new JsonReader(body)
    this.#batches = new Batches(body)
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
    if (!event.hasLine) {
      this.#reject(MISSING)
      return
    }
    if (event.isBlank) this.#blank += 1
    this.#number += 1
    this.#add(event)
  }

  #object(): HecEvent {
    const reader = this.#reader
    const { attributes } = this.#batches.draft
    const event = new HecEvent(this.#query)
    this.#batches.draft.clear()
    reader.openObject()
    while (reader.key()) {
      const { path: name, role } = this.#names.of(undefined, reader.start, reader.stop, reader.hash, reader.escaped)
      if (reader.isNull()) reader.skip()
      else if (name === 'event') this.#line(event)
      else if (name === 'time') event.time = readText(reader, this.#text).trim()
      else if (name === 'fields' && reader.peek() === OPEN_OBJECT) this.#fields(event)
      else if (isMetadata(name)) event.metadata[name] = readText(reader, this.#text)
      else if (name !== '' && attributes.count < KEYS_MAX) {
        const text = readText(reader, this.#text)
        attributes.addText(role.attribute, text)
        noteLevel(event, role, text)
      } else {
        reader.skip()
        event.dropped += 1
      }
    }
    return event
  }

  #line(event: HecEvent): void {
    const reader = this.#reader
    const { draft } = this.#batches
    const isText = reader.peek() === QUOTE
    if (isText) reader.string()
    else reader.skip()
    this.#batches.setLine(reader, isText)
    event.hasLine = true
    event.isBlank = isText && draft.rawStart === draft.rawEnd
  }

  #fields(event: HecEvent): void {
    const { attributes } = this.#batches.draft
    const leaves = new JsonLeaves(this.#reader, this.#names, this.#text)
    for (let leaf = leaves.next(); leaf !== undefined; leaf = leaves.next()) {
      if (leaf.path === '' || attributes.count >= KEYS_MAX) event.dropped += 1
      else {
        leaves.addTo(attributes, leaf.role.attribute)
        if (leaf.role.levelRank > NO_RANK) noteLevel(event, leaf.role, leaves.text())
      }
    }
  }

  #add({ time, level, metadata, dropped }: HecEvent): void {
    const { draft } = this.#batches
    this.#batches.setTime(time)
    draft.setLevel(level)
    if (dropped > 0) draft.attributes.addText('$hec.dropped_fields', String(dropped))
    for (const name of METADATA) {
      const text = metadata[name]
      if (text) draft.attributes.addText(METADATA_ATTRIBUTES[name], text)
    }
    this.#batches.take(this.#batches.of(routeOf(metadata)))
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

/** Keeps the text of the best level field. */
function noteLevel(event: HecEvent, { levelRank }: Role, text: string): void {
  if (levelRank <= NO_RANK || levelRank >= event.levelRank || text === '') return
  event.level = text
  event.levelRank = levelRank
}

const isMetadata = (name: string): name is keyof HecMetadata =>
  name === 'host' || name === 'source' || name === 'sourcetype' || name === 'index'
