export type { AgentMessage } from './agent-interface.ts'
export { ApiKey, type EventDefaults, type KeyQueryBudget } from './api-keys.ts'
export { AiEvent, type ProposedWidget } from './assistants.ts'
export type { Login } from './auth.ts'
export type { Backup, BackupTask, NewRestoration } from './backups.ts'
export type { BucketOrigin } from './bucket-origin.ts'
export type { ChangesReply, Finding, FindingName } from './changes.ts'
export {
  ApiFailure,
  type Client,
  type ClientOptions,
  type ClientRoute,
  clientRoutes,
  fromText,
  makeClient,
  NoResponse,
  openResponse,
  type RoutesOf,
  serverSentEvents,
  toText,
} from './client.ts'
export type { AgentConfig, AgentType, ConfigChanges, ConfigModification, ConfigRequest, ConfigSource } from './config-assistant.ts'
export type {
  ContentPackMonitor,
  ContentPackOffer,
  ContentPackParameter,
  ContentPackPreview,
  ContentPackRule,
  ContentPackWidget,
  InstalledContentPack,
} from './content-packs.ts'
export type { ContextResponse } from './context.ts'
export { contract } from './contract.ts'
export type { Customer, CustomerChange } from './customer.ts'
export {
  type Dashboard,
  type DashboardChange,
  DashboardDraft,
  type DashboardLayout,
  type DashboardRequest,
  type DashboardTemplateDraft,
  type PreviewWidget,
} from './dashboards.ts'
export { type DatasetFlow, flowOf } from './dataset-flow.ts'
export { Dataset, type DatasetTotals, Retention } from './datasets.ts'
export { Downtime } from './downtimes.ts'
export type { EncryptionKey, EncryptionKeyChange, EncryptionKeyStatus, NewEncryptionKey } from './encryption-keys.ts'
export {
  type BodyInput,
  type BodyOf,
  type Contract,
  type ContractGroup,
  type Endpoint,
  type Method,
  type ParamsOf,
  pathNames,
  type QueryInput,
  type QueryOf,
  type ReplyOf,
  type ReplyOutput,
  statusOf,
} from './endpoint.ts'
export type { AggregateGroupRow, Delta, Event, Explain, Link, ResultRow, Series, TimeSlice, Totals } from './event-shapes.ts'
export type { Export, ExportCompression, ExportDetails, ExportFormat, ExportStatus, NewExport } from './exports.ts'
export type { ForwardConfig, ForwardDelivery, ForwardDestination, NewForwardConfig } from './forward-configs.ts'
export { GroupMember, UserGroup } from './groups.ts'
export { IngestAction, METRICS_COLLECTION, type RedactedKind, redactedKinds } from './ingest-actions.ts'
export { INGEST_RULES_MAX, IngestRule, type IngestRuleChange, type IngestRuleDraft } from './ingest-rules.ts'
export { type InsightAction, type InsightConfidence, readInsightText, writeInsightText } from './insight-text.ts'
export { type Insight, insightCategory } from './insights.ts'
export { EmailTemplate, SlackIntegration, SlackWorkspace, WebhookIntegration } from './integrations.ts'
export type { LedgerCounts, LedgerEntry } from './ledger.ts'
export type { Limit } from './limits.ts'
export { LineTime, type LineTimeCandidate, type LineTimeFormat, lineTimeFormats } from './line-times.ts'
export type { PageQuery, SortedPageQuery } from './list-pages.ts'
export { Log, LogView } from './logs.ts'
export { LookupTable } from './lookup-tables.ts'
export {
  type MetricDefinition,
  MetricDefinitionDraft,
  type MetricDefinitionRequest,
  type MetricDefinitionTemplateDraft,
} from './metric-definitions.ts'
export type { MetricFormula, MetricQuery, MetricTimeseries } from './metric-shapes.ts'
export type { MonitorTemplateChange, MonitorTemplateDraft } from './monitor-templates.ts'
export {
  type ListedMonitorStatus,
  Monitor,
  MonitorDraft,
  type MonitorEvaluation,
  type MonitorGroup,
  type MonitorGrouping,
  type MonitorTotals,
} from './monitors.ts'
export type { Notebook, NotebookChange, NotebookDraft, NotebookStep, NotebookSummary } from './notebooks.ts'
export type { SuggestionsRequest } from './notifications.ts'
export {
  API_VERSION,
  failureCodes,
  meaningOf,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiParameter,
  openApiDocument,
  rolesOf,
  titleOf,
  wordOf,
} from './openapi.ts'
export { type AccessMember, Organization } from './organizations.ts'
export { Parser } from './parsers.ts'
export type { PatternRow } from './patterns.ts'
export type { PermissionEntry } from './permission-list.ts'
export { groupOfPermission, permissionEntry } from './permission-words.ts'
export {
  allPermissions,
  apiRoles,
  isSensitive,
  type Permission,
  permissionGroups,
  permissionType,
  roleName,
  type SystemRole,
  shownRole,
  systemRoles,
  userRoles,
} from './permissions.ts'
export { type ConditionSet, Policy, type PolicyDraft, type PolicyPreview } from './policies.ts'
export type { NewRehydration, RehydratedFile, Rehydration } from './rehydrations.ts'
export { type RetentionEntity, RetentionRule } from './retention.ts'
export { Role } from './roles.ts'
export {
  type SavedSearch,
  type SavedSearchChange,
  SavedSearchDraft,
  type SavedSearchRequest,
  type SavedSearchTemplateDraft,
  type SearchDetails,
} from './saved-searches.ts'
export { EVENTS_MAX, type QueryStatus, type SearchRequest, type SearchResponse } from './search.ts'
export type { Session } from './sessions.ts'
export { branchesOf, type JsonSchema, propertiesOf, requiredOf, resolveShape, shapeName } from './shapes.ts'
export type { DirectoryOrigin, KafkaOrigin, NewSource, S3Origin, Source, SourceOrigin, SourceState } from './sources.ts'
export type {
  BudgetState,
  SpendBudget,
  SpendDay,
  SpendDimension,
  SpendGroup,
  SpendMonth,
  SpendPrice,
  SpendSaving,
  SpendSettings,
  SpendSum,
} from './spend.ts'
export type { Idp, SsoMapping } from './sso.ts'
export type { Statement, StatementReference, StatementSet } from './statements.ts'
export { Tag, type TaggedType, type TagUsage } from './tags.ts'
export {
  Template,
  TemplateArgument,
  TemplateArguments,
  type TemplateParameter,
  TemplateParameters,
  TemplateReference,
} from './templates.ts'
export type { TimeseriesRequest } from './timeseries.ts'
export type { SampledKey, TopKey } from './top-keys.ts'
export { type CallList, type OperationList, TRACE_SPANS_MAX, TRACES_MAX, type Trace, type TraceList, type TraceSummary } from './traces.ts'
export type { MetricItem, UsageSeries } from './usage.ts'
export { type LoginMethod, type MultiOrgUser, User, type UserPreference, UserStatus } from './users.ts'
export { FailureBody, Identity, isUuid, Metadata, Tags } from './values.ts'
export { webPages } from './web-app.ts'
export {
  CHILDREN_MAX,
  type Widget,
  type WidgetChange,
  WidgetDraft,
  type WidgetLayout,
  type WidgetRequest,
  type WidgetTemplateDraft,
} from './widgets.ts'
