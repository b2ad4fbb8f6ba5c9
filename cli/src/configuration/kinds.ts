import type { Kind } from './kind.ts'
import { slackKind, slackWorkspaceKind } from './kinds/chat-integrations.ts'
import { dashboardKind } from './kinds/dashboards.ts'
import { datasetKind } from './kinds/datasets.ts'
import { emailTemplateKind } from './kinds/email-templates.ts'
import { forwardConfigKind } from './kinds/forward-configs.ts'
import { identityProviderKind, ssoMappingKind } from './kinds/identity-providers.ts'
import { ingestRuleKind } from './kinds/ingest-rules.ts'
import { lookupTableKind } from './kinds/lookup-tables.ts'
import { monitorKind } from './kinds/monitors.ts'
import { notebookKind } from './kinds/notebooks.ts'
import { policyKind } from './kinds/policies.ts'
import { retentionRuleKind } from './kinds/retention-rules.ts'
import { roleKind } from './kinds/roles.ts'
import { savedSearchKind } from './kinds/saved-searches.ts'
import { sourceKind } from './kinds/sources.ts'
import { webhookKind } from './kinds/webhooks.ts'

/** All kinds of documents, what is referred to first. Rules of access come late: they could hide what is still to be written. */
export const kinds: readonly Kind[] = [
  datasetKind,
  retentionRuleKind,
  lookupTableKind,
  ingestRuleKind,
  sourceKind,
  forwardConfigKind,
  webhookKind,
  slackWorkspaceKind,
  slackKind,
  emailTemplateKind,
  monitorKind,
  savedSearchKind,
  notebookKind,
  dashboardKind,
  roleKind,
  policyKind,
  identityProviderKind,
  ssoMappingKind,
]
