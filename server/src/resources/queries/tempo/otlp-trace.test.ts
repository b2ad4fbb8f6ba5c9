import { BinaryReader } from '@bufbuild/protobuf/wire'
import { expect, test } from 'vitest'
import { PARTIAL, traceReplyProtobuf } from './otlp-trace.ts'

/** The status and the message of a reply, its third and fourth field. */
function readStatus(reply: Uint8Array): { status: number | undefined; message: string | undefined } {
  const reader = new BinaryReader(reply)
  let [status, message]: [number | undefined, string | undefined] = [undefined, undefined]
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === 3) status = reader.int32()
    else if (field === 4) message = reader.string()
    else reader.skip(type, field)
  }
  return { status, message }
}

test('a reply says when a trace has more spans', () => {
  expect(readStatus(traceReplyProtobuf([], true))).toEqual({ status: undefined, message: undefined })
  expect(readStatus(traceReplyProtobuf([], false))).toEqual({ status: 1, message: PARTIAL })
})
