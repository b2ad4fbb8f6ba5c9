import {
  type contract,
  type MetricDefinition,
  MetricDefinitionDraft,
  type MetricDefinitionRequest,
  type MetricDefinitionTemplateDraft,
  type QueryOf,
  type Template,
} from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField, conflict, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { visibilityOfDefinitions, visibleDatasets, visibleRows } from '../../data/datasets/datasets.ts'
import { byName, type NextPage, pageOf, searched, searchedText, withIds } from '../../list-pages.ts'
import { changeRecord, createdBy, modifiedBy, type RecordKind, removeRecord } from '../../records.ts'
import { fillTemplate, isSameTemplate, type Library, type TemplateUse } from '../templates/templates.ts'
import { planMetrics } from '../timeseries/timeseries.ts'
import {
  deleteMetricDefinition,
  insertMetricDefinition,
  lockMadeFor,
  lockMetricDefinition,
  lockUnusedMadeFor,
  type MetricDefinitionRow,
  selectMetricDefinitions,
  selectShared,
  selectUser,
  updateMetricDefinitionRow,
} from './rows.ts'

export { dropBacking, storeBacking as keepBacking } from './backing.ts'
export { metricUsers } from './users.ts'

const ENTITY = 'metric_definition'

export type { MetricDefinitionRow }

export const allMetricDefinitions = (world: MetaWorld, orgId: string): Promise<readonly MetricDefinitionRow[]> =>
  world.meta.cachedRows(orgId, 'metric definitions', {
    read: (changed) => selectMetricDefinitions(world.meta, orgId, changed),
    idsIn: { metric_definitions: ({ id }) => id },
  })

/** The definitions that refer to no dataset hidden from the caller. */
export const seenMetricDefinitions = async (world: MetaWorld, actor: Actor): Promise<readonly MetricDefinitionRow[]> =>
  visibleRows(await visibilityOfDefinitions(world, actor), await allMetricDefinitions(world, actor.orgId), ({ queries }) => queries)

/** The ids of all other definitions. */
export async function hiddenMetricIds(world: MetaWorld, actor: Actor): Promise<ReadonlySet<string>> {
  const visibility = await visibilityOfDefinitions(world, actor)
  if (!visibility.limited) return new Set()
  const all = await allMetricDefinitions(world, actor.orgId)
  const shown = new Set(await visibleRows(visibility, all, ({ queries }) => queries))
  return new Set(all.filter((row) => !shown.has(row)).map(({ id }) => id))
}

export async function metricDefinitionPage(
  world: MetaWorld,
  actor: Actor,
  query: QueryOf<typeof contract.metricDefinitions.list>,
): Promise<NextPage & { metric_definitions: MetricDefinition[] }> {
  const found = searched(withIds(await seenMetricDefinitions(world, actor), query.metric_ids), query.search, textOf)
  const { rows, ...rest } = pageOf(found, query, query.sort === 'name' ? byTitle : undefined)
  return { metric_definitions: rows.map(shownMetricDefinition), ...rest }
}

const conditionsIn = ({ queries }: MetricDefinitionRow): string[] =>
  queries.flatMap(({ select, where, groups = [] }) => [...select, where, ...groups])

const textOf = (row: MetricDefinitionRow): string =>
  searchedText([row.name, row.description, ...conditionsIn(row), ...(row.formulas ?? []).map(({ expression }) => expression)])

/** A cursor contains this much of the conditions of a definition without a name. */
const CONDITION_CHARS_MAX = 500

/** Those without a name come last, by their conditions. */
const byTitle = byName((row: MetricDefinitionRow) =>
  row.name === null ? [1, conditionsIn(row).join(' ').slice(0, CONDITION_CHARS_MAX)] : [0, row.name],
)

export async function findMetricDefinition(world: MetaWorld, actor: Actor, id: string): Promise<MetricDefinitionRow> {
  const row = (await seenMetricDefinitions(world, actor)).find((candidate) => candidate.id === id)
  if (!row) throw notFound('metric definition', id)
  return row
}

export async function createMetricDefinition(world: World, actor: Actor, request: MetricDefinitionRequest): Promise<MetricDefinition> {
  const { draft, template } = await resolveDraft(world, actor, request)
  const row = await newMetricDefinition(world, actor, draft, template)
  await world.meta.write(actor.orgId, (tx) => storeMetricDefinition(world, tx, actor, row))
  return shownMetricDefinition(row)
}

/** Validates a new definition; invalid queries, formulas or datasets are a 400. */
export async function newMetricDefinition(
  world: World,
  actor: Actor,
  draft: MetricDefinitionDraft,
  template: Template | null,
): Promise<MetricDefinitionRow> {
  const nowMs = world.clock.nowMs()
  return {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    ...(await membersOf(world, actor, draft)),
    template,
    ...createdBy(actor, nowMs),
  }
}

/** Inserts a definition in the transaction of the record that it belongs to. */
export async function storeMetricDefinition(world: World, tx: Db, actor: Actor, row: MetricDefinitionRow): Promise<void> {
  await insertMetricDefinition(tx, row)
  await recordChange(world, tx, actor, { entity: { type: ENTITY, id: row.id }, after: shownMetricDefinition(row) })
}

export async function updateMetricDefinition(
  world: World,
  actor: Actor,
  record: MetricDefinitionRow,
  request: MetricDefinitionRequest,
): Promise<MetricDefinition> {
  const { draft, template } = await resolveDraft(world, actor, request, record.template)
  const members = { ...(await membersOf(world, actor, draft)), template }
  return changeRecord(world, actor, metricDefinitionRecords, { id: record.id, change: () => members })
}

export const removeMetricDefinition = (world: World, actor: Actor, record: MetricDefinitionRow): Promise<undefined> =>
  removeRecord(world, actor, metricDefinitionRecords, record, {
    check: async (_, tx) => {
      const user = await selectUser(tx, actor.orgId, record.id)
      if (user) throw conflict(`the metric definition is used by the ${user.noun} ${user.id}`)
    },
  })

/** The ids without a definition; existing definitions are locked until the transaction ends. */
export async function missingMetricDefinitions(tx: Db, orgId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const known = new Set((await selectShared(tx, orgId, ids)).map(({ id }) => id))
  return ids.filter((id) => !known.has(id))
}

/** Turns definitions made for a dashboard template into ordinary ones. */
export async function detachMetricDefinitions(world: World, tx: Db, actor: Actor, madeFor: string): Promise<void> {
  for (const before of await lockMadeFor(tx, actor.orgId, madeFor)) {
    const next = { ...before, template: null, made_for: null, ...modifiedBy(actor, world.clock.nowMs()) }
    await updateMetricDefinitionRow(tx, next)
    const entity = { type: ENTITY, id: before.id }
    await recordChange(world, tx, actor, { entity, before: shownMetricDefinition(before), after: shownMetricDefinition(next) })
  }
}

/** Deletes definitions made for a dashboard that nothing else uses. */
export async function removeUnusedMetricDefinitions(world: World, tx: Db, actor: Actor, madeFor: string): Promise<void> {
  for (const row of await lockUnusedMadeFor(tx, actor.orgId, madeFor)) {
    await deleteMetricDefinition(tx, actor.orgId, row.id)
    await recordChange(world, tx, actor, { entity: { type: ENTITY, id: row.id }, before: shownMetricDefinition(row) })
  }
}

/** Merges the draft with its template; a template that the record already has is not applied again. */
async function resolveDraft(
  world: World,
  actor: Actor,
  { template, ...said }: MetricDefinitionRequest,
  before: Template | null = null,
): Promise<{ draft: MetricDefinitionDraft; template: Template | null }> {
  if (!template || (said.queries && isSameTemplate(template, before))) {
    return { draft: check(MetricDefinitionDraft, said, 'body'), template: template ? before : null }
  }
  return draftFromTemplate(world, actor, { ...template, field: 'template' }, said)
}

/** Fills a template with its arguments. */
export const draftFromTemplate = (world: MetaWorld, actor: Actor, use: TemplateUse, overrides: object = {}) =>
  fillTemplate(world, actor, metricDefinitionTemplates, { use, overrides, schema: MetricDefinitionDraft })

async function membersOf(world: World, actor: Actor, draft: MetricDefinitionDraft) {
  planMetrics(draft.queries, draft.formulas)
  const known = new Set((await visibleDatasets(world, actor)).map(({ id }) => id))
  draft.queries.forEach(({ from }, index) => {
    const unknown = from?.find((id) => !known.has(id))
    if (unknown !== undefined) throw badField(`queries.${index}.from`, `names no dataset: ${unknown}`, 'UNKNOWN_DATASET')
  })
  return {
    name: draft.name ?? null,
    description: draft.description ?? null,
    queries: draft.queries.map((query) => ({ ...query, id: query.id ?? world.ids.uuid() })),
    formulas: draft.formulas ?? null,
  }
}

/** Stored without checking their queries, which depend on the arguments. */
export const metricDefinitionTemplates: Library<MetricDefinitionTemplateDraft> = {
  kind: 'metric_definition_template',
  parts: ['name', 'description', 'queries', 'formulas'],
  references: ({ queries }) => queries,
}

export const shownMetricDefinition = (row: MetricDefinitionRow): MetricDefinition => ({
  id: row.id,
  ...(row.name === null ? {} : { name: row.name }),
  ...(row.description === null ? {} : { description: row.description }),
  queries: row.queries,
  ...(row.formulas === null ? {} : { formulas: row.formulas }),
  ...(row.template === null ? {} : { template: row.template }),
  metadata: metadataOf(row),
})

const metricDefinitionRecords: RecordKind<MetricDefinitionRow, MetricDefinition> = {
  noun: 'metric definition',
  entity: ENTITY,
  lock: lockMetricDefinition,
  insert: insertMetricDefinition,
  update: updateMetricDefinitionRow,
  remove: deleteMetricDefinition,
  shown: shownMetricDefinition,
}
