import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findDataset } from '../datasets/datasets.ts'
import { retentionOfDataset, retentionOverview } from './retention.ts'
import { createRule, findRule, listRules, removeRule, updateRule } from './rules.ts'

export const retentionRoutes = (world: World): Routes =>
  routes('retention', contract.retention, {
    overview: ({ actor, query }) => retentionOverview(world, actor, query.from),
    ofDataset: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.datasetId),
      ({ actor, record }) => retentionOfDataset(world, actor, record),
    ),
  })

export const retentionRuleRoutes = (world: World): Routes =>
  routes('retentionRules', contract.retentionRules, {
    list: async ({ actor }) => ({ retention_rules: await listRules(world, actor) }),
    create: ({ actor, body }) => createRule(world, actor, body),
    update: onRecord(
      ({ actor, params }) => findRule(world, actor, params.ruleId),
      ({ actor, record, body }) => updateRule(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findRule(world, actor, params.ruleId),
      ({ actor, record }) => removeRule(world, actor, record),
    ),
  })
