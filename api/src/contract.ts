import { agentInterface } from './agent-interface.ts'
import { analytics } from './analytics.ts'
import { apiKeys, personalKeys } from './api-keys.ts'
import { assistants } from './assistants.ts'
import { audit } from './audit.ts'
import { auth } from './auth.ts'
import { backups } from './backups.ts'
import { changes } from './changes.ts'
import { collections } from './collections.ts'
import { configAssistant } from './config-assistant.ts'
import { contentPacks } from './content-packs.ts'
import { context } from './context.ts'
import { customer } from './customer.ts'
import { dashboards, dashboardTemplates } from './dashboards.ts'
import { datasetKeys } from './dataset-keys.ts'
import { datasets } from './datasets.ts'
import { downtimes } from './downtimes.ts'
import { encryptionKeys } from './encryption-keys.ts'
import { dataExports } from './exports.ts'
import { forwardConfigs } from './forward-configs.ts'
import { groups } from './groups.ts'
import { health } from './health.ts'
import { ingestRules } from './ingest-rules.ts'
import { ingestion } from './ingestion.ts'
import { insights } from './insights.ts'
import { integrations } from './integrations.ts'
import { ledger } from './ledger.ts'
import { limits } from './limits.ts'
import { lineTimes } from './line-times.ts'
import { liveTail } from './live-tail.ts'
import { logs } from './logs.ts'
import { lookupTables } from './lookup-tables.ts'
import { metricDefinitions, metricDefinitionTemplates } from './metric-definitions.ts'
import { metrics } from './metrics.ts'
import { monitorTemplates } from './monitor-templates.ts'
import { monitors } from './monitors.ts'
import { notebooks } from './notebooks.ts'
import { notifications } from './notifications.ts'
import { access, organizations } from './organizations.ts'
import { parsers } from './parsers.ts'
import { patterns } from './patterns.ts'
import { permissionList } from './permission-list.ts'
import { policies } from './policies.ts'
import { reference } from './reference.ts'
import { rehydrations } from './rehydrations.ts'
import { retention, retentionRules } from './retention.ts'
import { roles } from './roles.ts'
import { savedSearches, savedSearchTemplates } from './saved-searches.ts'
import { search } from './search.ts'
import { secondFactor } from './second-factor.ts'
import { sessions } from './sessions.ts'
import { signOn } from './sign-on.ts'
import { sources } from './sources.ts'
import { spend } from './spend.ts'
import { sso } from './sso.ts'
import { statements } from './statements.ts'
import { tags } from './tags.ts'
import { timeseries } from './timeseries.ts'
import { topKeys } from './top-keys.ts'
import { traces } from './traces.ts'
import { usage } from './usage.ts'
import { users } from './users.ts'
import { webApp } from './web-app.ts'
import { widgets, widgetTemplates } from './widgets.ts'

/** Every endpoint of the service. */
export const contract = {
  access,
  agentInterface,
  analytics,
  apiKeys,
  assistants,
  audit,
  auth,
  backups,
  changes,
  collections,
  configAssistant,
  contentPacks,
  context,
  customer,
  dashboards,
  dashboardTemplates,
  datasetKeys,
  datasets,
  downtimes,
  encryptionKeys,
  exports: dataExports,
  forwardConfigs,
  groups,
  health,
  ingestion,
  ingestRules,
  lookupTables,
  insights,
  integrations,
  ledger,
  limits,
  lineTimes,
  liveTail,
  logs,
  metricDefinitions,
  metricDefinitionTemplates,
  metrics,
  monitors,
  monitorTemplates,
  notebooks,
  notifications,
  organizations,
  parsers,
  patterns,
  permissions: permissionList,
  personalKeys,
  policies,
  reference,
  retention,
  retentionRules,
  roles,
  savedSearches,
  savedSearchTemplates,
  search,
  secondFactor,
  sessions,
  signOn,
  spend,
  sources,
  rehydrations,
  sso,
  statements,
  tags,
  timeseries,
  topKeys,
  traces,
  usage,
  users,
  webApp,
  widgets,
  widgetTemplates,
}
