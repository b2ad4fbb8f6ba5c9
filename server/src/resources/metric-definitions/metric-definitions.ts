import type { MetricDefinition, MetricDefinitionDraft } from '@dendro/api'
import { badField, notFound } from '../../errors.ts'
import type { Actor } from '../../http/actor.ts'
import { metadataOf } from '../../meta/metadata.ts'
import type { World } from '../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { visibleDatasets } from '../datasets/datasets.ts'
import { planMetrics } from '../timeseries/plan-metrics.ts'
import {
  deleteMetricDefinition,
  insertMetricDefinition,
  lockMetricDefinition,
  type MetricDefinitionRow,
  selectMetricDefinitions,
  updateMetricDefinitionRow,
} from './rows.ts'

type Reader = Pick<World, 'meta'>

const allDefinitions = (world: Reader, orgId: string): Promise<readonly MetricDefinitionRow[]> =>
  world.meta.cached(orgId, 'metric definitions', () => selectMetricDefinitions(world.meta, orgId))

export const listMetricDefinitions = async (world: Reader, actor: Actor): Promise<MetricDefinition[]> =>
  (await allDefinitions(world, actor.orgId)).map(shownMetricDefinition)

export async function findMetricDefinition(world: Reader, actor: Actor, id: string): Promise<MetricDefinitionRow> {
  const row = (await allDefinitions(world, actor.orgId)).find((candidate) => candidate.id === id)
  if (!row) throw notFound('metric definition', id)
  return row
}

export async function createMetricDefinition(world: World, actor: Actor, draft: MetricDefinitionDraft): Promise<MetricDefinition> {
  const nowMs = world.clock.nowMs()
  const row: MetricDefinitionRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    ...(await given(world, actor, draft)),
    created_at: nowMs,
    created_by: actor.identity,
    modified_at: nowMs,
    modified_by: actor.identity,
  }
  await world.meta.write(actor.orgId, async (tx) => {
    await insertMetricDefinition(tx, row)
    await recordChange(world, tx, actor, { entity: { type: 'metric_definition', id: row.id }, after: shownMetricDefinition(row) })
  })
  return shownMetricDefinition(row)
}

export async function updateMetricDefinition(
  world: World,
  actor: Actor,
  record: MetricDefinitionRow,
  draft: MetricDefinitionDraft,
): Promise<MetricDefinition> {
  const members = await given(world, actor, draft)
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockMetricDefinition(tx, actor.orgId, record.id)
    if (!before) throw notFound('metric definition', record.id)
    const next = { ...before, ...members, modified_at: world.clock.nowMs(), modified_by: actor.identity }
    await updateMetricDefinitionRow(tx, next)
    const entity = { type: 'metric_definition', id: record.id }
    await recordChange(world, tx, actor, { entity, before: shownMetricDefinition(before), after: shownMetricDefinition(next) })
    return shownMetricDefinition(next)
  })
}

export async function removeMetricDefinition(world: World, actor: Actor, record: MetricDefinitionRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteMetricDefinition(tx, actor.orgId, record.id)) === 0) throw notFound('metric definition', record.id)
    await recordChange(world, tx, actor, { entity: { type: 'metric_definition', id: record.id }, before: shownMetricDefinition(record) })
  })
}

/** given checks a draft as a whole: queries and formulas that could not be asked, and datasets that do not exist, are a 400. */
async function given(world: World, actor: Actor, draft: MetricDefinitionDraft) {
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

export const shownMetricDefinition = (row: MetricDefinitionRow): MetricDefinition => ({
  id: row.id,
  ...(row.name === null ? {} : { name: row.name }),
  ...(row.description === null ? {} : { description: row.description }),
  queries: row.queries,
  ...(row.formulas === null ? {} : { formulas: row.formulas }),
  metadata: metadataOf(row),
})
