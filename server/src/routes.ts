import type { contract } from '@dendro/api'
import { foundOrganization } from './first-start.ts'
import type { InnerCalls } from './http/inner-calls.ts'
import type { Meter } from './http/measure.ts'
import type { Routes } from './http/mount.ts'
import { referenceRoutes } from './http/pages/reference/reference.ts'
import type { WebFiles } from './http/pages/web-app/files.ts'
import { webAppRoutes } from './http/pages/web-app/web-app.ts'
import { eitherOf } from './http/protocol-reads.ts'
import { readForm } from './ingest/detect/forms.ts'
import type { Intake } from './ingest/intake/intake.ts'
import { ingestionRoutes } from './ingest/routes.ts'
import { agentInterfaceRoutes } from './mcp/mcp.ts'
import { apiKeyRoutes, personalKeyRoutes } from './resources/access/api-keys/routes.ts'
import { auditRoutes } from './resources/access/audit/routes.ts'
import { authRoutes, secondFactorRoutes, sessionRoutes } from './resources/access/auth/routes.ts'
import { customerRoutes } from './resources/access/customer/routes.ts'
import { encryptionKeyRoutes } from './resources/access/encryption-keys/routes.ts'
import { groupRoutes } from './resources/access/groups/routes.ts'
import { accessRoutes, organizationRoutes } from './resources/access/organizations/routes.ts'
import { permissionRoutes } from './resources/access/permissions/routes.ts'
import { policyRoutes } from './resources/access/policies/routes.ts'
import { roleRoutes } from './resources/access/roles/routes.ts'
import { openScim } from './resources/access/scim/scim.ts'
import { signOnRoutes } from './resources/access/sign-on/routes.ts'
import { ssoRoutes } from './resources/access/sso/routes.ts'
import { userRoutes } from './resources/access/users/routes.ts'
import { configAssistantRoutes } from './resources/assistants/config-assistant/routes.ts'
import { contentPackRoutes } from './resources/assistants/content-packs/routes.ts'
import { assistantRoutes } from './resources/assistants/explain/routes.ts'
import { dashboardRoutes, dashboardTemplateRoutes } from './resources/boards/dashboards/routes.ts'
import { widgetRoutes, widgetTemplateRoutes } from './resources/boards/widgets/routes.ts'
import { collectionRoutes } from './resources/data/collections/routes.ts'
import { datasetRoutes } from './resources/data/datasets/routes.ts'
import { usedColumns } from './resources/data/ingest-rules/ingest-rules.ts'
import { ingestRuleRoutes } from './resources/data/ingest-rules/routes.ts'
import { ledgerRoutes } from './resources/data/ledger/routes.ts'
import type { LimitMeter } from './resources/data/limits/limits.ts'
import { limitRoutes } from './resources/data/limits/routes.ts'
import { lineTimeRoutes } from './resources/data/line-times/routes.ts'
import { lookupTableRoutes } from './resources/data/lookup-tables/routes.ts'
import { parserRoutes } from './resources/data/parsers/routes.ts'
import { rehydrationRoutes } from './resources/data/rehydrations/routes.ts'
import { retentionRoutes, retentionRuleRoutes } from './resources/data/retention/routes.ts'
import { sourceRoutes } from './resources/data/sources/routes.ts'
import { spendRoutes } from './resources/data/spend/routes.ts'
import { usageRoutes } from './resources/data/usage/routes.ts'
import { analyticsRoutes } from './resources/queries/analytics/routes.ts'
import { changeRoutes } from './resources/queries/changes/routes.ts'
import { contextRoutes } from './resources/queries/context/routes.ts'
import { datasetKeyRoutes } from './resources/queries/dataset-keys/routes.ts'
import { exportRoutes } from './resources/queries/exports/routes.ts'
import { forwardConfigRoutes } from './resources/queries/forward-configs/routes.ts'
import { openJaegerReads } from './resources/queries/jaeger/jaeger.ts'
import type { LiveTails } from './resources/queries/live-tail/live-tail.ts'
import { liveTailRoutes } from './resources/queries/live-tail/routes.ts'
import { openLokiReads } from './resources/queries/loki/loki.ts'
import { metricDefinitionRoutes, metricDefinitionTemplateRoutes } from './resources/queries/metric-definitions/routes.ts'
import { notebookRoutes } from './resources/queries/notebooks/routes.ts'
import { patternRoutes } from './resources/queries/patterns/routes.ts'
import { previewPolicy } from './resources/queries/policy-previews/policy-previews.ts'
import { savedSearchRoutes, savedSearchTemplateRoutes } from './resources/queries/saved-searches/routes.ts'
import { searchRoutes } from './resources/queries/search/routes.ts'
import type { Searches } from './resources/queries/search/search.ts'
import { openTempoReads } from './resources/queries/tempo/tempo.ts'
import { timeseriesRoutes } from './resources/queries/timeseries/routes.ts'
import { topKeyRoutes } from './resources/queries/top-keys/routes.ts'
import { traceRoutes } from './resources/queries/traces/routes.ts'
import type { BackupWatch } from './resources/service/backups/backups.ts'
import { backupRoutes } from './resources/service/backups/routes.ts'
import type { CanaryWatch } from './resources/service/canary/canary.ts'
import type { HealthChecks } from './resources/service/health/health.ts'
import { healthRoutes } from './resources/service/health/routes.ts'
import { logRoutes } from './resources/service/logs/routes.ts'
import { metricsRoutes } from './resources/service/metrics/routes.ts'
import { statementRoutes } from './resources/service/statements/routes.ts'
import { tagRoutes } from './resources/service/tags/routes.ts'
import { downtimeRoutes } from './resources/watching/downtimes/routes.ts'
import { insightRoutes } from './resources/watching/insights/routes.ts'
import { integrationRoutes } from './resources/watching/integrations/routes.ts'
import { monitorRoutes, monitorTemplateRoutes } from './resources/watching/monitors/routes.ts'
import { notificationRoutes } from './resources/watching/notifications/routes.ts'
import type { World } from './world.ts'

/** State that routes share with the rest of the process: caches, meters and running work. */
export type RouteParts = {
  health: HealthChecks
  backups: BackupWatch
  canary: CanaryWatch
  /** Whether this process was asked to stop. */
  isStopping: () => boolean
  meter: Meter
  intake: Intake
  limits: LimitMeter
  searches: Searches
  tails: LiveTails
  web: WebFiles | undefined
  innerCalls: InnerCalls
}

/** Has one member for each group of the contract; a group without routes does not compile. */
export const allRoutes = (
  world: World,
  { health, backups, canary, isStopping, meter, intake, limits, searches, tails, web, innerCalls }: RouteParts,
): readonly Routes[] =>
  Object.values({
    access: accessRoutes(world),
    agentInterface: agentInterfaceRoutes(world, innerCalls),
    analytics: analyticsRoutes(world),
    groups: groupRoutes(world),
    organizations: organizationRoutes(world, foundOrganization),
    lineTimes: lineTimeRoutes(world),
    parsers: parserRoutes(world, readForm),
    permissions: permissionRoutes(),
    personalKeys: personalKeyRoutes(world),
    policies: policyRoutes(world, (actor, request, signal) => previewPolicy(world, actor, request, signal)),
    roles: roleRoutes(world),
    apiKeys: apiKeyRoutes(world),
    assistants: assistantRoutes(world),
    audit: auditRoutes(world),
    auth: authRoutes(world),
    backups: backupRoutes(world),
    secondFactor: secondFactorRoutes(world),
    sessions: sessionRoutes(world),
    collections: collectionRoutes(world),
    contentPacks: contentPackRoutes(world),
    dashboards: dashboardRoutes(world),
    dashboardTemplates: dashboardTemplateRoutes(world),
    datasets: datasetRoutes(world),
    downtimes: downtimeRoutes(world),
    exports: exportRoutes(world),
    customer: customerRoutes(world),
    encryptionKeys: encryptionKeyRoutes(world),
    sources: sourceRoutes(world),
    rehydrations: rehydrationRoutes(world),
    statements: statementRoutes(world),
    insights: insightRoutes(world),
    forwardConfigs: forwardConfigRoutes(world),
    signOn: signOnRoutes(world),
    sso: { ...ssoRoutes(world), findRawHandler: openScim(world).find },
    health: { ...healthRoutes(world, health, { backups, canary }, isStopping), servedBy: 'any' },
    ingestion: { ...ingestionRoutes(intake), servedBy: 'ingest' },
    ingestRules: ingestRuleRoutes(world),
    lookupTables: lookupTableRoutes(world, (orgId) => (table) => usedColumns(world, orgId, table)),
    integrations: integrationRoutes(world),
    ledger: ledgerRoutes(world),
    limits: limitRoutes(world, limits),
    logs: logRoutes(world),
    metrics: { ...metricsRoutes(world, meter), servedBy: 'any' },
    reference: referenceRoutes({ version: world.deployment.version, region: world.deployment.region, web, problems: health.failures }),
    retention: retentionRoutes(world),
    retentionRules: retentionRuleRoutes(world),
    search: { ...searchRoutes(world, searches), findRawHandler: openLokiReads(world, tails).find },
    datasetKeys: datasetKeyRoutes(world),
    notebooks: notebookRoutes(world),
    savedSearches: savedSearchRoutes(world),
    savedSearchTemplates: savedSearchTemplateRoutes(world),
    topKeys: topKeyRoutes(world),
    traces: { ...traceRoutes(world), findRawHandler: eitherOf(openJaegerReads(world), openTempoReads(world)) },
    patterns: patternRoutes(world),
    changes: changeRoutes(world),
    liveTail: liveTailRoutes(tails),
    timeseries: timeseriesRoutes(world),
    metricDefinitions: metricDefinitionRoutes(world),
    monitors: monitorRoutes(world),
    monitorTemplates: monitorTemplateRoutes(world),
    metricDefinitionTemplates: metricDefinitionTemplateRoutes(world),
    notifications: notificationRoutes(world),
    configAssistant: configAssistantRoutes(world),
    context: contextRoutes(world),
    tags: tagRoutes(world),
    spend: spendRoutes(world),
    usage: usageRoutes(world),
    users: userRoutes(world),
    webApp: webAppRoutes(web),
    widgets: widgetRoutes(world),
    widgetTemplates: widgetTemplateRoutes(world),
  } satisfies Record<keyof typeof contract, Routes>)
