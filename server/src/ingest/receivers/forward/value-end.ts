/** Thrown for a stream that cannot be divided into values. */
export class BrokenStream extends Error {}

const DEPTH_MAX = 100
/** The bytes of a head besides its first one, by type from 0xc0 on. */
const HEAD_BYTES = [0, 0, 0, 0, 1, 2, 4, 1, 2, 4, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 0, 0, 0, 0, 0, 1, 2, 4, 2, 4, 2, 4]
const [ARRAYS, MAPS] = [0, 1]

/** Finds the end of a value of MessagePack in a stream. It goes on where it stopped, so that every byte is read once. */
export class ValueEnd {
  #bytesMax: number
  #at = 0
  /** The elements that the open lists still miss. */
  readonly #left: number[] = []
  /** The positions of the elements of the outermost list. */
  starts: number[] = []

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The end of the value that begins at 0; undefined while it is incomplete. */
  find(bytes: Uint8Array): number | undefined {
    for (;;) {
      if (this.#at > this.#bytesMax) throw new BrokenStream(`a message is longer than ${this.#bytesMax} bytes`)
      if (this.#at > bytes.length || (this.#at === bytes.length && !this.#isOver)) return undefined
      if (this.#isOver) return this.#at
      if (!this.#step(bytes)) return undefined
    }
  }

  allow(bytesMax: number): void {
    this.#bytesMax = bytesMax
  }

  reset(): void {
    this.#at = 0
    this.#left.length = 0
    this.starts = []
  }

  get #isOver(): boolean {
    return this.#at > 0 && this.#left.length === 0
  }

  /** Reads one head; false when it is incomplete. */
  #step(bytes: Uint8Array): boolean {
    const start = this.#at
    const head = bytes[start] ?? 0
    const headBytes = head >= 0xc0 && head < 0xe0 ? (HEAD_BYTES[head - 0xc0] ?? 0) : 0
    if (start + 1 + headBytes > bytes.length) return false
    if (this.#left.length === 1) this.starts.push(start)
    const length = headBytes === 1 || headBytes === 2 || headBytes === 4 ? lengthAt(bytes, start + 1, headBytes) : 0
    this.#at = start + 1 + headBytes + dataBytes(head, length)
    this.#count(manyOf(head, length))
    return true
  }

  /** Counts a value in its list, and opens the list that it is. */
  #count(opened: number): void {
    const open = this.#left
    const last = open.length - 1
    if (last >= 0) open[last] = (open[last] ?? 0) - 1
    if (opened > 0) {
      if (open.length >= DEPTH_MAX) throw new BrokenStream(`values are nested more than ${DEPTH_MAX} levels deep`)
      open.push(opened)
    }
    while (open.length > 0 && open.at(-1) === 0) open.pop()
  }
}

function lengthAt(bytes: Uint8Array, at: number, count: number): number {
  let length = 0
  for (let index = 0; index < count; index += 1) length = length * 256 + (bytes[at + index] ?? 0)
  return length
}

/** The bytes after the head of a text, binary or extension. */
function dataBytes(head: number, length: number): number {
  if (head >= 0xa0 && head <= 0xbf) return head & 0x1f
  if ((head >= 0xc4 && head <= 0xc6) || (head >= 0xd9 && head <= 0xdb)) return length
  if (head >= 0xc7 && head <= 0xc9) return length + 1
  if (head >= 0xd4 && head <= 0xd8) return (1 << (head - 0xd4)) + 1
  if (head === 0xc1) throw new BrokenStream('the bytes are no MessagePack')
  return 0
}

/** The elements after the head of a list; a map has two for each pair. */
function manyOf(head: number, length: number): number {
  const kind = head >= 0x80 && head <= 0x8f ? MAPS : head >= 0x90 && head <= 0x9f ? ARRAYS : undefined
  if (kind !== undefined) return (head & 0x0f) << kind
  if (head === 0xdc || head === 0xdd) return length
  return head === 0xde || head === 0xdf ? length * 2 : 0
}
