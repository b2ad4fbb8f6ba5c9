import type { Identity } from '@dendro/api'
import type { Actor } from '../http/actor.ts'
import { notFound } from '../kernel/errors.ts'
import type { Db } from '../meta/meta.ts'
import type { World } from '../world.ts'
import { recordChange } from './access/audit/audit.ts'

/** The columns for who changed a record and when. */
export type Authored = {
  readonly created_at: number
  readonly created_by: Identity | null
  readonly modified_at: number
  readonly modified_by: Identity | null
}

export const createdBy = ({ identity }: Pick<Actor, 'identity'>, nowMs: number) => ({
  created_at: nowMs,
  created_by: identity,
  ...modifiedBy({ identity }, nowMs),
})

export const modifiedBy = ({ identity }: Pick<Actor, 'identity'>, nowMs: number) => ({ modified_at: nowMs, modified_by: identity })

/** The target of an endpoint whose path names a record. */
export type RecordPath<Id extends string> = { readonly actor: Actor; readonly params: Readonly<Record<Id, string>> }

/** One kind of records: its names in errors and in the audit trail, its statements, and its reply. */
export type RecordKind<Row extends { readonly id: string }, Shown extends object> = {
  readonly noun: string
  readonly entity: string
  readonly lock: (db: Db, orgId: string, id: string) => Promise<Row | undefined>
  readonly insert: (db: Db, row: Row) => Promise<unknown>
  readonly update: (db: Db, row: Row) => Promise<unknown>
  readonly remove: (db: Db, orgId: string, id: string) => Promise<number>
  readonly shown: (row: Row) => Shown & Record<string, unknown>
}

type RecordWorld = Pick<World, 'meta' | 'clock' | 'ids'>

/** Inserts a record and audits it in one transaction; `check` runs before. */
export async function createRecord<Row extends { readonly id: string }, Shown extends object>(
  world: RecordWorld,
  actor: Actor,
  { entity, insert, shown }: Pick<RecordKind<Row, Shown>, 'entity' | 'insert' | 'shown'>,
  row: Row,
  check?: (tx: Db) => Promise<void>,
): Promise<Shown> {
  await world.meta.write(actor.orgId, async (tx) => {
    await check?.(tx)
    await insert(tx, row)
    await recordChange(world, tx, actor, { entity: { type: entity, id: row.id }, after: shown(row) })
  })
  return shown(row)
}

type RecordChange<Row> = {
  readonly id: string
  readonly change: (before: Row, tx: Db) => Partial<Row> | Promise<Partial<Row>>
  /** Runs after the update. */
  readonly afterwards?: (tx: Db, next: Row) => Promise<void>
}

/** Changes a record under a lock and audits it in one transaction. */
export async function changeRecord<Row extends Authored & { readonly id: string }, Shown extends object>(
  world: RecordWorld,
  actor: Actor,
  { noun, entity, lock, update, shown }: Pick<RecordKind<Row, Shown>, 'noun' | 'entity' | 'lock' | 'update' | 'shown'>,
  { id, change, afterwards }: RecordChange<Row>,
): Promise<Shown> {
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lock(tx, actor.orgId, id)
    if (!before) throw notFound(noun, id)
    const changes = await change(before, tx)
    const next: Row = { ...before, ...modifiedBy(actor, world.clock.nowMs()), ...changes }
    await update(tx, next)
    await afterwards?.(tx, next)
    await recordChange(world, tx, actor, { entity: { type: entity, id }, before: shown(before), after: shown(next) })
    return shown(next)
  })
}

type RecordRemoval<Row> = {
  /** Decides on the locked record. */
  readonly check?: (before: Row, tx: Db) => void | Promise<void>
  /** Runs after the deletion. */
  readonly afterwards?: (tx: Db) => Promise<void>
}

/** Deletes a record and audits it in one transaction. */
export async function removeRecord<Row extends { readonly id: string }, Shown extends object>(
  world: RecordWorld,
  actor: Actor,
  { noun, entity, lock, remove, shown }: Pick<RecordKind<Row, Shown>, 'noun' | 'entity' | 'lock' | 'remove' | 'shown'>,
  record: Row,
  { check, afterwards }: RecordRemoval<Row> = {},
): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    const before = check ? await lock(tx, actor.orgId, record.id) : record
    if (!before) throw notFound(noun, record.id)
    await check?.(before, tx)
    if ((await remove(tx, actor.orgId, record.id)) === 0) throw notFound(noun, record.id)
    await afterwards?.(tx)
    await recordChange(world, tx, actor, { entity: { type: entity, id: record.id }, before: shown(before) })
  })
}
