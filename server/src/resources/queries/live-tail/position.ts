import { seqAt } from '../../../events/writer/seq.ts'
import { SEQ_EPOCH_MS } from '../../../kernel/sequence-time.ts'
import { SequenceSet } from './sequence-set.ts'

/**
 * The position of a live tail, valid in every process. Events numbered up to `floor` are not shown again. Of those above it, the ones in `shown` were
 * shown or existed before the tail began. `known` holds the datasets that the tail has read, by a part of their ids.
 */
export type TailPosition = { readonly floor: bigint; readonly shown: SequenceSet; readonly known: ReadonlySet<number> }

/** An event may appear this long after its number was claimed: twice the overlap of reads. */
export const WINDOW_MS = 60_000
/** Bounds the stored position; if that many events arrive within the window, a late one may be missed. */
const SHOWN_MAX = 20_000
const VERSION = 1

export const firstPosition = (nowMs: number): TailPosition => ({
  floor: seqAt(nowMs - WINDOW_MS),
  shown: SequenceSet.EMPTY,
  known: new Set(),
})

/** The maximum age of the number of an event that arrives now: a claim is used for ten seconds, and an insert takes a moment. */
const START_MS = 15_000

/** The position of a new tail: older numbers existed before. */
export const startPosition = (nowMs: number): TailPosition => ({ ...firstPosition(nowMs), floor: seqAt(nowMs - START_MS) })

export const isNew = ({ floor, shown }: TailPosition, seq: bigint): boolean => seq > floor && !shown.has(seq)

/** Returns the time back to which a process must have read to continue from a position. */
export const readBackMs = ({ floor }: TailPosition): number => Number(floor / 1_000_000n) + SEQ_EPOCH_MS

/** Identifies datasets by the end of their ids, which is random in every version of ids. */
export const datasetKeyOf = (logId: string): number => Number.parseInt(logId.slice(-8), 16)

/** Returns the position after events were returned. `waiting` is the lowest number that was not returned yet; the floor stays below it. */
export function advanced(
  { floor, shown }: TailPosition,
  {
    returned,
    waiting,
    known,
    nowMs,
  }: { returned: readonly bigint[]; waiting: bigint | undefined; known: ReadonlySet<number>; nowMs: number },
): TailPosition {
  const oldest = seqAt(nowMs - WINDOW_MS)
  const candidate = waiting !== undefined && waiting <= oldest ? waiting - 1n : oldest
  const newFloor = candidate > floor ? candidate : floor
  const all = shown.above(newFloor).with(returned.filter((seq) => seq > newFloor))
  if (all.size <= SHOWN_MAX) return { floor: newFloor, shown: all, known }
  const highest = all.fromEnd(SHOWN_MAX) ?? newFloor
  return { floor: highest, shown: all.above(highest), known }
}

/** Reports whether a position without new events must be stored. A position that only gets older is stored occasionally. */
export const mustBeStored = (before: TailPosition, after: TailPosition): boolean =>
  after.known.symmetricDifference(before.known).size > 0 || readBackMs(after) - readBackMs(before) > WINDOW_MS / 2

/** Encodes the numbers as small differences. */
export function encodePosition({ floor, shown, known }: TailPosition): Buffer {
  const bytes = Buffer.alloc((shown.size + known.size + 3) * NUMBER_BYTES_MAX)
  const at = { offset: 1 }
  bytes[0] = VERSION
  writeNumber(bytes, at, floor)
  writeNumber(bytes, at, BigInt(known.size))
  for (const one of known) writeNumber(bytes, at, BigInt(one))
  let last = floor
  for (const seq of shown) {
    writeNumber(bytes, at, seq - last)
    last = seq
  }
  return Buffer.from(bytes.subarray(0, at.offset))
}

/** Returns undefined for an encoding of an unknown version. */
export function decodePosition(bytes: Uint8Array): TailPosition | undefined {
  if (bytes[0] !== VERSION) return undefined
  const at = { offset: 1 }
  const floor = readNumber(bytes, at)
  const known = new Set<number>()
  for (let left = Number(readNumber(bytes, at)); left > 0; left -= 1) known.add(Number(readNumber(bytes, at)))
  const shown: bigint[] = []
  let last = floor
  while (at.offset < bytes.length) {
    last += readNumber(bytes, at)
    shown.push(last)
  }
  return { floor, shown: SequenceSet.of(shown), known }
}

export function writeNumber(bytes: Buffer, at: { offset: number }, value: bigint): void {
  let rest = value
  while (rest >= SMALL) {
    at.offset = bytes.writeUInt8(Number(rest & 127n) | 128, at.offset)
    rest >>= 7n
  }
  let small = Number(rest)
  while (small > 127) {
    at.offset = bytes.writeUInt8((small & 127) | 128, at.offset)
    small >>= 7
  }
  at.offset = bytes.writeUInt8(small, at.offset)
}

/** Differences below this fit into 32 bits; nearly all do, and they are faster to write. */
const SMALL = 2n ** 30n
/** The encoded length of 64 bits at seven bits a byte. */
export const NUMBER_BYTES_MAX = 10

export function readNumber(bytes: Uint8Array, at: { offset: number }): bigint {
  let value = 0n
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[at.offset] ?? 0
    at.offset += 1
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return value
  }
}
