import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import type { Branch } from './branches.ts'
import { scopeOf } from './events-statement.ts'
import { pathsOf } from './places.ts'
import type { Bounds } from './question.ts'
import { type Asking, run } from './run.ts'
import { name, param, sql } from './statement.ts'

type Named = { readonly keys: readonly string[]; readonly bounds: Bounds }

/**
 * withStrays finds out which of the keys named lie beside the columns in some event. To look there in every event, for keys of which none does, takes
 * several times as long as the rest of a question; to find out takes next to nothing where nothing lies there, by the index `strays`.
 * What comes to lie there afterwards came after the question.
 */
export async function withStrays(
  store: EventStore,
  asking: Asking,
  branches: readonly Branch[],
  { keys, bounds }: Named,
): Promise<readonly Branch[]> {
  const paths = [...new Set(keys.filter((key) => !key.startsWith('@')).flatMap(pathsOf))]
  if (paths.length === 0) return branches
  return Promise.all(
    branches.map(async (branch) => {
      const strays = new Set(await straysOf(store, asking, branch, { keys: paths, bounds }))
      return { ...branch, slots: { ...branch.slots, mayStray: (path: string) => strays.has(path) } }
    }),
  )
}

async function straysOf(store: EventStore, asking: Asking, branch: Branch, { keys, bounds }: Named): Promise<string[]> {
  const paths = param.texts(keys)
  const strays = sql`arrayFilter(path -> has(${paths}, path), arrayMap(path -> toString(path), mapKeys(more)))`
  const rows = await run(
    store,
    // The events looked at here are those of the question, which must not count twice.
    { ...asking, rows: 0 },
    sql`select groupUniqArrayArray(${strays}) from ${name(tableClasses[branch.tableClass].table)}
      where ${scopeOf(branch, bounds)} and length(more) > 0 and hasAny(mapKeys(more), ${paths})`,
  )
  return rows.atEnd ? [] : rows.texts()
}
