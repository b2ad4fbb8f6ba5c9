import { Failure } from '../../../kernel/errors.ts'
import type { FieldDraft } from '../../../lines/shredder/record-table.ts'
import type { IngestRequest, ParsedBody, RejectedRecord } from '../../batch.ts'
import { Batches, RECORDS_MAX } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { MemberText } from '../json/member-text.ts'
import { JsonReader, OPEN_OBJECT } from '../json/reader.ts'
import { KeyNames } from '../names.ts'
import { type ServiceRole, ServiceRoute, serviceRoleOf } from '../service-route.ts'
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
type Role = { attribute: string; levelRank: number; metadata: keyof HecMetadata | undefined; service: ServiceRole }
const NO_RANK = -1
function roleOf(path: string): Role {
  const attribute = `$${path}`
  return {
    attribute,
    levelRank: levelFields.indexOf(attribute),
    metadata: METADATA.find((name) => name === path),
    service: serviceRoleOf(path),
  }
}

/**
 * Reads objects one after another, or an array of them. An object without an event is rejected alone; after broken JSON nothing can be
 * read.
 */
export function readEvents({ body, query }: Pick<IngestRequest, 'body' | 'query'>): ParsedBody {
  return new HecEvents(body, query).read()
}

/** The parts of the event that is being read which are not fields. */
class HecEvent {
  hasLine = false
  isBlank = false
  readonly time: MemberText
  readonly metadata: Readonly<Record<keyof HecMetadata, MemberText>>
  level: string | undefined
  levelRank = levelFields.length
  dropped = 0
  /** The service that the event names, and the one that its fields name. */
  readonly service = new ServiceRoute()
  readonly fieldService = new ServiceRoute()

  constructor(reader: JsonReader, text: BodyText) {
    const member = () => new MemberText(reader, text)
    this.time = member()
    this.metadata = { host: member(), source: member(), sourcetype: member(), index: member() }
  }

  clear(): void {
    const { host, source, sourcetype, index } = this.metadata
    this.hasLine = false
    this.isBlank = false
    this.time.clear()
    host.clear()
    source.clear()
    sourcetype.clear()
    index.clear()
    this.level = undefined
    this.levelRank = levelFields.length
    this.dropped = 0
    this.service.clear()
    this.fieldService.clear()
  }
}

class HecEvents {
  readonly #reader: JsonReader
  readonly #members: JsonLeaves<Role>
  readonly #fieldLeaves: JsonLeaves<Role>
  /** Goes over events that are objects; they are lines, whose keys only name a service here. */
  readonly #eventLeaves: JsonLeaves<ServiceRole>
  readonly #found: HecEvent
  readonly #query: HecMetadata
  readonly #batches: Batches
  readonly #rejected: RejectedRecord[] = []
  readonly #notes: HecNotes = {}
  #number = 0
  #blank = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#reader = new JsonReader(body)
    this.#batches = new Batches(body)
    const text = new BodyText(body)
    const names = new KeyNames(body, text, roleOf)
    this.#members = new JsonLeaves(this.#reader, names, text, { isFlat: true })
    this.#fieldLeaves = new JsonLeaves(this.#reader, names, text)
    this.#eventLeaves = new JsonLeaves(this.#reader, new KeyNames(body, text, serviceRoleOf), text)
    this.#found = new HecEvent(this.#reader, text)
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
    const event = this.#found
    event.clear()
    this.#object(event)
    if (!event.hasLine) {
      this.#reject(MISSING)
      return
    }
    if (event.isBlank) this.#blank += 1
    this.#number += 1
    this.#add(event)
  }

  #object(event: HecEvent): void {
    const reader = this.#reader
    const members = this.#members
    const { draft } = this.#batches
    const { attributes } = draft
    draft.clear()
    members.open()
    for (let name = members.next(); name !== undefined; name = members.next()) {
      const { path, role } = name
      const isObject = members.isOpen && reader.peek() === OPEN_OBJECT
      if (path === 'event') {
        if (isObject) this.#objectLine(event)
        else {
          members.finishValue()
          this.#batches.setLine(reader, members.isString)
        }
        event.hasLine = true
        event.isBlank = members.isString && draft.rawStart === draft.rawEnd
      } else if (path === 'fields' && isObject) this.#fields(event)
      else {
        members.finishValue()
        if (path === 'time') event.time.note(members.isString)
        else if (role.metadata !== undefined) event.metadata[role.metadata].note(members.isString)
        else if (path === '' || attributes.count >= KEYS_MAX) event.dropped += 1
        else addField(event, attributes, members, role)
      }
    }
  }

  /** An object is its own line. */
  #objectLine({ service }: HecEvent): void {
    const reader = this.#reader
    const start = reader.at
    const leaves = this.#eventLeaves
    leaves.open()
    for (let leaf = leaves.next(); leaf !== undefined; leaf = leaves.next()) {
      if (leaf.role !== undefined && leaves.isString) service.note(leaf.role, leaves.repeated())
    }
    this.#batches.draft.setRawAt(start, reader.at)
  }

  #fields(event: HecEvent): void {
    const { attributes } = this.#batches.draft
    const leaves = this.#fieldLeaves
    leaves.open()
    for (let leaf = leaves.next(); leaf !== undefined; leaf = leaves.next()) {
      if (leaf.path === '' || attributes.count >= KEYS_MAX) event.dropped += 1
      else addField(event, attributes, leaves, leaf.role)
    }
  }

  #add({ time, level, metadata, dropped, service, fieldService }: HecEvent): void {
    const { draft } = this.#batches
    const { attributes } = draft
    const query = this.#query
    if (!this.#batches.readTimeAt(time)) this.#batches.setTime(time.text()?.trim())
    draft.setLevel(level)
    if (dropped > 0) attributes.addText('$hec.dropped_fields', String(dropped))
    const { host, source, sourcetype, index } = metadata
    addMetadata(attributes, METADATA_ATTRIBUTES.host, host, query.host)
    addMetadata(attributes, METADATA_ATTRIBUTES.source, source, query.source)
    addMetadata(attributes, METADATA_ATTRIBUTES.sourcetype, sourcetype, query.sourcetype)
    addMetadata(attributes, METADATA_ATTRIBUTES.index, index, query.index)
    const named = fieldService.after(service)
    const route = routeOf(index.text() ?? query.index, sourcetype.text() ?? query.sourcetype, source.text() ?? query.source)
    // An index is chosen by an administrator, a source type describes a format.
    const place = { collection: route.collection ?? named.collection, dataset: named.dataset ?? route.dataset }
    this.#batches.take(this.#batches.of(place))
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

function addField(event: HecEvent, attributes: FieldDraft, leaves: JsonLeaves<Role>, role: Role): void {
  leaves.addTo(attributes, role.attribute)
  if (role.service !== undefined && leaves.isString) event.fieldService.note(role.service, leaves.repeated())
  if (role.levelRank > NO_RANK) noteLevel(event, role, leaves.repeated())
}

/** Adds what an event says about its source, else what the query says. */
function addMetadata(attributes: FieldDraft, path: string, own: MemberText, common: string | undefined): void {
  if (!own.isEmpty) own.addTo(attributes, path)
  else if (!own.isFound && common) attributes.addText(path, common)
}

/** Keeps the text of the best level field. */
function noteLevel(event: HecEvent, { levelRank }: Role, text: string): void {
  if (levelRank <= NO_RANK || levelRank >= event.levelRank || text === '') return
  event.level = text
  event.levelRank = levelRank
}
