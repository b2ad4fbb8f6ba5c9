import type { BodyOf, contract, Identity, QueryOf, RetentionRule } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, conflict, notFound } from '../../../kernel/errors.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { isLimited } from '../../access/policies/policies.ts'
import { byName, type NextPage, pageOf, searched } from '../../list-pages.ts'
import { modifiedBy } from '../../records.ts'
import { type DatasetRow, fixedRetention, setDatasetRetention, visibleDatasets } from '../datasets/datasets.ts'
import { deleteRule, insertRule, type RuleRow, selectRules, updateRuleRow } from './rows.ts'

type RuleDraft = BodyOf<typeof contract.retentionRules.create>

/** A rule with its own row, or the retention of a dataset, which has the dataset's id. */
export type RuleRecord = { kind: 'log'; row: DatasetRow } | { kind: 'general'; row: RuleRow }

/** The target of a rule. */
type RuleTarget = { entity: 'LOG'; log: DatasetRow } | { entity: 'LOG_SET'; collection: string } | { entity: 'ORGANISATION' }

type ListedRule = { id: string; created_at: number; rule: RuleRecord }

/** A page of the rules of the logs visible to the caller and the general ones. */
export async function rulePage(
  world: MetaWorld,
  actor: Actor,
  query: QueryOf<typeof contract.retentionRules.list>,
): Promise<NextPage & { retention_rules: RetentionRule[] }> {
  const visible = await visibleDatasets(world, actor)
  const ofLogs = visible.filter(({ retention }) => retention !== null).map((row): RuleRecord => ({ kind: 'log', row }))
  const general = (await visibleGeneralRules(world, actor)).map((row): RuleRecord => ({ kind: 'general', row }))
  const all = [...ofLogs, ...general]
    .map((rule): ListedRule => ({ id: rule.row.id, created_at: createdAt(rule), rule }))
    .toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1))
  const { rows, ...rest } = pageOf(searched(all, query.search, textOf), query, query.sort === 'name' ? byTarget : undefined)
  const nameCounts = countNames(visible)
  return { retention_rules: rows.map(({ rule }) => shownRule(rule, nameCounts)), ...rest }
}

const createdAt = (rule: RuleRecord): number =>
  rule.kind === 'general' ? rule.row.created_at : (rule.row.retention_mark?.created_at ?? rule.row.modified_at)

const textOf = ({ rule }: ListedRule): string => {
  if (rule.kind === 'log') return `${rule.row.collection}/${rule.row.dataset}`
  return rule.row.entity === 'ORGANISATION' ? 'organization' : rule.row.collection
}

const byTarget = byName(({ rule }: ListedRule) =>
  rule.kind === 'log' ? [2, rule.row.collection, rule.row.dataset] : [rule.row.entity === 'ORGANISATION' ? 0 : 1, rule.row.collection, ''],
)

const generalRules = (world: MetaWorld, orgId: string): Promise<readonly RuleRow[]> =>
  world.meta.cached(orgId, 'retention-rules', () => selectRules(world.meta, orgId))

/** The rules of the organization, and of collections with a log visible to the caller, or all if nothing is hidden from the caller. */
async function visibleGeneralRules(world: MetaWorld, actor: Actor): Promise<readonly RuleRow[]> {
  const rules = await generalRules(world, actor.orgId)
  if (!(await isLimited(world, actor))) return rules
  const collections = new Set((await visibleDatasets(world, actor)).map(({ collection }) => collection))
  return rules.filter(({ entity, collection }) => entity === 'ORGANISATION' || collections.has(collection))
}

export async function findRule(world: MetaWorld, actor: Actor, id: string): Promise<RuleRecord> {
  const general = (await visibleGeneralRules(world, actor)).find((row) => row.id === id)
  if (general) return { kind: 'general', row: general }
  const log = (await visibleDatasets(world, actor)).find((row) => row.id === id && row.retention !== null)
  if (log) return { kind: 'log', row: log }
  throw notFound('retention rule', id)
}

export async function createRule(world: World, actor: Actor, request: RuleDraft): Promise<RetentionRule> {
  const visible = await visibleDatasets(world, actor)
  const target = targetOf(request, visible)
  if (target.entity === 'LOG') {
    const row = await setDatasetRetention(world, actor, target.log.id, request.retention, (before) => {
      if (before.retention !== null) throw conflict('the log already has a retention rule')
    })
    return shownRule({ kind: 'log', row }, countNames(visible))
  }
  const row: RuleRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    entity: target.entity,
    collection: target.entity === 'LOG_SET' ? target.collection : '',
    retention: request.retention,
    created_at: world.clock.nowMs(),
    created_by: actor.identity,
    modified_at: null,
    modified_by: null,
  }
  return world.meta.write(actor.orgId, async (tx) => {
    const made = await insertRule(tx, row)
    if (!made) throw conflict(`the ${target.entity === 'LOG_SET' ? 'collection' : 'organization'} has a retention rule already`)
    const shown = shownGeneral(made)
    await recordChange(world, tx, actor, { entity: { type: 'retention_rule', id: made.id }, after: shown })
    return shown
  })
}

/** Changes how long a rule keeps events. The target cannot change: that would be another rule. */
export async function updateRule(world: World, actor: Actor, rule: RuleRecord, request: RuleDraft): Promise<RetentionRule> {
  const visible = await visibleDatasets(world, actor)
  if (!isSame(rule, targetOf(request, visible))) throw badField('scope', 'cannot change; create another rule for another target')
  if (rule.kind === 'log') {
    const row = await setDatasetRetention(world, actor, rule.row.id, request.retention, checkHasRule)
    return shownRule({ kind: 'log', row }, countNames(visible))
  }
  return world.meta.write(actor.orgId, async (tx) => {
    const next = { ...rule.row, retention: request.retention, ...modifiedBy(actor, world.clock.nowMs()) }
    const row = await updateRuleRow(tx, next)
    if (!row) throw notFound('retention rule', rule.row.id)
    const [before, after] = [rule.row, row].map(shownGeneral)
    await recordChange(world, tx, actor, {
      entity: { type: 'retention_rule', id: row.id },
      ...(before ? { before } : {}),
      ...(after ? { after } : {}),
    })
    return shownGeneral(row)
  })
}

export async function removeRule(world: World, actor: Actor, rule: RuleRecord): Promise<undefined> {
  if (rule.kind === 'log') {
    await setDatasetRetention(world, actor, rule.row.id, null, checkHasRule)
    return
  }
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteRule(tx, actor.orgId, rule.row.id)) === 0) throw notFound('retention rule', rule.row.id)
    await recordChange(world, tx, actor, { entity: { type: 'retention_rule', id: rule.row.id }, before: shownGeneral(rule.row) })
  })
}

function checkHasRule({ id, retention }: DatasetRow): void {
  if (retention === null) throw notFound('retention rule', id)
}

function targetOf({ entity, category, scope }: RuleDraft, visible: readonly DatasetRow[]): RuleTarget {
  if ((category === 'DEFAULT_RETENTION') !== (entity === 'ORGANISATION')) {
    throw badField(
      'entity',
      `must be ${category === 'DEFAULT_RETENTION' ? 'ORGANISATION' : 'LOG or LOG_SET'} with the category ${category}`,
    )
  }
  if (entity === 'ORGANISATION') return { entity }
  const name = (scope?.from?.replace(/^(log|log_?set|dataset|collection):/i, '') ?? scope?.name ?? '').trim()
  if (name === '') throw badField('scope', 'must name a log or collection in `from`', 'REQUIRED')
  if (entity === 'LOG') return { entity, log: logOf(name, visible) }
  const fixed = fixedRetention(name)
  if (fixed) throw badField('scope', `names no collection with rules: ${fixed.reason}`)
  if (!visible.some(({ collection }) => collection === name)) throw badField('scope', `names no collection: ${name}`)
  return { entity, collection: name }
}

function logOf(name: string, visible: readonly DatasetRow[]): DatasetRow {
  const exact = visible.filter((row) => row.id === name.toLowerCase() || fullName(row) === name)
  const found = exact.length > 0 ? exact : visible.filter(({ dataset }) => dataset === name)
  const [log] = found
  if (!log) throw badField('scope', `names no log: ${name}`)
  if (found.length > 1)
    throw badField('scope', `names several logs; write collection.dataset, as in ${fullName(log)}, or the id`, 'AMBIGUOUS')
  return log
}

const fullName = ({ collection, dataset }: Pick<DatasetRow, 'collection' | 'dataset'>): string => `${collection}.${dataset}`

function isSame(rule: RuleRecord, target: RuleTarget): boolean {
  if (rule.kind === 'log') return target.entity === 'LOG' && target.log.id === rule.row.id
  return rule.row.entity === target.entity && (target.entity !== 'LOG_SET' || target.collection === rule.row.collection)
}

/** How many of the logs visible to the caller have each name. */
const countNames = (visible: readonly DatasetRow[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { dataset } of visible) counts.set(dataset, (counts.get(dataset) ?? 0) + 1)
  return counts
}

/** Names a log by its plain name if that is unique. */
function shownRule(rule: RuleRecord, nameCounts: ReadonlyMap<string, number>): RetentionRule {
  if (rule.kind === 'general') return shownGeneral(rule.row)
  const { id, org_id, retention, retention_mark: mark, modified_at, modified_by } = rule.row
  const isPlain = (nameCounts.get(rule.row.dataset) ?? 0) <= 1
  if (retention === null) throw new Error('a dataset without its own retention has no rule')
  return {
    id,
    org_id,
    entity: 'LOG',
    scope: { from: `log:${isPlain ? rule.row.dataset : fullName(rule.row)}` },
    category: 'DATASET_RETENTION',
    retention,
    ...(mark ?? { created_by: modified_by?.id ?? '', created_at: modified_at }),
  }
}

function shownGeneral(row: RuleRow): RetentionRule {
  const isDefault = row.entity === 'ORGANISATION'
  const who = (identity: Identity | null): string => identity?.id ?? ''
  return {
    id: row.id,
    org_id: row.org_id,
    entity: row.entity,
    scope: isDefault ? { name: 'org:default' } : { from: `log:${row.collection}` },
    category: isDefault ? 'DEFAULT_RETENTION' : 'DATASET_RETENTION',
    retention: row.retention,
    created_by: who(row.created_by),
    created_at: row.created_at,
    ...(row.modified_at === null ? {} : { updated_by: who(row.modified_by), updated_at: row.modified_at }),
  }
}
