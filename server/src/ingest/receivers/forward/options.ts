import { MAP, MsgpackReader, msgpackText } from './msgpack.ts'

/** The options of a message that decide about its answer. */
export type ForwardOptions = {
  /** The id of the chunk, as the sender encoded it. */
  chunk: Uint8Array | undefined
  /** False for metrics and traces. */
  isLogs: boolean
}

const LOGS = '0'
const NONE: ForwardOptions = { chunk: undefined, isLogs: true }

/** Reads the options at the end of a message; `start` is the position of its last part. Any other last part means that there are none. */
export function forwardOptions(message: Uint8Array, start: number, end: number, parts: number): ForwardOptions {
  const reader = new MsgpackReader(message, start, end)
  if (parts < 3 || reader.next() !== MAP) return NONE
  const found: { chunk: Uint8Array | undefined; isLogs: boolean } = { ...NONE }
  for (let left = reader.length; left > 0; left -= 1) {
    reader.next()
    const name = msgpackText(reader)
    const from = reader.at
    reader.next()
    reader.skipRest()
    if (name === 'chunk') found.chunk = message.subarray(from, reader.at)
    else if (name === 'fluent_signal') found.isLogs = Buffer.from(message.subarray(from, reader.at)).equals(Buffer.from([Number(LOGS)]))
  }
  return found
}
