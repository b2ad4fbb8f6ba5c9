import type { Actor } from '../../../http/actor.ts'
import { forbidden, notFound } from '../../../kernel/errors.ts'
import { builtIns, type LineFormat } from '../../../parsers/built-in.ts'
import type { PatternType } from '../../../parsers/parsers.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import type { DatasetRow } from '../datasets/datasets.ts'
import { allParsers, nameOfParser } from './listing.ts'
import { assignParser } from './rows.ts'

/** The parser of the lines of a dataset; undefined when it is disabled. */
export async function parserOf(
  world: Pick<World, 'meta'>,
  orgId: string,
  parserId: string,
): Promise<{ type: PatternType; pattern: string } | { type: 'JAVA'; form: LineFormat } | undefined> {
  const builtIn = builtIns.find(({ id }) => id === parserId)
  if (builtIn) return { type: 'JAVA', form: builtIn.form }
  const row = (await allParsers(world, orgId)).byId.get(parserId)
  return row?.enabled ? { type: row.type, pattern: row.pattern } : undefined
}

/** Also a 404 when the dataset has no parser. */
export async function getAssigned(world: Pick<World, 'meta'>, actor: Actor, record: DatasetRow) {
  const name = record.parser_id === null ? undefined : await nameOfParser(world, actor, record.parser_id)
  if (record.parser_id === null || name === undefined) throw notFound('parser of this dataset')
  return { parser_id: record.parser_id, parser_name: name }
}

/** Assigns a parser to a dataset, for events received from then on. */
export async function assign(world: World, actor: Actor, record: DatasetRow, parserId: string): Promise<undefined> {
  if (record.is_system_generated) throw forbidden('system datasets cannot have a parser')
  if ((await nameOfParser(world, actor, parserId)) === undefined) throw notFound('parser', parserId)
  await change(world, actor, record, parserId)
}

/** Does nothing if no parser is assigned. */
export const unassign = (world: World, actor: Actor, record: DatasetRow): Promise<undefined> => change(world, actor, record, null)

async function change(world: World, actor: Actor, { id }: DatasetRow, parserId: string | null): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    const request = { logId: id, parserId, nowMs: world.clock.nowMs(), identity: actor.identity }
    const was = await assignParser(tx, actor.orgId, request)
    if (!was) throw notFound('dataset', id)
    await recordChange(world, tx, actor, {
      entity: { type: 'dataset', id },
      before: { parser_id: was.before ?? '' },
      after: { parser_id: parserId ?? '' },
    })
  })
}
