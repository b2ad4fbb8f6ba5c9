import { Failure } from '../../../kernel/errors.ts'
import { afterBlank, endOfLine, searchable } from '../../intake/lines.ts'
import type { RecordRoute } from '../batches.ts'
import { JsonReader, OPEN_OBJECT, QUOTE } from '../json/reader.ts'
import { unescapeToText } from '../json/unescape.ts'
import { type ServiceRole, ServiceRoute, serviceRoleOf } from '../service-route.ts'

/** The end of `"service`. Short texts with a rare first letter are found fastest. */
const RARE = 'vice'
const [POINT, COLON, LOWER_E, LOWER_N, LOWER_R, LOWER_S] = [0x2e, 0x3a, 0x65, 0x6e, 0x72, 0x73]

/** Lines of one dataset. */
export type ServiceLines = { readonly route: RecordRoute; readonly bytes: Uint8Array }

/** Divides lines by the service that they name; undefined when none does. The order within a dataset stays. */
export function linesByService(bytes: Uint8Array): readonly ServiceLines[] | undefined {
  const marks = new Marks(bytes)
  if (!marks.isWithin(0, bytes.length)) return undefined
  const found = searchable(bytes)
  const parts = new Map<string, { route: RecordRoute; ranges: [start: number, end: number][] }>()
  const names = new ServiceNames(bytes)
  let last: [start: number, end: number] | undefined
  let lastKey: string | undefined
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, endOfLine(found, at) + 1)
    const route = marks.isWithin(at, end) ? names.routeOf(at, end) : NO_ROUTE
    const key = keyOf(route)
    if (last && key === lastKey) last[1] = end
    else {
      last = [at, end]
      lastKey = key
      const part = parts.get(key)
      if (part) part.ranges.push(last)
      else parts.set(key, { route, ranges: [last] })
    }
    at = end
  }
  return [...parts.values()].map(({ route, ranges }) => ({ route, bytes: parts.size === 1 ? bytes : joined(bytes, ranges) }))
}

/** Identifies a collection and dataset. */
export const keyOf = ({ collection = '', dataset = '' }: RecordRoute): string => `${collection}\0${dataset}`

function joined(bytes: Uint8Array, ranges: readonly [start: number, end: number][]): Uint8Array {
  const whole = new Uint8Array(ranges.reduce((sum, [start, end]) => sum + end - start, 0))
  let at = 0
  for (const [start, end] of ranges) {
    whole.set(bytes.subarray(start, end), at)
    at += end - start
  }
  return whole
}

/** The service that an object names. */
export function serviceRouteOf(bytes: Uint8Array): RecordRoute {
  return new Marks(bytes).isWithin(0, bytes.length) ? new ServiceNames(bytes).routeOf(0, bytes.length) : NO_ROUTE
}

const NO_ROUTE: RecordRoute = { collection: undefined, dataset: undefined }

/** Finds quickly where a body may name services: at `"service.name…`, and at `"service": {`. Positions are asked for in rising order. */
class Marks {
  readonly #text: Buffer
  #next: number

  constructor(bytes: Uint8Array) {
    this.#text = searchable(bytes)
    this.#next = this.#from(0)
  }

  isWithin(start: number, end: number): boolean {
    if (this.#next < start) this.#next = this.#from(start)
    return this.#next < end
  }

  #from(start: number): number {
    const text = this.#text
    for (let at = text.indexOf(RARE, start); at >= 0; at = text.indexOf(RARE, at + RARE.length)) {
      const behind = at + RARE.length
      const isFlat = text[behind] === POINT && text[behind + 1] === LOWER_N
      if (!isFlat && text[behind] !== QUOTE) continue
      if (text[at - 4] !== QUOTE || text[at - 3] !== LOWER_S || text[at - 2] !== LOWER_E || text[at - 1] !== LOWER_R) continue
      if (isFlat || this.#isObjectAt(behind + 1)) return at
    }
    return Number.POSITIVE_INFINITY
  }

  /** Whether the value of a key is an object. */
  #isObjectAt(behindKey: number): boolean {
    const colon = afterBlank(this.#text, behindKey)
    return this.#text[colon] === COLON && this.#text[afterBlank(this.#text, colon + 1)] === OPEN_OBJECT
  }
}

class ServiceNames {
  readonly #bytes: Uint8Array
  readonly #text: Buffer
  readonly #reader: JsonReader
  readonly #service = new ServiceRoute()

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#text = searchable(bytes)
    this.#reader = new JsonReader(bytes)
  }

  /** Reads the object between two positions; text and broken objects name no service. */
  routeOf(start: number, end: number): RecordRoute {
    const service = this.#service
    service.clear()
    try {
      this.#reader.moveTo(start, end)
      this.#members()
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return NO_ROUTE
    }
    return service.dataset === undefined && service.collection === undefined ? NO_ROUTE : service.after(NO_ROUTE)
  }

  #members(): void {
    const reader = this.#reader
    if (reader.peek() !== OPEN_OBJECT) return
    reader.openObject()
    while (reader.key()) {
      const name = this.#name()
      if (name === 'service' && reader.peek() === OPEN_OBJECT) {
        reader.openObject()
        while (reader.key()) this.#value(serviceRoleOf(`service.${this.#name(LOWER_N)}`))
      } else this.#value(serviceRoleOf(name))
    }
  }

  /** The key that was read last; '' for one that begins otherwise and needs no text. */
  #name(first = LOWER_S): string {
    const { start, stop } = this.#reader
    if (this.#bytes[start] !== first || stop - start > NAME_BYTES_MAX) return ''
    return this.#text.toString('latin1', start, stop)
  }

  #value(role: ServiceRole): void {
    const reader = this.#reader
    if (role === undefined || reader.peek() !== QUOTE) {
      reader.skip()
      return
    }
    reader.string()
    const { start, stop, escaped } = reader
    this.#service.note(role, escaped ? unescapeToText(this.#bytes.subarray(start, stop)) : this.#text.toString('utf8', start, stop))
  }
}

const NAME_BYTES_MAX = 'service.namespace'.length
