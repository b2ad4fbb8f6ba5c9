import { badRequest, type Failure } from '../../../kernel/errors.ts'
import { ValueBudget } from '../otlp/message.ts'

/** The types of Thrift's binary protocol. */
export const STOP = 0
export const BOOL = 2
const BYTE = 3
export const DOUBLE = 4
const I16 = 6
export const I32 = 8
export const I64 = 10
export const BINARY = 11
export const STRUCT = 12
const MAP = 13
const SET = 14
export const LIST = 15

const DEPTH_MAX = 32
const fixedBytes: ReadonlyMap<number, number> = new Map([
  [BOOL, 1],
  [BYTE, 1],
  [DOUBLE, 8],
  [I16, 2],
  [I32, 4],
  [I64, 8],
])

/** Reads structs of Thrift's binary protocol in place. Each length is checked against what is left. */
export class ThriftReader {
  readonly #bytes: Buffer
  readonly #budget = new ValueBudget()
  at = 0
  /** The type and number of the field that `field` has found. */
  type = STOP
  id = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.#bytes.length - this.at
  }

  /** Goes to the next field of a struct; false at its end. */
  field(): boolean {
    this.type = this.#bytes.readUInt8(this.#take(1))
    if (this.type === STOP) return false
    this.id = this.#bytes.readInt16BE(this.#take(2))
    this.#budget.spend()
    return true
  }

  /** Whether the field is this one. One of another type is skipped by its callers, as the protocol wants. */
  is(id: number, type: number): boolean {
    return this.id === id && this.type === type
  }

  bool(): boolean {
    return this.#bytes.readUInt8(this.#take(1)) !== 0
  }

  double(): number {
    return this.#bytes.readDoubleBE(this.#take(8))
  }

  i32(): number {
    return this.#bytes.readInt32BE(this.#take(4))
  }

  i64(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8))
  }

  binary(): Buffer {
    const length = this.#length('a length')
    const start = this.#take(length)
    return this.#bytes.subarray(start, start + length)
  }

  /** Reads the head of a list of structs and returns how many there are. */
  structs(): number {
    const at = this.at
    const type = this.#bytes.readUInt8(this.#take(1))
    const count = this.#length('a count')
    if (type !== STRUCT && count > 0) throw this.fail(`a list of structs has the type ${type}`, at)
    if (count > this.left) throw this.fail('a list has more elements than bytes are left', at)
    return count
  }

  /** Skips the value of the field. */
  skip(type = this.type, depth = 0): void {
    if (depth > DEPTH_MAX) throw this.fail(`values are nested more than ${DEPTH_MAX} levels deep`)
    const fixed = fixedBytes.get(type)
    if (fixed !== undefined) this.#take(fixed)
    else if (type === BINARY) this.#take(this.#length('a length'))
    else if (type === STRUCT) while (this.field()) this.skip(this.type, depth + 1)
    else if (type === MAP) this.#skipElements([this.#type(), this.#type()], depth)
    else if (type === SET || type === LIST) this.#skipElements([this.#type()], depth)
    else throw this.fail(`there is no type ${type}`)
  }

  fail(reason: string, at = this.at): Failure {
    return badRequest(`not valid Thrift: ${reason} at byte ${at}`)
  }

  #type(): number {
    return this.#bytes.readUInt8(this.#take(1))
  }

  #skipElements(types: readonly number[], depth: number): void {
    const count = this.#length('a count')
    if (count > this.left) throw this.fail('there are more elements than bytes left')
    for (let index = 0; index < count; index += 1) {
      this.#budget.spend()
      for (const type of types) this.skip(type, depth + 1)
    }
  }

  #length(name: string): number {
    const at = this.at
    const length = this.i32()
    if (length < 0) throw this.fail(`${name} is negative`, at)
    return length
  }

  #take(count: number): number {
    const from = this.at
    if (count > this.left) throw this.fail('it ends within a value')
    this.at = from + count
    return from
  }
}
