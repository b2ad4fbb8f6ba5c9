import { badRequest } from '../../../kernel/errors.ts'
import { NUMBER_BYTES_MAX, readNumber, type TailPosition, writeNumber } from './position.ts'
import { SequenceSet } from './sequence-set.ts'

/** The events that one turn of a stream delivers, in ascending order. The first `sent` of them have left the process. */
export type Delivery = { readonly turn: number; readonly seqs: readonly bigint[]; readonly sent: number }

/** The last event that a client has. */
export type EventId = { readonly turn: number; readonly seq: bigint }

/** More than a connection holds between the service and a client that reads. */
const EVENTS_MAX = 10_000
const VERSION = 1

export const eventId = ({ turn, seq }: EventId): string => `${turn}.${seq}`

/** Reads the header `Last-Event-ID`. */
export function readEventId(text: string | undefined): EventId | undefined {
  if (text === undefined || text === '') return undefined
  const [, turn, seq] = /^(\d{1,15})\.(\d{1,19})$/.exec(text) ?? []
  if (turn === undefined || seq === undefined) throw badRequest('Last-Event-ID must be the id of an event of this stream')
  return { turn: Number(turn), seq: BigInt(seq) }
}

/** Adds a turn, and forgets the oldest ones beyond the limit. */
export function withDelivery(deliveries: readonly Delivery[], next: Delivery): Delivery[] {
  let left = EVENTS_MAX
  return [...deliveries, next]
    .reverse()
    .filter(({ seqs }, index) => {
      left -= seqs.length
      return index === 0 || left >= 0
    })
    .reverse()
}

/** The events that a client does not have: after the last one that it names, otherwise those that have not left the process. */
export function undelivered(deliveries: readonly Delivery[], last: EventId | undefined): bigint[] {
  if (!last) return deliveries.flatMap(({ seqs, sent }) => seqs.slice(sent))
  return deliveries.flatMap(({ turn, seqs }) => (turn < last.turn ? [] : turn === last.turn ? seqs.filter((seq) => seq > last.seq) : seqs))
}

/** The position before some events were returned. Those at or below its floor cannot be returned again. */
export function withoutReturned(position: TailPosition, seqs: readonly bigint[]): TailPosition {
  const removed = new Set(seqs)
  return { ...position, shown: SequenceSet.of([...position.shown].filter((seq) => !removed.has(seq))) }
}

export function encodeDelivered(deliveries: readonly Delivery[]): Buffer {
  const numbers = deliveries.reduce((sum, { seqs }) => sum + seqs.length + 3, 1)
  const bytes = Buffer.alloc(1 + numbers * NUMBER_BYTES_MAX)
  const at = { offset: 1 }
  bytes[0] = VERSION
  for (const { turn, seqs, sent } of deliveries) {
    writeNumber(bytes, at, BigInt(turn))
    writeNumber(bytes, at, BigInt(sent))
    writeNumber(bytes, at, BigInt(seqs.length))
    let last = 0n
    for (const seq of seqs) {
      writeNumber(bytes, at, seq - last)
      last = seq
    }
  }
  return Buffer.from(bytes.subarray(0, at.offset))
}

/** Nothing for an encoding of an unknown version. */
export function decodeDelivered(bytes: Uint8Array | null): Delivery[] {
  if (bytes === null || bytes[0] !== VERSION) return []
  const deliveries: Delivery[] = []
  for (const at = { offset: 1 }; at.offset < bytes.length; ) {
    const [turn, sent, count] = [Number(readNumber(bytes, at)), Number(readNumber(bytes, at)), Number(readNumber(bytes, at))]
    const seqs: bigint[] = []
    for (let last = 0n; seqs.length < count; seqs.push(last)) last += readNumber(bytes, at)
    deliveries.push({ turn, seqs, sent })
  }
  return deliveries
}
