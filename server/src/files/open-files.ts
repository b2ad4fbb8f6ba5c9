import { openBucket } from './bucket.ts'
import { openDirectory } from './directory.ts'
import type { Depot } from './files.ts'
import type { Place } from './place.ts'

export { type Place, parsePlace } from './place.ts'

/** openDepot keeps files in a directory, made with the first of them, or in a bucket. */
export const openDepot = (place: Place): Depot => (place.kind === 'bucket' ? openBucket(place) : openDirectory(place.dir))

/** diagnoseDepot tells whether files can be kept in the place that the operator named. */
export async function diagnoseDepot(place: Place): Promise<{ ok: boolean; what: string; advice?: string }> {
  const depot = openDepot(place)
  const refusal = await depot.refusal()
  await depot.close()
  const where = place.kind === 'bucket' ? `the bucket ${place.bucket}` : place.dir
  if (refusal === undefined) return { ok: true, what: `files of exports can be kept in ${where}` }
  return { ok: false, what: `files of exports cannot be kept in ${where}: ${refusal}`, advice: 'see DENDRO_EXPORT_URL' }
}
