import { SEQ_EPOCH_MS, seqAt } from '../../../events/writer/seq.ts'
import { SequenceSet } from './sequence-set.ts'

/**
 * The position of a live tail, for any process: events numbered up to `floor` are not shown any more; of those above it, the ones in `shown` were
 * shown or existed before the tail began. `known` are the datasets it has read, by a part of their ids.
 */
export type TailPosition = { readonly floor: bigint; readonly shown: SequenceSet; readonly known: ReadonlySet<number> }

/** How long after its number was claimed an event may appear: twice the overlap of reads. */
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

/** How far back a process must have read to continue from a position. */
export const readBackMs = ({ floor }: TailPosition): number => Number(floor / 1_000_000n) + SEQ_EPOCH_MS

/** Identifies datasets by the end of their ids, which is random in every version of ids. */
export const knownBy = (logId: string): number => Number.parseInt(logId.slice(-8), 16)

/** The position after events were returned; `waiting` is the lowest number not returned yet, which holds back the floor. */
export function advanced(
  { floor, shown }: TailPosition,
  { given, waiting, known, nowMs }: { given: readonly bigint[]; waiting: bigint | undefined; known: ReadonlySet<number>; nowMs: number },
): TailPosition {
  const oldest = seqAt(nowMs - WINDOW_MS)
  const wanted = waiting !== undefined && waiting <= oldest ? waiting - 1n : oldest
  const raised = wanted > floor ? wanted : floor
  const all = shown.above(raised).with(given.filter((seq) => seq > raised))
  if (all.size <= SHOWN_MAX) return { floor: raised, shown: all, known }
  const highest = all.fromEnd(SHOWN_MAX) ?? raised
  return { floor: highest, shown: all.above(highest), known }
}

/** Reports whether a position without new events must be stored: one that only gets older is stored now and then. */
export const isWorthKeeping = (before: TailPosition, after: TailPosition): boolean =>
  after.known.symmetricDifference(before.known).size > 0 || readBackMs(after) - readBackMs(before) > WINDOW_MS / 2

/** Encodes the numbers as small differences. */
export function encodePosition({ floor, shown, known }: TailPosition): Buffer {
  const bytes = Buffer.alloc((shown.size + known.size + 3) * NUMBER_BYTES_MAX)
  const at = { offset: 1 }
  bytes[0] = VERSION
  putNumber(bytes, at, floor)
  putNumber(bytes, at, BigInt(known.size))
  for (const one of known) putNumber(bytes, at, BigInt(one))
  let last = floor
  for (const seq of shown) {
    putNumber(bytes, at, seq - last)
    last = seq
  }
  return Buffer.from(bytes.subarray(0, at.offset))
}

/** Undefined for an encoding of an unknown version. */
export function decodePosition(bytes: Uint8Array): TailPosition | undefined {
  if (bytes[0] !== VERSION) return undefined
  const at = { offset: 1 }
  const floor = takeNumber(bytes, at)
  const known = new Set<number>()
  for (let left = Number(takeNumber(bytes, at)); left > 0; left -= 1) known.add(Number(takeNumber(bytes, at)))
  const shown: bigint[] = []
  let last = floor
  while (at.offset < bytes.length) {
    last += takeNumber(bytes, at)
    shown.push(last)
  }
  return { floor, shown: SequenceSet.of(shown), known }
}

function putNumber(bytes: Buffer, at: { offset: number }, value: bigint): void {
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
/** NUMBER_BYTES_MAX is what 64 bits take, seven to a byte. */
const NUMBER_BYTES_MAX = 10

function takeNumber(bytes: Uint8Array, at: { offset: number }): bigint {
  let value = 0n
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[at.offset] ?? 0
    at.offset += 1
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return value
  }
}
