import type { Identity } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { conflict, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { selectMonitorsNaming } from './rows.ts'

type Authored = { readonly id: string; readonly modified_at: number; readonly modified_by: Identity | null }

/** A Kept is one kind of what monitors notify by: its name for people and for the audit trail, its statements, and how a record is shown. */
export type Kept<Row extends Authored, Shown extends object> = {
  readonly noun: string
  readonly entity: string
  readonly lock: (db: Db, orgId: string, id: string) => Promise<Row | undefined>
  readonly update: (db: Db, row: Row) => Promise<number>
  readonly remove: (db: Db, orgId: string, id: string) => Promise<number>
  readonly shown: (row: Row) => Shown & Record<string, unknown>
}

/** changeKept gives a record the members that `change` makes, with nobody else changing it meanwhile, and writes the change into the audit trail. */
export async function changeKept<Row extends Authored, Shown extends object>(
  world: World,
  actor: Actor,
  { noun, entity, lock, update, shown }: Kept<Row, Shown>,
  { id, change }: { id: string; change: (tx: Db, before: Row) => Promise<Partial<Row>> },
): Promise<Shown> {
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lock(tx, actor.orgId, id)
    if (!before) throw notFound(noun, id)
    const after: Row = { ...before, ...(await change(tx, before)), modified_at: world.clock.nowMs(), modified_by: actor.identity }
    await update(tx, after)
    await recordChange(world, tx, actor, { entity: { type: entity, id }, before: shown(before), after: shown(after) })
    return shown(after)
  })
}

/** removeKept deletes a record, but not under the monitors that notify by it. */
export async function removeKept<Row extends Authored, Shown extends object>(
  world: World,
  actor: Actor,
  { noun, entity, lock, remove, shown }: Kept<Row, Shown>,
  id: string,
): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    const before = await lock(tx, actor.orgId, id)
    if (!before) throw notFound(noun, id)
    const naming = await selectMonitorsNaming(tx, actor.orgId, id)
    if (naming.length > 0) throw conflict(`in use by the monitor ${naming.map(({ name }) => `"${name}"`).join(', ')}`)
    await remove(tx, actor.orgId, id)
    await recordChange(world, tx, actor, { entity: { type: entity, id }, before: shown(before) })
  })
}
