import { openBucket } from './bucket.ts'
import { openDirectory } from './directory.ts'
import type { BlobStore } from './files.ts'
import type { FileLocation } from './location.ts'

export { type FileLocation, parseFileLocation } from './location.ts'

/** Opens the blob store in a bucket or in a directory, which is created with the first file. */
export const openBlobStore = (place: FileLocation): BlobStore => (place.kind === 'bucket' ? openBucket(place) : openDirectory(place.dir))

/** Checks whether files can be stored in the configured location. */
export async function diagnoseBlobStore(place: FileLocation): Promise<{ ok: boolean; what: string; advice?: string }> {
  const store = openBlobStore(place)
  const refusal = await store.unavailableReason()
  await store.close()
  const where = place.kind === 'bucket' ? `the bucket ${place.bucket}` : place.dir
  if (refusal === undefined) return { ok: true, what: `export files can be stored in ${where}` }
  return { ok: false, what: `export files cannot be stored in ${where}: ${refusal}`, advice: 'see DENDRO_EXPORT_URL' }
}
