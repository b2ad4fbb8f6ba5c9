import { ObjectChanged, type SourceBucket, type SourceObject } from '../../resources/data/sources/sources.ts'
import { HEAD_BYTES, isParquet, type ParquetReading, parquetContent, wrongName } from '../parquet/parquet-content.ts'
import { type BrokenContent, begun, CHANGED, emptyContent, firstBroken, type SourceContent, unpackedContent } from './content.ts'
import type { BucketSource } from './object-positions.ts'
import { linesOfRecords } from './records.ts'

/** The content of an object, and why it ends early. `bytes` is the size of a Parquet file, which a process of its own reads. */
export type ObjectContent = SourceContent & { readonly bytes: number | undefined; broken(): BrokenContent | undefined }

/** Opens an object, and finds in its first bytes what it is. A Parquet file is read only where `reading` is given. */
export async function openObject(
  bucket: SourceBucket,
  { origin }: BucketSource,
  found: SourceObject,
  reading?: ParquetReading,
): Promise<ObjectContent> {
  const { onBroken, broken } = firstBroken()
  const packed = await bucket.read(found)
  const { head, all } = await begun(packed, HEAD_BYTES)
  const wrong = wrongName(found.key, head)
  if (wrong) {
    packed.destroy()
    return { ...emptyContent(), bytes: undefined, broken: () => wrong }
  }
  if (!isParquet(head)) {
    let isFirst = true
    const content = unpackedContent(
      async () => {
        const again = isFirst ? all : await bucket.read(found)
        isFirst = false
        return again
      },
      {
        onBroken,
        unpacking: 'detect',
        ...(origin.format === 'RECORDS' ? { convert: linesOfRecords } : {}),
        close: async () => void packed.destroy(),
      },
    )
    return { ...content, bytes: undefined, broken }
  }
  packed.destroy()
  // The size in a message of a queue may be wrong, and its footer is found by it.
  const now = await bucket.find(found.key)
  if (!now || (found.tag !== '' && now.tag !== found.tag)) throw new ObjectChanged(CHANGED)
  const raw: SourceContent = { read: (position, length) => bucket.readRange(now, position, length), close: async () => undefined }
  if (!reading) return { ...emptyContent(), bytes: now.size, broken }
  return { ...parquetContent(raw, { bytes: now.size, onBroken, ...reading }), bytes: now.size, broken }
}
