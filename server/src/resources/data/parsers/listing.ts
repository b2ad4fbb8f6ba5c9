import type { Actor } from '../../../http/actor.ts'
import { builtIns } from '../../../parsers/built-in.ts'
import type { MetaWorld } from '../../../world.ts'
import { visibilityFor } from '../datasets/datasets.ts'
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

/** The parsers of the organization, except those inferred from a log that is hidden from the caller: their samples are lines of it. */
export async function visibleParsers(world: MetaWorld, actor: Actor): Promise<readonly ParserRow[]> {
  const { seesEach } = await visibilityFor(world, actor)
  return (await allParsers(world, actor.orgId)).rows.filter(({ log_id }) => seesEach([log_id]))
}

/** Undefined if the caller sees no such parser. */
export async function nameOfParser(world: MetaWorld, actor: Actor, id: string): Promise<string | undefined> {
  return builtIns.find((builtIn) => builtIn.id === id)?.name ?? (await visibleParsers(world, actor)).find((row) => row.id === id)?.name
}
