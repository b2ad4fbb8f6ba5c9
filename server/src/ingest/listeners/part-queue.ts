import { joinedParts, type LinePart } from '../receivers/forward/partial-lines.ts'

type Part = { message: Uint8Array; starts: readonly number[] }
type Emit = (message: Uint8Array) => void
type OpenLine = { parts: Map<number, Part>; bytes: number; count: number | undefined; emit: Emit; timer: NodeJS.Timeout }

/** The time for a line to become complete. */
const LINE_MS = 5_000
/** Bounds the parts that the lines of one listener hold together. */
const HELD_BYTES_MAX = 16 * 2 ** 20

/** Collects the parts of lines that came in several messages. Incomplete lines are passed on unchanged. */
export class PartQueue {
  readonly #lines = new Map<string, OpenLine>()
  readonly #lineBytesMax: number
  readonly #heldBytesMax: number
  #bytes = 0
  #senders = 0

  constructor(lineBytesMax: number, heldBytesMax = HELD_BYTES_MAX) {
    this.#lineBytesMax = lineBytesMax
    this.#heldBytesMax = heldBytesMax
  }

  /** A name for a connection, whose ids of lines are its own. */
  newSender(): string {
    this.#senders += 1
    return String(this.#senders)
  }

  /** Takes a part of a line of one sender. `emit` gets the whole line, or the messages that remained. */
  add(sender: string, { id, ordinal, isLast }: LinePart, part: Part, emit: Emit): void {
    const key = `${sender} ${id}`
    const open = this.#lines.get(key)
    const known = open?.parts.get(ordinal)
    if (known && Buffer.compare(known.message, part.message) === 0) return
    // The part of another line with the same id.
    if (open && known) this.#end(key, open)
    const line = this.#lines.get(key) ?? this.#open(key, emit)
    line.parts.set(ordinal, part)
    line.bytes += part.message.length
    this.#bytes += part.message.length
    if (isLast) line.count = ordinal
    if (line.parts.size === line.count || line.bytes > this.#lineBytesMax) this.#end(key, line)
    for (const [oldest, first] of this.#lines) {
      if (this.#bytes <= this.#heldBytesMax) return
      this.#end(oldest, first)
    }
  }

  /** Passes on what is incomplete of a sender that sends no more. */
  flush(sender: string): void {
    for (const [key, line] of this.#lines) if (key.startsWith(`${sender} `)) this.#end(key, line)
  }

  #open(key: string, emit: Emit): OpenLine {
    const line: OpenLine = {
      ...{ parts: new Map(), bytes: 0, count: undefined, emit },
      timer: setTimeout(() => this.#end(key, line), LINE_MS),
    }
    this.#lines.set(key, line)
    return line
  }

  #end(key: string, { parts, bytes, count, emit, timer }: OpenLine): void {
    clearTimeout(timer)
    this.#lines.delete(key)
    this.#bytes -= bytes
    const inOrder = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part)
    if (parts.size === count) emit(joinedParts(inOrder))
    else for (const { message } of inOrder) emit(message)
  }
}
