import type { Identity } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { conflict, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { selectMonitorsUsing } from './rows.ts'

type Authored = { readonly id: string; readonly modified_at: number; readonly modified_by: Identity | null }

/** One kind of integration: its names in errors and in the audit trail, its statements, and its reply. */
export type IntegrationRecords<Row extends Authored, Shown extends object> = {
  readonly noun: string
  readonly entity: string
  readonly lock: (db: Db, orgId: string, id: string) => Promise<Row | undefined>
  readonly update: (db: Db, row: Row) => Promise<number>
  readonly remove: (db: Db, orgId: string, id: string) => Promise<number>
  readonly shown: (row: Row) => Shown & Record<string, unknown>
}

/** Changes a record under a lock and writes the audit trail. */
export async function changeIntegration<Row extends Authored, Shown extends object>(
  world: World,
  actor: Actor,
  { noun, entity, lock, update, shown }: IntegrationRecords<Row, Shown>,
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

/** Deletes a record unless a monitor uses it. */
export async function removeIntegration<Row extends Authored, Shown extends object>(
  world: World,
  actor: Actor,
  { noun, entity, lock, remove, shown }: IntegrationRecords<Row, Shown>,
  id: string,
): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    const before = await lock(tx, actor.orgId, id)
    if (!before) throw notFound(noun, id)
    const naming = await selectMonitorsUsing(tx, actor.orgId, id)
    if (naming.length > 0) throw conflict(`in use by the monitor ${naming.map(({ name }) => `"${name}"`).join(', ')}`)
    await remove(tx, actor.orgId, id)
    await recordChange(world, tx, actor, { entity: { type: entity, id }, before: shown(before) })
  })
}
