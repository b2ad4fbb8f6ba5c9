import { finished, Readable } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import { Answer } from '../../../http/mount.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { MetaWorld } from '../../../world.ts'
import { storedFile } from './loaded.ts'
import type { LookupTableRow } from './rows.ts'

/** Downloads that a process serves at once, one for each organization: each holds its compressed file in memory. */
const DOWNLOADS_MAX = 4

/** Serves the file of a table as it was uploaded. */
export function rowsDownload(world: MetaWorld): (table: LookupTableRow) => Promise<Answer<string>> {
  const serving = new Set<string>()
  return async (table) => {
    const { org_id: orgId } = table
    if (serving.size >= DOWNLOADS_MAX || serving.has(orgId)) {
      throw new Failure(503, 'another table is being downloaded; try again', { headers: { 'retry-after': '1' } })
    }
    serving.add(orgId)
    try {
      const text = Readable.from([await storedFile(world, table)], { objectMode: false }).pipe(createZstdDecompress())
      finished(text, () => serving.delete(orgId))
      // The HTTP layer streams the body; the contract types it as text.
      return new Answer(200, text as unknown as string, {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="${table.id}.csv"`,
        'content-length': String(table.bytes),
      })
    } catch (thrown) {
      serving.delete(orgId)
      throw thrown
    }
  }
}
