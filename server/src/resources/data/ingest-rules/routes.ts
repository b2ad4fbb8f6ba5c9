import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import {
  createIngestRule,
  findIngestRule,
  listIngestRules,
  removeIngestRule,
  reorderIngestRules,
  ruleVersions,
  shownIngestRule,
  updateIngestRule,
} from './ingest-rules.ts'
import { previewRule } from './preview.ts'

export function ingestRuleRoutes(world: World): Routes {
  const find = ({ actor, params }: RecordPath<'ruleId'>) => findIngestRule(world, actor, params.ruleId)
  return routes('ingestRules', contract.ingestRules, {
    list: ({ actor, query }) => listIngestRules(world, actor, query),
    create: ({ actor, body }) => createIngestRule(world, actor, body),
    reorder: ({ actor, body }) => reorderIngestRules(world, actor, body.rule_ids),
    preview: ({ actor, body, signal }) => previewRule(world, actor, body, signal),
    get: onRecord(find, async ({ record }) => shownIngestRule(record)),
    versions: onRecord(find, ({ actor, record }) => ruleVersions(world, actor, record)),
    update: onRecord(find, ({ actor, record, body }) => updateIngestRule(world, actor, record, body)),
    remove: onRecord(find, ({ actor, record }) => removeIngestRule(world, actor, record)),
  })
}
