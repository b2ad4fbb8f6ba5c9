import { parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'

/** A file with a number and a text in each row. */
export const numberedParquet = (numbers: readonly number[], text: string, rowGroupSize = 5_000): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'n', data: [...numbers], type: 'INT32' },
        { name: 'text', data: numbers.map(() => text), type: 'STRING' },
      ],
      rowGroupSize,
      codec: 'UNCOMPRESSED',
    }),
  )

/** A file with a page that claims two billion values. */
export function parquetBomb(): Uint8Array<ArrayBuffer> {
  const rows = 1_000
  const schema: SchemaElement[] = [
    { name: 'root', num_children: 1 },
    { name: 'n', type: 'INT32', repetition_type: 'OPTIONAL' },
  ]
  const columnData = [{ name: 'n', data: Array.from({ length: rows }, () => 7) as never }]
  const file = new Uint8Array(parquetWriteBuffer({ columnData, schema, codec: 'UNCOMPRESSED' }))
  // The definition levels of the page become a run of 2^31 ones: 1,000 is the varint d0 0f as the header of a run (2 × 1,000).
  const at = Buffer.from(file).indexOf(Buffer.from([0xd0, 0x0f, 0x01]))
  return changedBytes(file, at, [0xfe, 0xff, 0xff, 0xff, 0x0f, 0x01])
}

/** Replaces bytes of a file; a negative place counts from its end. */
export function changedBytes(file: Uint8Array, at: number, bytes: readonly number[]): Uint8Array<ArrayBuffer> {
  const copy = Uint8Array.from(file)
  copy.set(bytes, at < 0 ? copy.length + at : at)
  return copy
}
