import { hash } from 'node:crypto'
import { badRequest, Failure } from '../../../kernel/errors.ts'
import type { RecordTable } from '../../../lines/shredder/record-table.ts'
import type { IngestRequest, ParsedBody, RejectedRecord } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader, QUOTE } from '../json/reader.ts'
import { unescapeToText } from '../json/unescape.ts'
import { type BulkNotes, type Verb, verbs } from './bulk-answer.ts'
import { Documents } from './document.ts'
import { decoded, routeOfIndex } from './index-name.ts'

/** The end of the path of a bulk post, with the default index of its actions. Repeated slashes are accepted. */
export const BULK = /(?:\/{1,3}(?<index>[^/]+))?(?:\/{1,3}_doc)?\/{1,3}_bulk\/{0,3}$/
/** Bounds the memory for events and the answer. */
export const ACTIONS_MAX = 200_000
const LINE_FEED = 0x0a
const FIRST_VISIBLE = 0x21

type Action = { verb: Verb; index: string; id: string }

/**
 * Reads pairs of lines: action and document. An unreadable action refuses the post, since the meaning of the next line would be unknown. An
 * unreadable document is rejected alone.
 */
export function parseBulk({ path, body }: Pick<IngestRequest, 'path' | 'body'>): ParsedBody {
  const post = new Bulk(body, indexOf(path))
  for (let line = post.action(); line !== undefined; line = post.action()) post.add(line)
  return post.parsed()
}

const indexOf = (path: string): string => decoded(BULK.exec(path)?.groups?.index ?? '')

type Line = { start: number; end: number }

class Bulk {
  readonly #body: Uint8Array
  readonly #batches: Batches
  readonly #documents: Documents
  readonly #actions: Actions
  readonly #tables = new Map<string, RecordTable>()
  readonly #rejected: RejectedRecord[] = []
  readonly #actionList: Action[] = []
  #at = 0
  #lines = 0

  constructor(body: Uint8Array, index: string) {
    this.#body = body
    // The reader of documents bounds their values.
    this.#batches = new Batches(body, true, Number.POSITIVE_INFINITY)
    this.#documents = new Documents(body, this.#batches)
    this.#actions = new Actions(body, index)
  }

  /** Goes to the next line that is not blank. A post may contain a hundred million blank lines, so it does not examine them one by one. */
  action(): Line | undefined {
    for (; (this.#body[this.#at] ?? FIRST_VISIBLE) < FIRST_VISIBLE; this.#at += 1) if (this.#body[this.#at] === LINE_FEED) this.#lines += 1
    return this.line()
  }

  /** Goes to the next line; the last one may lack its line end. */
  line(): Line | undefined {
    if (this.#at >= this.#body.length) return undefined
    const start = this.#at
    const found = this.#body.indexOf(LINE_FEED, start)
    const end = found < 0 ? this.#body.length : found
    this.#at = end + 1
    this.#lines += 1
    return { start, end }
  }

  add(line: Line): void {
    const action = this.#actions.read(line, this.#lines)
    const index = this.#actionList.push(action) - 1
    if (index === ACTIONS_MAX) throw new Failure(413, `more than ${ACTIONS_MAX} actions in one post`)
    if (action.verb === 'delete') return
    const document = this.line()
    try {
      if (document === undefined) throw badRequest('the document is missing')
      this.#read(action, document)
      this.#batches.take(this.#tableOf(action.index))
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status !== 400) throw thrown
      this.#rejected.push({ index, reason: thrown.message })
    }
  }

  parsed(): ParsedBody {
    const notes = notesOf(this.#actionList)
    return { batches: this.#batches.all(), rejected: this.#rejected, total: this.#actionList.length, notes, ...this.#idempotencyKey() }
  }

  /** The hash of a body that only creates documents with ids: the same body again is a repeat. */
  #idempotencyKey(): { idempotencyKey?: string } {
    const isNamed = this.#actionList.length > 0 && this.#actionList.every(({ verb, id }) => verb === 'create' && id !== '')
    return isNamed ? { idempotencyKey: hash('sha256', this.#body) } : {}
  }

  #read(action: Action, { start, end }: Line): void {
    if (action.verb === 'update') this.#documents.read(...partOf(this.#body, start, end))
    else this.#documents.read(start, end)
  }

  /** The records of an index's dataset, else of the service that the document names; several indexes may lead to one dataset. */
  #tableOf(index: string): RecordTable {
    if (index === '') return this.#batches.of(this.#documents.service.after(routeOfIndex(index)))
    const known = this.#tables.get(index)
    if (known) return known
    const table = this.#batches.of(routeOfIndex(index))
    this.#tables.set(index, table)
    return table
  }
}

/** The position of the document of an update. */
function partOf(body: Uint8Array, start: number, end: number): [start: number, end: number] {
  const reader = new JsonReader(body, start, end)
  let part: [number, number] | undefined
  reader.openObject()
  while (reader.key()) {
    const isDoc = nameOf(reader) === 'doc'
    reader.skip()
    if (isDoc) part = [reader.start, reader.stop]
  }
  reader.finish()
  if (part === undefined) throw badRequest('the update has no doc')
  return part
}

/** Reads lines such as {"create":{"_index":"web","_id":"7"}} and caches the last one. */
class Actions {
  readonly #body: Uint8Array
  readonly #index: string
  readonly #text: BodyText
  #last: Line = { start: 0, end: 0 }
  #action: Action | undefined

  constructor(body: Uint8Array, index: string) {
    this.#body = body
    this.#index = index
    this.#text = new BodyText(body)
  }

  read(line: Line, number: number): Action {
    if (this.#action !== undefined && this.#isLast(line)) return this.#action
    try {
      this.#action = this.#parse(line)
      this.#last = line
      return this.#action
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      throw badRequest(`malformed action on line ${number}: ${cause.message}`, { cause })
    }
  }

  #isLast({ start, end }: Line): boolean {
    if (end - start !== this.#last.end - this.#last.start) return false
    for (let at = start, last = this.#last.start; at < end; at += 1, last += 1) if (this.#body[at] !== this.#body[last]) return false
    return true
  }

  #parse({ start, end }: Line): Action {
    const reader = new JsonReader(this.#body, start, end)
    reader.openObject()
    if (!reader.key()) throw badRequest('it names no action')
    const name = nameOf(reader)
    const verb = verbs.find((known) => known === name)
    if (verb === undefined) throw badRequest('it is none of index, create, update and delete')
    const action = { verb, index: this.#index, id: '' }
    reader.openObject()
    while (reader.key()) {
      const member = nameOf(reader)
      if (member === '_index') action.index = this.#value(reader)
      else if (member === '_id') action.id = this.#value(reader)
      else reader.skip()
    }
    if (reader.key()) throw badRequest('it names more than one action')
    reader.finish()
    return action
  }

  #value(reader: JsonReader): string {
    if (reader.isNull()) {
      reader.scalar()
      return ''
    }
    if (reader.peek() !== QUOTE) {
      reader.scalar()
      return this.#text.text(reader.start, reader.stop)
    }
    reader.string()
    if (!reader.escaped) return this.#text.text(reader.start, reader.stop)
    return unescapeToText(this.#body.subarray(reader.start, reader.stop))
  }
}

/** The key just read, undecoded: the keys of this protocol contain no escapes. */
const nameOf = (reader: JsonReader): string => Buffer.from(reader.bytes.subarray(reader.start, reader.stop)).toString('latin1')

function notesOf(actions: readonly Action[]): BulkNotes {
  const numbers = new Map<string, number>()
  const notes = { verbs: new Uint8Array(actions.length), indexNumbers: new Uint32Array(actions.length) }
  for (const [at, { verb, index }] of actions.entries()) {
    const number = numbers.get(index) ?? numbers.size
    numbers.set(index, number)
    notes.verbs[at] = verbs.indexOf(verb)
    notes.indexNumbers[at] = number
  }
  return { ...notes, indexes: [...numbers.keys()], ids: actions.map(({ id }) => id) }
}
