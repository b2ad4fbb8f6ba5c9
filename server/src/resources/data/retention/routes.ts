import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findDataset } from '../datasets/datasets.ts'
import { retentionOfDataset, retentionOverview } from './retention.ts'
import { createRule, findRule, removeRule, rulePage, updateRule } from './rules.ts'

export const retentionRoutes = (world: World): Routes =>
  routes('retention', contract.retention, {
    overview: ({ actor, query }) => retentionOverview(world, actor, query),
    ofDataset: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.datasetId),
      ({ actor, record }) => retentionOfDataset(world, actor, record),
    ),
  })

export const retentionRuleRoutes = (world: World): Routes =>
  routes('retentionRules', contract.retentionRules, {
    list: ({ actor, query }) => rulePage(world, actor, query),
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
