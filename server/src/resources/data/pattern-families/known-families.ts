import { hashOfPatternId } from '../../../kernel/pattern-id.ts'
import type { Meta } from '../../../meta/meta.ts'
import { selectCatalogs, selectMembersSince } from './rows.ts'

/** The patterns of a dataset that were decided about, each with its family; undefined for a pattern on its own. */
export type KnownFamilies = ReadonlyMap<bigint, bigint | undefined>
type Cached = { version: number; readonly families: Map<bigint, bigint | undefined> }

/** How many datasets a process remembers. */
const DATASETS_MAX = 500
const caches = new WeakMap<Meta, Map<string, Cached>>()
const NONE: KnownFamilies = new Map()

/** Returns what is decided now. A process rereads only what was decided since its last call, because decisions are never taken back. */
export async function knownFamilies(meta: Meta, orgId: string, logIds: readonly string[]): Promise<ReadonlyMap<string, KnownFamilies>> {
  const cache = caches.get(meta) ?? new Map<string, Cached>()
  caches.set(meta, cache)
  const catalogs = await selectCatalogs(meta, orgId, logIds)
  const stale = catalogs.filter(({ log_id, version }) => cache.get(log_id)?.version !== version)
  const since = stale.map(({ log_id, version }) => {
    const known = cache.get(log_id)?.version ?? 0
    // A restored store may be older than what this process remembers.
    return { log_id, version: known > version ? 0 : known }
  })
  for (const { log_id, version } of since) if (version === 0) cache.delete(log_id)
  if (since.length > 0) {
    for (const { log_id, pattern, family } of await selectMembersSince(meta, orgId, since)) {
      const known = cache.get(log_id) ?? { version: 0, families: new Map() }
      cache.set(log_id, known)
      const hash = hashOfPatternId(pattern)
      if (hash !== undefined) known.families.set(hash, family === null ? undefined : hashOfPatternId(family))
    }
  }
  for (const { log_id, version } of stale) {
    const known = cache.get(log_id)
    if (known && known.version < version) known.version = version
  }
  const found = new Map(catalogs.map(({ log_id }) => [log_id, cache.get(log_id)?.families ?? NONE]))
  for (const logId of cache.keys()) {
    if (cache.size <= DATASETS_MAX) break
    if (!found.has(logId)) cache.delete(logId)
  }
  return found
}
