import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { badRequest } from '../../../kernel/errors.ts'

/** The fields that lead from a request to its data points: resources, scopes, metrics, one kind of data, points. */
const protobufFields: readonly (readonly number[])[] = [[1], [2], [2], [5, 7, 9, 10, 11], [1]]
const jsonMembers: readonly (readonly string[])[] = [
  ['resourceMetrics'],
  ['scopeMetrics'],
  ['metrics'],
  ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'],
  ['dataPoints'],
]
const POINTS = protobufFields.length - 1

/** Counts the data points of a request for metrics. */
export function countDataPoints(body: Uint8Array, isJson: boolean): number {
  try {
    return isJson
      ? countInJson(JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')), 0)
      : countInProtobuf(body)
  } catch (cause) {
    throw badRequest('the body is not a request for metrics', { cause })
  }
}

function countInJson(value: unknown, level: number): number {
  const members = jsonMembers[level] ?? []
  let points = 0
  for (const [name, member] of Object.entries(Object(value))) {
    if (!members.includes(name)) continue
    const items: readonly unknown[] = Array.isArray(member) ? member : [member]
    points += level === POINTS ? items.length : items.reduce<number>((sum, item) => sum + countInJson(item, level + 1), 0)
  }
  return points
}

function countInProtobuf(body: Uint8Array): number {
  const reader = new BinaryReader(body)
  const count = (end: number, level: number): number => {
    let points = 0
    while (reader.pos < end) {
      const [field, wire] = reader.tag()
      if (wire !== WireType.LengthDelimited || !protobufFields[level]?.includes(field)) {
        reader.skip(wire, field)
        continue
      }
      const stop = reader.uint32() + reader.pos
      if (stop > end) throw new Error('a message is longer than the one that contains it')
      points += level === POINTS ? 1 : count(stop, level + 1)
      reader.pos = stop
    }
    return points
  }
  return count(body.length, 0)
}
