import type { contract, ReplyOf, Statement, StatementReference, StatementSet } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import { toJson } from '../../../kernel/exact-json.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { listSavedSearches } from '../../queries/saved-searches/saved-searches.ts'
import { listMonitors } from '../../watching/monitors/monitors.ts'
import {
  deleteStatements,
  type FoundStatement,
  insertStatements,
  selectStatement,
  selectStatementSet,
  selectStatements,
  upsertStatementSet,
} from './rows.ts'

/** Replaces the statements of a version of a project, and reports whether the set is new. */
export async function replaceStatements(world: World, actor: Actor, set: StatementSet): Promise<{ count: number; isNew: boolean }> {
  const twice = set.statements.find(({ id }, index) => set.statements.findIndex((other) => other.id === id) !== index)
  if (twice) throw badField('statements', `must not have the id ${twice.id} twice`)
  const nowMs = world.clock.nowMs()
  const id = world.ids.uuid()
  const { project_id, version, repo_url } = set
  const [by, count] = [actor.identity, set.statements.length]
  const row = {
    org_id: actor.orgId,
    id,
    project_id,
    version,
    repo_url,
    created_at: nowMs,
    created_by: by,
    modified_at: nowMs,
    modified_by: by,
  }
  return world.meta.write(actor.orgId, async (tx) => {
    const kept = (await upsertStatementSet(tx, row))?.id ?? id
    await deleteStatements(tx, actor.orgId, kept)
    await insertStatements(tx, actor.orgId, kept, set.statements)
    await recordChange(world, tx, actor, { entity: { type: 'statement_set', id: kept }, after: { project_id, version, repo_url, count } })
    return { count, isNew: kept === id }
  })
}

type StatementQuery = { project_id: string; version?: string | undefined }

export async function listStatements(
  world: Pick<World, 'meta'>,
  actor: Actor,
  { project_id, version }: StatementQuery,
): Promise<Statement[]> {
  const set = await selectStatementSet(world.meta, actor.orgId, project_id, version)
  if (!set) throw notFound(version === undefined ? 'project' : `version ${version.slice(0, 100)} of a project`, project_id)
  return selectStatements(world.meta, actor.orgId, set.id)
}

export async function findStatement(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<FoundStatement> {
  const row = await selectStatement(world.meta, actor.orgId, id)
  if (!row) throw notFound('statement', id)
  return row
}

/** Adds the records whose queries name the statement. */
export async function showStatement(world: World, actor: Actor, row: FoundStatement): Promise<ReplyOf<typeof contract.statements.get>> {
  const { id, message, file, line } = row
  const names = (value: unknown): boolean =>
    toJson(value ?? '')
      .toLowerCase()
      .includes(id)
  const reference = (entity_type: StatementReference['entity_type'], name: string): StatementReference => ({
    entity_type,
    name,
    id,
    message,
    file,
    line,
  })
  const [monitors, searches] = [await listMonitors(world, actor), await listSavedSearches(world, actor)]
  return {
    ...row,
    references: [
      ...monitors.filter(({ queries }) => names(queries)).map(({ name }) => reference('monitor', name)),
      ...searches.filter(({ search_details }) => names(search_details)).map(({ name }) => reference('savedSearch', name)),
    ],
  }
}
