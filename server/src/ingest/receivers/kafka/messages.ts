import type { Pair } from '../../batch.ts'

/** A message of a topic. */
export type TopicMessage = {
  readonly value: Uint8Array | undefined
  /** Attributes of its events. */
  readonly attributes: readonly Pair[]
}

const NO_VALUE = 0xff_ff_ff_ff
const HEAD_BYTES = 8

/** Packs messages into one body, which a worker reads again. The same messages give the same bytes. */
export function packMessages(messages: readonly TopicMessage[]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const { value, attributes } of messages) {
    const about = Buffer.from(JSON.stringify(attributes))
    const head = Buffer.allocUnsafe(HEAD_BYTES)
    head.writeUInt32BE(about.length, 0)
    head.writeUInt32BE(value?.length ?? NO_VALUE, 4)
    parts.push(head, about, ...(value ? [value] : []))
  }
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export function* unpackMessages(body: Uint8Array): Generator<TopicMessage> {
  const view = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  for (let at = 0; at < view.length; ) {
    const start = at + HEAD_BYTES + view.readUInt32BE(at)
    const length = view.readUInt32BE(at + 4)
    const attributes = JSON.parse(view.toString('utf8', at + HEAD_BYTES, start)) as Pair[]
    at = start + (length === NO_VALUE ? 0 : length)
    yield { value: length === NO_VALUE ? undefined : body.subarray(start, at), attributes }
  }
}
