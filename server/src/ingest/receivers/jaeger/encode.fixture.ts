import { varint } from '../otlp/encode.fixture.ts'

/** A value of Thrift's binary protocol with its type. */
export type ThriftValue = readonly [type: number, bytes: Buffer]

const fixed = (size: number, write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(size)
  write(bytes)
  return bytes
}
const i32Bytes = (value: number) => fixed(4, (bytes) => bytes.writeInt32BE(value))

export const bool = (value: boolean): ThriftValue => [2, Buffer.from([value ? 1 : 0])]
export const double = (value: number): ThriftValue => [4, fixed(8, (bytes) => bytes.writeDoubleBE(value))]
export const i32 = (value: number): ThriftValue => [8, i32Bytes(value)]
export const i64 = (value: bigint): ThriftValue => [10, fixed(8, (bytes) => bytes.writeBigInt64BE(BigInt.asIntN(64, value)))]
export const binary = (value: string | Buffer): ThriftValue => {
  const bytes = Buffer.from(value)
  return [11, Buffer.concat([i32Bytes(bytes.length), bytes])]
}
export const struct = (fields: Readonly<Record<number, ThriftValue>>): ThriftValue => {
  const parts = Object.entries(fields).flatMap(([id, [type, bytes]]) => [
    Buffer.from([type]),
    fixed(2, (head) => head.writeInt16BE(Number(id))),
    bytes,
  ])
  return [12, Buffer.concat([...parts, Buffer.from([0])])]
}
export const list = (elements: readonly ThriftValue[]): ThriftValue => [
  15,
  Buffer.concat([Buffer.from([elements[0]?.[0] ?? 12]), i32Bytes(elements.length), ...elements.map(([, bytes]) => bytes)]),
]

/** A field of protobuf: a number, or bytes. */
export const protobufField = (field: number, value: number | bigint | string | Buffer): Buffer => {
  if (typeof value === 'number' || typeof value === 'bigint')
    return Buffer.concat([varint(field << 3), varint(BigInt.asUintN(64, BigInt(value)))])
  const bytes = Buffer.from(value)
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes])
}
