import {
  type contract,
  INGEST_RULES_MAX,
  type IngestAction,
  type IngestRule,
  type IngestRuleChange,
  type IngestRuleDraft,
  METRICS_COLLECTION,
  type QueryOf,
} from '@dendro/api'
import { quoted } from '@dendro/language/language-error'
import type { Actor } from '../../../http/actor.ts'
import { checkRule } from '../../../ingest-rules/check-rule.ts'
import type { AppliedRule } from '../../../ingest-rules/ingest-rules.ts'
import { badField, badRequest, conflict, forbidden, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import { parseSelector } from '../../../query/query.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { isLimited } from '../../access/policies/policies.ts'
import { byName, type ListOrder, type NextPage, newest, pageOf, searched, searchedText } from '../../list-pages.ts'
import { changeRecord, createdBy, createRecord, modifiedBy, type RecordKind, removeRecord } from '../../records.ts'
import {
  type DatasetRow,
  type DatasetSelection,
  datasetSelectionOf,
  type SourceSelection,
  visibilityFor,
  visibleDatasets,
  visibleRows,
} from '../datasets/datasets.ts'
import {
  closeGap,
  deleteIngestRule,
  type IngestRuleRow,
  insertIngestRule,
  insertRuleVersion,
  lockIngestRule,
  lockOrderOfRules,
  selectIngestRules,
  selectRuleVersions,
  updateIngestRuleRow,
} from './rows.ts'
import { checkSources } from './rule-sources.ts'

export { selectHasRule } from './rows.ts'
export { ruleSources } from './rule-sources.ts'

/** The number of versions of a rule that are kept. */
const VERSIONS_MAX = 100

const allIngestRules = (world: MetaWorld, orgId: string): Promise<readonly IngestRuleRow[]> =>
  world.meta.cached(orgId, 'ingest rules', () => selectIngestRules(world.meta, orgId))

/** True if an organization has rules that may apply. */
export const hasIngestRules = async (world: MetaWorld, orgId: string): Promise<boolean> =>
  (await allIngestRules(world, orgId)).some(({ enabled }) => enabled)

type ParsedRule = { readonly selects: DatasetSelection; readonly rule: AppliedRule }

/** The rules that apply to a dataset, in their order; undefined for none. Changes apply in every process as soon as it knows of them. */
export async function appliedRules(world: MetaWorld, orgId: string, dataset: DatasetRow): Promise<readonly AppliedRule[] | undefined> {
  const parsed = await world.meta.cached(orgId, 'applied ingest rules', async () =>
    (await allIngestRules(world, orgId)).filter(({ enabled }) => enabled).map(parsedRule),
  )
  const applied = parsed.filter(({ selects }) => selects([dataset]).length > 0)
  return applied.length === 0 ? undefined : applied.map(({ rule }) => rule)
}

const parsedRule = (row: IngestRuleRow): ParsedRule => ({
  selects: datasetSelectionOf(sourceOf(row)),
  rule: { id: row.id, position: row.position, version: row.version, where: row.condition, action: row.action },
})

const sourceOf = ({ source_ids, source_expr }: Pick<IngestRuleRow, 'source_ids' | 'source_expr'>): SourceSelection => ({
  from: source_ids ?? undefined,
  from_expr: source_expr ?? undefined,
})

/** The rules that refer to no dataset hidden from the caller. */
const visibleRules = async (world: MetaWorld, actor: Actor): Promise<readonly IngestRuleRow[]> =>
  visibleRows(await visibilityFor(world, actor), await allIngestRules(world, actor.orgId), (row) => [
    sourceOf(row),
    ...targetOf(row.action),
  ])

/** The names of the dataset into which a rule writes. */
function writtenBy(action: IngestAction): { collection?: string | undefined; dataset: string } | undefined {
  if (action.type === 'SET_DATASET') return action
  return action.type === 'COUNT' ? { collection: METRICS_COLLECTION, dataset: action.metric } : undefined
}

/** The dataset into which a rule writes, if it has one: by its name if it has one, and any dataset of that name without a collection. */
function targetOf(action: IngestAction): readonly SourceSelection[] {
  const target = writtenBy(action)
  if (!target) return []
  const named = (name: string, value: string) => `${name} = ${quoted(value)}`
  const { collection, dataset } = target
  const ofDataset = named('dataset', dataset)
  return [{ from_expr: collection === undefined ? ofDataset : `${named('collection', collection)} AND ${ofDataset}` }]
}

/** The columns that rules of an organization use of a lookup table; undefined when no rule uses it. */
export async function usedColumns(world: MetaWorld, orgId: string, table: string): Promise<ReadonlySet<string> | undefined> {
  const actions = (await allIngestRules(world, orgId)).map(({ action }) => action)
  const using = actions.filter((action) => action.type === 'LOOKUP').filter((action) => action.table === table)
  return using.length === 0 ? undefined : new Set(using.flatMap(({ columns }) => columns))
}

type RuleQuery = QueryOf<typeof contract.ingestRules.list>

export async function listIngestRules(
  world: MetaWorld,
  actor: Actor,
  query: RuleQuery,
): Promise<NextPage & { ingest_rules: IngestRule[] }> {
  const visible = await visibleRules(world, actor)
  const found = searched(visible, query.search, ({ name, description, condition }) => searchedText([name, description, condition]))
  const { rows, ...rest } = pageOf(found, query, ruleOrders[query.sort ?? 'position'])
  return { ingest_rules: rows.map(shownIngestRule), ...rest }
}

const ruleOrders: Record<NonNullable<RuleQuery['sort']>, ListOrder<IngestRuleRow>> = {
  position: { name: 'position', keysOf: ({ position }) => [position] },
  // Rules are stored by position, so a whole list in this order is sorted too.
  newest: { ...newest, name: 'created' },
  name: byName(({ name }) => [name]),
}

export async function findIngestRule(world: MetaWorld, actor: Actor, id: string): Promise<IngestRuleRow> {
  const row = (await visibleRules(world, actor)).find((candidate) => candidate.id === id)
  if (!row) throw notFound('ingest rule', id)
  return row
}

export async function createIngestRule(world: World, actor: Actor, draft: IngestRuleDraft): Promise<IngestRule> {
  checkRule(draft)
  await checkTarget(world, actor, draft.action)
  await checkSources(world, actor.orgId, draft.action)
  const source = await checkedSource(world, actor, draft)
  const row: IngestRuleRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    position: 0,
    version: 1,
    name: draft.name,
    description: draft.description ?? null,
    enabled: draft.enabled,
    ...source,
    condition: draft.where,
    action: draft.action,
    ...createdBy(actor, world.clock.nowMs()),
  }
  return createRecord(world, actor, ingestRuleRecords, row, async (tx) => {
    await lockOrderOfRules(tx, actor.orgId)
    row.position = (await selectIngestRules(tx, actor.orgId)).length
    if (row.position >= INGEST_RULES_MAX) throw badRequest(`an organization may have ${INGEST_RULES_MAX} ingest rules`)
  })
}

export async function updateIngestRule(world: World, actor: Actor, { id }: IngestRuleRow, change: IngestRuleChange): Promise<IngestRule> {
  const isMoved = change.from !== undefined || change.from_expr !== undefined
  const source = isMoved ? await checkedSource(world, actor, change) : {}
  await checkTarget(world, actor, change.action)
  await checkSources(world, actor.orgId, change.action)
  return changeRecord(world, actor, ingestRuleRecords, {
    id,
    change: (before) => {
      if (change.version !== undefined && change.version !== before.version) {
        throw conflict(`the rule has version ${before.version}, and the change is based on version ${change.version}`)
      }
      const condition = change.where ?? before.condition
      const action = change.action ?? before.action
      checkRule({ where: condition, action })
      return {
        version: before.version + 1,
        name: change.name ?? before.name,
        description: change.description ?? before.description,
        enabled: change.enabled ?? before.enabled,
        ...source,
        condition,
        action,
      }
    },
    afterwards: (tx, next) => insertRuleVersion(tx, actor.orgId, shownIngestRule(next), VERSIONS_MAX),
  })
}

export const removeIngestRule = (world: World, actor: Actor, record: IngestRuleRow): Promise<undefined> => {
  let position = 0
  return removeRecord(world, actor, ingestRuleRecords, record, {
    check: (before) => {
      position = before.position
    },
    afterwards: async (tx) => {
      await closeGap(tx, actor.orgId, position)
    },
  })
}

/** Puts the rules that the caller sees into a new order. They share the positions that they have now, so that hidden rules stay where they are. */
export async function reorderIngestRules(world: World, actor: Actor, ids: readonly string[]): Promise<{ ingest_rules: IngestRule[] }> {
  const visible = new Set((await visibleRules(world, actor)).map(({ id }) => id))
  await world.meta.write(actor.orgId, async (tx) => {
    await lockOrderOfRules(tx, actor.orgId)
    const rules = (await selectIngestRules(tx, actor.orgId)).filter(({ id }) => visible.has(id))
    const byId = new Map(rules.map((rule) => [rule.id, rule]))
    const isComplete = ids.length === rules.length && new Set(ids).size === ids.length && ids.every((id) => byId.has(id))
    if (!isComplete) throw badField('rule_ids', 'must contain each ingest rule once', 'NOT_EVERY_RULE')
    for (const [at, id] of ids.entries()) {
      const [rule, position] = [byId.get(id), rules[at]?.position]
      if (rule && position !== undefined) await moveRule(world, tx, actor, rule, position)
    }
  })
  return listIngestRules(world, actor, {})
}

async function moveRule(world: World, tx: Db, actor: Actor, before: IngestRuleRow, position: number): Promise<void> {
  if (before.position === position) return
  const next = { ...before, ...modifiedBy(actor, world.clock.nowMs()), position, version: before.version + 1 }
  await updateIngestRuleRow(tx, next)
  await insertRuleVersion(tx, actor.orgId, shownIngestRule(next), VERSIONS_MAX)
  await recordChange(world, tx, actor, {
    entity: { type: 'ingest-rule', id: before.id },
    before: shownIngestRule(before),
    after: shownIngestRule(next),
  })
}

export const ruleVersions = async (world: MetaWorld, actor: Actor, { id }: IngestRuleRow): Promise<{ versions: IngestRule[] }> => ({
  versions: (await selectRuleVersions(world.meta, actor.orgId, id)).map(({ rule }) => rule),
})

/**
 * Checks the datasets of a rule. A selector may match datasets that do not exist yet, so that a caller from whom datasets are hidden must list
 * ids: the rule would act on what the caller may not see.
 */
async function checkedSource(
  world: MetaWorld,
  actor: Actor,
  { from = [], from_expr = '' }: SourceSelection,
): Promise<Pick<IngestRuleRow, 'source_ids' | 'source_expr'>> {
  if (from_expr.trim() !== '') {
    parseSelector(from_expr)
    if (await isLimited(world, actor)) throw forbidden('a caller from whom policies hide datasets must name the datasets of a rule in from')
    return { source_ids: null, source_expr: from_expr }
  }
  if (from.length === 0) throw badField('from', 'or from_expr must name datasets', 'MISSING_SOURCE')
  const visible = await visibleDatasets(world, actor)
  const byName = new Map(visible.flatMap((row) => [[row.id, row] as const, [`${row.collection}.${row.dataset}`, row] as const]))
  const ids = from.map((name) => {
    const row = byName.get(name)
    if (!row) throw badField('from', `names no dataset: ${name.slice(0, 100)}`, 'UNKNOWN_DATASET')
    return row.id
  })
  return { source_ids: [...new Set(ids)], source_expr: null }
}

/** A caller from whom datasets are hidden writes only into a dataset that it sees. */
async function checkTarget(world: MetaWorld, actor: Actor, action: IngestAction | undefined): Promise<void> {
  const target = action && writtenBy(action)
  if (!target || !(await isLimited(world, actor))) return
  const { collection, dataset } = target
  if (collection === undefined) throw badField('action.collection', 'is required for a caller from whom policies hide datasets', 'HIDDEN')
  const visible = await visibleDatasets(world, actor)
  if (visible.some((row) => row.collection === collection && row.dataset === dataset)) return
  const field = action.type === 'COUNT' ? 'action.metric' : 'action.dataset'
  throw badField(field, 'must be a dataset that the caller may see', 'UNKNOWN_DATASET')
}

export const shownIngestRule = (row: IngestRuleRow): IngestRule => ({
  id: row.id,
  name: row.name,
  ...(row.description === null ? {} : { description: row.description }),
  enabled: row.enabled,
  position: row.position,
  version: row.version,
  ...(row.source_ids === null ? {} : { from: row.source_ids }),
  ...(row.source_expr === null ? {} : { from_expr: row.source_expr }),
  where: row.condition,
  action: row.action,
  metadata: metadataOf(row),
})

const ingestRuleRecords: RecordKind<IngestRuleRow, IngestRule> = {
  noun: 'ingest rule',
  entity: 'ingest-rule',
  lock: async (tx, orgId, id) => {
    await lockOrderOfRules(tx, orgId)
    return lockIngestRule(tx, orgId, id)
  },
  insert: async (tx, row) => {
    await insertIngestRule(tx, row)
    await insertRuleVersion(tx, row.org_id, shownIngestRule(row), VERSIONS_MAX)
  },
  update: updateIngestRuleRow,
  remove: deleteIngestRule,
  shown: shownIngestRule,
}
