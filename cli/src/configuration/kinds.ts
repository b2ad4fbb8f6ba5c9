import type { Kind } from './kind.ts'
import { datasetKind } from './kinds/datasets.ts'
import { monitorKind } from './kinds/monitors.ts'
import { retentionRuleKind } from './kinds/retention-rules.ts'
import { savedSearchKind } from './kinds/saved-searches.ts'
import { webhookKind } from './kinds/webhooks.ts'

/** All kinds of documents, what is referred to first. */
export const kinds: readonly Kind[] = [datasetKind, retentionRuleKind, webhookKind, monitorKind, savedSearchKind]
