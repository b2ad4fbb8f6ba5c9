import type { Actor } from '../../../http/actor.ts'
import { builtIns } from '../../../parsers/built-in.ts'
import type { MetaWorld } from '../../../world.ts'
import { isSameIdentity, visibilityFor, visibilityOfDefinitions } from '../datasets/datasets.ts'
import { type ParserRow, selectParsers } from './rows.ts'

/** The parsers of the organization, newest first. */
export const allParsers = (
  world: MetaWorld,
  orgId: string,
): Promise<{ rows: readonly ParserRow[]; byId: ReadonlyMap<string, ParserRow> }> =>
  world.meta.cached(orgId, 'parsers', async () => {
    const rows = await selectParsers(world.meta, orgId)
    return { rows, byId: new Map(rows.map((row) => [row.id, row])) }
  })

/**
 * The parsers of the organization, except those inferred from a log that is hidden from the caller: their samples are lines of it. From a log of which
 * the caller sees some lines, only the caller's own.
 */
export async function visibleParsers(world: MetaWorld, actor: Actor): Promise<readonly ParserRow[]> {
  const [results, definitions] = [await visibilityFor(world, actor), await visibilityOfDefinitions(world, actor)]
  return (await allParsers(world, actor.orgId)).rows.filter(
    ({ log_id, created_by }) =>
      results.seesEach([log_id]) || (isSameIdentity(actor.identity, created_by) && definitions.seesEach([log_id])),
  )
}

/** Undefined if the caller sees no such parser. */
export async function nameOfParser(world: MetaWorld, actor: Actor, id: string): Promise<string | undefined> {
  return builtIns.find((builtIn) => builtIn.id === id)?.name ?? (await visibleParsers(world, actor)).find((row) => row.id === id)?.name
}
