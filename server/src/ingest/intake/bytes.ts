import { freeBytes } from '../../kernel/memory.ts'

/** Copies the parts into one buffer, which can be transferred to a worker without another copy. */
export function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/**
 * The bytes of a body as they arrive. Once half of the expected length is there, they go to their place in the body at once, so that the parts do
 * not take as much memory again.
 */
export class ArrivingBytes {
  length = 0
  #parts: Uint8Array[] = []
  #body: Uint8Array | undefined
  #expected: number
  readonly #isOwner: boolean

  /** `isOwner` lets the memory of parts be freed after they are copied. */
  constructor(expected: number, isOwner: boolean) {
    this.#expected = expected
    this.#isOwner = isOwner
  }

  add(part: Uint8Array): void {
    const end = this.length + part.length
    if (!this.#body && end * 2 >= this.#expected && end <= this.#expected) this.#body = this.#takeParts(this.#expected)
    if (this.#body && end <= this.#body.length) this.#put(this.#body, part, this.length)
    else this.#keep(part)
    this.length = end
  }

  whole(): Uint8Array {
    return this.#body?.length === this.length ? this.#body : this.#takeParts(this.length)
  }

  /** The body is longer than expected, or its length is unknown. */
  #keep(part: Uint8Array): void {
    if (this.#body) this.#parts.push(this.#body.subarray(0, this.length))
    this.#body = undefined
    this.#parts.push(part)
  }

  #takeParts(length: number): Uint8Array {
    const body = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
    let at = 0
    for (const part of this.#body ? [this.#body.subarray(0, this.length)] : this.#parts) {
      at = this.#put(body, part, at)
    }
    this.#parts = []
    return body
  }

  /** Returns the end of the part in the body. */
  #put(body: Uint8Array, part: Uint8Array, at: number): number {
    const end = at + part.length
    body.set(part, at)
    if (this.#isOwner && part.length >= LARGE_BYTES) freeBytes(part)
    return end
  }
}

/** Smaller memory is left to garbage collection. */
const LARGE_BYTES = 4_096
