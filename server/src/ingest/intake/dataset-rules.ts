import type { RuleSources } from '../../ingest-rules/rule-run.ts'
import type { DatasetRow } from '../../resources/data/datasets/datasets.ts'
import { appliedRules, ruleSources } from '../../resources/data/ingest-rules/ingest-rules.ts'

import type { MessageParser } from '../batch.ts'
import type { IntakeWorld } from './intake-world.ts'
import type { DatasetRules } from './worker-messages.ts'

type RulesRequest = {
  receiver: Pick<MessageParser, 'systemCollections'>
  orgId: string
  row: DatasetRow
  after: number | undefined
  hasWaited: boolean
}

/** The rules of a dataset behind `after`, with what they read; events that have waited for a decision do not wait again. System datasets have no rules, except those that senders fill. */
export async function rulesOf(
  world: IntakeWorld,
  { receiver, orgId, row, after = -1, hasWaited }: RulesRequest,
): Promise<DatasetRules | undefined> {
  const { systemCollections = [] } = receiver
  if (row.is_system_generated && !systemCollections.includes(row.collection)) return undefined
  const all = await appliedRules(world, orgId, row)
  const rules = all?.filter(({ position, action }) => position > after && !(hasWaited && action.type === 'TAIL_SAMPLE')) ?? []
  if (rules.length === 0) return undefined
  const sources: RuleSources = await ruleSources(world, orgId, rules, [row.id])
  return { rules, sources, collection: row.collection, dataset: row.dataset }
}
