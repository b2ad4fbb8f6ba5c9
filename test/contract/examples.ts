import { randomUUID } from 'node:crypto'
import { vi } from 'vitest'
import { sql } from '../../server/src/meta/sql.ts'
import { upsertInsights } from '../../server/src/resources/watching/insights/rows.ts'
import { codeAt } from '../authenticator.ts'
import { keptBackup, keptTask, withoutOpenTasks } from './backup-examples.ts'
import { idpRequest, keptIdp, keptMapping, signOnAnswer, signOnProvider } from './sso-examples.ts'
import { type Maker, PASSWORD } from './stage.ts'

/** The parts of a valid request besides its method and path. */
export type Ask = {
  params?: Readonly<Record<string, string>>
  query?: string
  body?: unknown
  raw?: string
  headers?: Record<string, string>
  key?: string
  token?: string
}

/** Builds a request that succeeds once in the organization of the maker; every call creates records of its own. */
export type Example = (maker: Maker) => Promise<Ask> | Ask

/** Switches the second factor of a user on; returns the recovery codes. */
async function withSecondFactor({ app, org }: Maker, { token, password }: { token: string; password: string }): Promise<string[]> {
  const { secret } = (await org.ask<{ secret: string }>('POST', '/auth/second-factor', { token, body: { password } })).body
  const body = { code: codeAt(secret, app.clock.nowMs()) }
  return (await org.ask<{ recovery_codes: string[] }>('POST', '/auth/second-factor/confirm', { token, body })).body.recovery_codes
}

async function personalKey(maker: Maker) {
  const { token } = await maker.person()
  const made = await maker.org.ask<{ id: string }>('POST', '/auth/api-keys', { token, body: { name: maker.word(), roles: ['SearchApi'] } })
  return { token, params: { apiKeyId: made.body.id } }
}

/** Every endpoint with a body or a record in its path has an example here; the contract laws use them. */
export const examples: Readonly<Record<string, Example>> = {
  'webApp.page': () => ({ params: { page: 'explore' } }),
  'webApp.file': () => ({ params: { file: 'a.bin' } }),
  'access.list': ({ org }) => ({ params: { orgId: org.orgId } }),
  'access.grant': async (maker) => ({ params: await entity(maker), body: { roles: ['Standard'], status: 'active' } }),
  'access.revoke': async (maker) => {
    const params = await entity(maker)
    const path = `/organizations/${params.orgId}/access/user/${params.entityId}`
    await maker.org.ask('POST', path, { body: { roles: ['Standard'], status: 'active' } })
    return { params }
  },
  'access.check': async (maker) => ({ params: await entity(maker) }),
  'access.checkOwn': async (maker) => ({ query: `user_id=${(await maker.person()).id}` }),
  'access.switch': async (maker) => {
    const { id, token } = await maker.person()
    return { params: { orgId: maker.org.orgId, userId: id }, token }
  },
  'access.switchOwn': async (maker) => ({ body: { org_id: maker.org.orgId }, token: (await maker.person()).token }),
  'agentInterface.send': async () => ({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }),
  'apiKeys.create': ({ word }) => ({ body: { name: word(), roles: ['IngestionApi', 'SearchApi'], ttl: 3600, tags: { team: 'payments' } } }),
  'apiKeys.get': async (maker) => ({ params: { apiKeyId: await maker.apiKey() } }),
  'apiKeys.update': async (maker) => ({
    params: { apiKeyId: await maker.apiKey() },
    body: { name: maker.word(), roles: ['IngestionApi'] },
  }),
  'apiKeys.rotate': async (maker) => ({ params: { apiKeyId: await maker.apiKey() }, body: { overlap: 3600, end_previous: true } }),
  'apiKeys.endPrevious': async (maker) => {
    const apiKeyId = await maker.apiKey()
    await maker.org.ask('POST', `/api-keys/${apiKeyId}/rotate`, { body: {} })
    return { params: { apiKeyId } }
  },
  'apiKeys.remove': async (maker) => ({ params: { apiKeyId: await maker.apiKey() } }),
  'auth.login': async (maker) => {
    const { email, password } = await maker.person()
    return { body: { email, password } }
  },
  'auth.acceptInvite': async (maker) => ({ body: { token: (await maker.invited()).invitation, password: PASSWORD } }),
  'auth.logout': async (maker) => ({ token: (await maker.person()).token }),
  'auth.changePassword': async (maker) => {
    const { token, password } = await maker.person()
    return { token, body: { current_password: password, new_password: 'a-lighthouse-made-of-biscuits' } }
  },
  'backups.list': ({ app }) => ({ key: app.managementKey }),
  'backups.create': (maker) => withoutOpenTasks(maker),
  'backups.task': async (maker) => ({ key: maker.app.managementKey, params: { taskId: await keptTask(maker) } }),
  'backups.verify': async (maker) => withoutOpenTasks(maker, { params: { backupName: await keptBackup(maker) } }),
  'backups.restore': async (maker) => {
    const [datasetId, dataset] = [await maker.dataset(), maker.word('restored')]
    return withoutOpenTasks(maker, { params: { backupName: await keptBackup(maker), datasetId }, body: { dataset } })
  },
  'dashboards.create': async (maker) => ({ body: { ...dashboard(maker.word('board')), widget_ids: [await keptWidget(maker)] } }),
  'dashboards.preview': async (maker) => ({ body: { template: await dashboardFrom(maker) } }),
  'dashboards.get': async (maker) => ({ params: { dashboardId: await keptDashboard(maker) } }),
  'dashboards.change': async (maker) => ({ params: { dashboardId: await keptDashboard(maker) }, body: { name: maker.word('board') } }),
  'dashboards.remove': async (maker) => ({ params: { dashboardId: await keptDashboard(maker) } }),
  'dashboards.addWidgets': async (maker) => ({
    params: { dashboardId: await keptDashboard(maker) },
    body: { widget_ids: [await keptWidget(maker)] },
  }),
  'dashboards.removeWidget': async (maker) => {
    const widgetId = await keptWidget(maker)
    const { id } = await maker.made('/dashboards', { ...dashboard(maker.word('board')), widget_ids: [widgetId] })
    return { params: { dashboardId: id, widgetId } }
  },
  'dashboards.detach': async (maker) => {
    const { id } = await maker.made('/dashboards', { template: await dashboardFrom(maker) })
    return { params: { dashboardId: id } }
  },
  'dashboardTemplates.create': async (maker) => ({ body: await dashboardTemplate(maker) }),
  'dashboardTemplates.get': async (maker) => ({ params: { templateId: (await dashboardFrom(maker)).id } }),
  'dashboardTemplates.update': async (maker) => ({
    params: { templateId: (await dashboardFrom(maker)).id },
    body: await dashboardTemplate(maker),
  }),
  'dashboardTemplates.remove': async (maker) => ({ params: { templateId: (await dashboardFrom(maker)).id } }),
  'datasets.create': ({ word }) => ({
    body: { collection: word('shop'), dataset: word('web'), tags: { env: 'prod' }, retention: 'DAYS_90' },
  }),
  'datasets.get': async (maker) => ({ params: { datasetId: await maker.dataset() } }),
  'datasets.update': async (maker) => ({
    params: { datasetId: await maker.dataset() },
    body: { collection: maker.word(), dataset: maker.word() },
  }),
  'datasets.remove': async (maker) => ({ params: { datasetId: await maker.dataset() } }),
  'insights.get': async (maker) => ({ params: { insightId: await insightOn(maker) } }),
  'rehydrations.create': async (maker) => ({ body: await rehydration(maker) }),
  'rehydrations.get': async (maker) => ({ params: { rehydrationId: await keptRehydration(maker) } }),
  'rehydrations.files': async (maker) => ({ params: { rehydrationId: await keptRehydration(maker) } }),
  'rehydrations.cancel': async (maker) => ({ params: { rehydrationId: await keptRehydration(maker) } }),
  'sources.create': async (maker) => ({ body: await source(maker) }),
  'sources.test': (maker) => ({ body: { origin: directoryOf(maker) } }),
  'sources.get': async (maker) => ({ params: { sourceId: await keptSource(maker) } }),
  'sources.update': async (maker) => ({ params: { sourceId: await keptSource(maker) }, body: await source(maker) }),
  'sources.pause': async (maker) => ({ params: { sourceId: await keptSource(maker) } }),
  'sources.resume': async (maker) => ({ params: { sourceId: await keptSource(maker) } }),
  'sources.remove': async (maker) => ({ params: { sourceId: await keptSource(maker) } }),
  'forwardConfigs.create': async (maker) => ({ body: await forwardConfig(maker) }),
  'forwardConfigs.test': () => ({ body: BUCKET }),
  'forwardConfigs.update': async (maker) => ({ params: { forwardId: await keptForwardConfig(maker) }, body: await forwardConfig(maker) }),
  'forwardConfigs.remove': async (maker) => ({ params: { forwardId: await keptForwardConfig(maker) } }),
  'integrations.createWebhook': ({ word }) => ({ body: webhook(word('hook')) }),
  'integrations.updateWebhook': async (maker) => ({ params: { webhookId: await maker.webhook() }, body: webhook(maker.word('hook')) }),
  'integrations.removeWebhook': async (maker) => ({ params: { webhookId: await maker.webhook() } }),
  'integrations.testWebhook': async (maker) => ({ params: { webhookId: await maker.webhook() } }),
  'integrations.createSlack': async (maker) => ({ body: await chat(maker) }),
  'integrations.updateSlack': async (maker) => ({
    params: { slackId: (await maker.made('/integrations/slack', await chat(maker))).id },
    body: await chat(maker),
  }),
  'integrations.removeSlack': async (maker) => ({ params: { slackId: (await maker.made('/integrations/slack', await chat(maker))).id } }),
  'integrations.createSlackWorkspace': ({ word }) => ({ body: { name: word('workspace'), token: 'token-of-a-bot' } }),
  'integrations.removeSlackWorkspace': async (maker) => ({ params: { workspaceId: await workspace(maker) } }),
  'integrations.createEmailTemplate': ({ word }) => ({ body: emailTemplate(word('mail')) }),
  'integrations.updateEmailTemplate': async (maker) => ({
    params: { emailId: (await maker.made('/integrations/email', emailTemplate(maker.word('mail')))).id },
    body: emailTemplate(maker.word('mail')),
  }),
  'integrations.removeEmailTemplate': async (maker) => ({
    params: { emailId: (await maker.made('/integrations/email', emailTemplate(maker.word('mail')))).id },
  }),
  'downtimes.create': ({ word }) => ({ body: downtime(word('downtime')) }),
  'downtimes.get': async (maker) => ({ params: { downtimeId: await maker.downtime() } }),
  'downtimes.update': async (maker) => ({ params: { downtimeId: await maker.downtime() }, body: downtime(maker.word('downtime')) }),
  'downtimes.remove': async (maker) => ({ params: { downtimeId: await maker.downtime() } }),
  'assistants.explainError': async (maker) => ({ query: await sentEvent(maker) }),
  'assistants.proposeWidget': () => ({ query: 'userRequest=errors%20over%20time' }),
  'configAssistant.create': ({ word }) => ({ body: agentWish(word('web')) }),
  'configAssistant.modify': ({ word }) => ({
    body: { agent: 'vector', config: 'sources: {}\n', changes: { dataset: word('web') } },
  }),
  'configAssistant.validate': () => ({ body: { agent: 'vector', config: 'sources: {}\n' } }),
  'configAssistant.get': async (maker) => ({
    params: { configId: (await maker.made('/config-assistant/configs', agentWish(maker.word('web')))).id },
  }),
  'contentPacks.preview': async (maker) => ({
    params: { packId: 'access-logs' },
    body: { dataset_id: await maker.dataset(), parameters: { status: 'status' }, time_range: 'Last 1 hour' },
  }),
  'contentPacks.install': async (maker) => ({
    params: { packId: 'access-logs' },
    body: {
      dataset_id: await maker.dataset(),
      parameters: { status: 'status', path: 'path', errors: 3 },
      monitors: ['server-errors'],
      actions: [{ email: 'oncall@example.org' }],
    },
  }),
  'customer.update': ({ word }) => ({ body: { customer_name: word('customer'), billing_emails: ['bills@example.org'] } }),
  'sso.createIdp': (maker) => ({ body: idpRequest(maker, 'https://provider.example') }),
  'sso.idp': async (maker) => ({ params: { name: await keptIdp(maker) } }),
  'sso.updateIdp': async (maker) => ({ params: { name: await keptIdp(maker) }, body: { identifiers: ['example.org', 'example.net'] } }),
  'sso.removeIdp': async (maker) => ({ params: { name: await keptIdp(maker) } }),
  'sso.createMapping': () => ({ body: { provider_key: 'groups', provider_value: 'sre', assign_attr: 'Standard' } }),
  'sso.updateMapping': async (maker) => ({
    body: { id: await keptMapping(maker), provider_key: 'groups', provider_value: 'ops', assign_attr: 'ReadOnly' },
  }),
  'sso.removeMapping': async (maker) => ({ query: `id=${await keptMapping(maker)}` }),
  'sso.preview': async (maker) => ({ body: { idp: await keptIdp(maker), claims: { groups: ['sre'] } } }),
  'signOn.providers': () => ({ body: { email: 'ada@example.org' } }),
  'signOn.start': async (maker) => ({ body: { provider: (await signOnProvider(maker)).id } }),
  'signOn.finish': signOnAnswer,
  'signOn.logout': async (maker) => ({ token: (await maker.person()).token }),
  'encryptionKeys.create': ({ word }) => ({ body: encryptionKey(word('key')) }),
  'encryptionKeys.get': async (maker) => ({ params: { keyId: await keptEncryptionKey(maker) } }),
  'encryptionKeys.update': async (maker) => ({
    params: { keyId: await keptEncryptionKey(maker) },
    body: { name: maker.word('key'), status: 'ACTIVE' },
  }),
  'encryptionKeys.remove': async (maker) => ({ params: { keyId: await keptEncryptionKey(maker) } }),
  'exports.create': async (maker) => ({ body: exportOrder(await maker.dataset()) }),
  'exports.get': async (maker) => ({ params: { exportId: await keptExport(maker) } }),
  'exports.remove': async (maker) => ({ params: { exportId: await keptExport(maker) } }),
  'exports.download': finishedExport,
  'groups.create': ({ word }) => ({ body: { name: word('group'), description: 'Who is on call' } }),
  'groups.get': async (maker) => ({ params: { groupId: await maker.group() } }),
  'groups.update': async (maker) => ({ params: { groupId: await maker.group() }, body: { name: maker.word('group') } }),
  'groups.remove': async (maker) => ({ params: { groupId: await maker.group() } }),
  'groups.members': async (maker) => ({ params: { groupId: await maker.group() } }),
  'groups.addMembers': async (maker) => ({ params: { groupId: await maker.group() }, body: await members(maker) }),
  'groups.removeMembers': async (maker) => {
    const [groupId, body] = [await maker.group(), await members(maker)]
    await maker.org.ask('POST', `/groups/${groupId}/members`, { body })
    return { params: { groupId }, body }
  },
  'ingestion.send': ({ word }) => ({ raw: JSON.stringify({ message: word('hello'), level: 'info' }) }),
  'ingestion.otlpLogs': ({ word }) => ({
    raw: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: word('hello') } }] }] }] }),
  }),
  'ingestion.otlpTraces': ({ word }) => ({
    raw: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ name: word('span') }] }] }] }),
  }),
  'ingestion.otlpMetrics': () => ({ raw: JSON.stringify({ resourceMetrics: [] }) }),
  'ingestion.sendTo': ({ word }) => ({
    params: { collection: word('shop'), dataset: word('web') },
    raw: JSON.stringify({ message: word('hello'), level: 'info' }),
  }),
  'limits.create': ({ org }) => ({ body: limit(org.orgId) }),
  'limits.get': async (maker) => ({ params: { limitId: await newLimit(maker) } }),
  'limits.update': async (maker) => ({ params: { limitId: await newLimit(maker) }, body: { value: 2_000_000 } }),
  'limits.remove': async (maker) => ({ params: { limitId: await newLimit(maker) } }),
  'limits.usage': async (maker) => ({ params: { limitId: await newLimit(maker) } }),
  'logs.create': ({ word }) => ({ body: { logset: word('shop'), log: word('web') } }),
  'logs.get': async (maker) => ({ params: { logId: await maker.dataset() } }),
  'logs.update': async (maker) => ({ params: { logId: await maker.dataset() }, body: { dataset: maker.word('web') } }),
  'logs.remove': async (maker) => ({ params: { logId: await maker.dataset() } }),
  'logs.monitors': async (maker) => ({ params: { logId: await maker.dataset() } }),
  'logs.dashboards': async (maker) => ({ params: { logId: await maker.dataset() } }),
  'notifications.sendTest': async (maker) => {
    const { name, queries } = await monitor(maker)
    const actions = [{ integration_id: await maker.webhook() }]
    const definition = { name, queries, comparison_operator: 'ABOVE', threshold: 10, window: 'Last 5 minutes' }
    return { body: { ...definition, actions, state_transitions: ['ALERT', 'ALERT_RECOVERY'] } }
  },
  'notifications.suggest': () => ({ body: { number_of_suggestions: 2, suggestion_fields: ['NAME'] } }),
  'monitors.backtest': async (maker) => ({ body: { ...(await monitor(maker)), days: 1 } }),
  'monitorTemplates.create': async (maker) => ({ body: await monitorTemplate(maker) }),
  'monitorTemplates.get': async (maker) => ({ params: { templateId: await keptMonitorTemplate(maker) } }),
  'monitorTemplates.update': async (maker) => ({
    params: { templateId: await keptMonitorTemplate(maker) },
    body: await monitorTemplate(maker),
  }),
  'monitorTemplates.remove': async (maker) => ({ params: { templateId: await keptMonitorTemplate(maker) } }),
  'monitors.create': async (maker) => ({ body: { ...(await monitor(maker)), mute_until: -1, tags: { team: 'payments' } } }),
  'monitors.get': async (maker) => ({ params: { monitorId: await keptMonitor(maker) } }),
  'monitors.update': async (maker) => ({ params: { monitorId: await keptMonitor(maker) }, body: await monitor(maker) }),
  'monitors.remove': async (maker) => ({ params: { monitorId: await keptMonitor(maker) } }),
  'monitors.status': async (maker) => ({ params: { monitorId: await keptMonitor(maker) }, body: { mute_until: -1 } }),
  'monitors.mute': async (maker) => ({ params: { monitorId: await keptMonitor(maker) }, body: { mute_until: 0 } }),
  'monitors.events': async (maker) => ({ params: { monitorId: await keptMonitor(maker) } }),
  'monitors.notifications': async (maker) => ({ params: { monitorId: await keptMonitor(maker) } }),
  'monitors.evaluations': async (maker) => ({ params: { monitorId: await keptMonitor(maker) } }),
  'metrics.get': ({ app }) => ({ key: app.managementKey }),
  'organizations.create': ({ app, word }) => ({ key: app.managementKey, body: { name: word('organisation') } }),
  'organizations.get': ({ org }) => ({ params: { orgId: org.orgId } }),
  'organizations.update': ({ org }) => ({ params: { orgId: org.orgId }, body: { description: 'Made for the laws' } }),
  'spend.set': () => ({ body: { price: { currency: 'EUR', per_gb: 2.5, per_gb_day: 0.01 }, budget: { amount: 500, unit: 'MONEY' } } }),
  'lineTimes.get': async (maker) => ({ params: { datasetId: await maker.dataset() } }),
  'lineTimes.set': async (maker) => ({
    params: { datasetId: await maker.dataset() },
    body: { format: 'YYMMDD hh:mm:ss', word: 1, timezone: 'Europe/Berlin' },
  }),
  'lineTimes.remove': async (maker) => {
    const datasetId = await maker.dataset()
    await maker.org.ask('PUT', `/datasets/${datasetId}/line-time`, { body: { format: 'epoch' } })
    return { params: { datasetId } }
  },
  'lineTimes.preview': async (maker) => ({ params: { datasetId: await maker.dataset() } }),
  'parsers.create': async (maker) => ({
    body: {
      log_id: await maker.dataset(),
      name: maker.word('parser'),
      description: 'Reads what the till says',
      pattern: '%{WORD:verb} %{INT:n}',
    },
  }),
  'parsers.update': async (maker) => ({ params: { parserId: await parser(maker) }, body: { enabled: true, name: maker.word('parser') } }),
  'parsers.remove': async (maker) => ({ params: { parserId: await parser(maker) } }),
  'parsers.assigned': async (maker) => {
    const datasetId = await maker.dataset()
    await maker.org.ask('PUT', `/datasets/${datasetId}/parser`, { body: { parser_id: await parser(maker) } })
    return { params: { datasetId } }
  },
  'parsers.assign': async (maker) => ({ params: { datasetId: await maker.dataset() }, body: { parser_id: await parser(maker) } }),
  'parsers.unassign': async (maker) => ({ params: { datasetId: await maker.dataset() } }),
  'parsers.test': () => ({ body: { pattern: '%{WORD:verb} %{INT:n}', lines: ['sold 7', 'nothing'] } }),
  'parsers.detect': () => ({ body: { lines: ['level=info msg=hello'] } }),
  'secondFactor.get': async (maker) => ({ token: (await maker.person()).token }),
  'secondFactor.begin': async (maker) => {
    const { token, password } = await maker.person()
    return { token, body: { password } }
  },
  'secondFactor.confirm': async (maker) => {
    const { token, password } = await maker.person()
    const { secret } = (await maker.org.ask<{ secret: string }>('POST', '/auth/second-factor', { token, body: { password } })).body
    return { token, body: { code: codeAt(secret, maker.app.clock.nowMs()) } }
  },
  'secondFactor.remove': async (maker) => {
    const person = await maker.person()
    const [code] = await withSecondFactor(maker, person)
    return { token: person.token, body: { password: person.password, code } }
  },
  'sessions.list': async (maker) => ({ token: (await maker.person()).token }),
  'sessions.remove': async (maker) => {
    const { email, password, token } = await maker.person()
    await maker.org.ask('POST', '/auth/login', { body: { email, password } })
    const { sessions } = (await maker.org.ask<{ sessions: { id: string; is_current: boolean }[] }>('GET', '/auth/sessions', { token })).body
    return { token, params: { sessionId: sessions.find((session) => !session.is_current)?.id ?? '' } }
  },
  'sessions.endOthers': async (maker) => ({ token: (await maker.person()).token }),
  'personalKeys.list': async (maker) => ({ token: (await maker.person()).token }),
  'personalKeys.create': async (maker) => ({
    token: (await maker.person()).token,
    body: { name: maker.word(), roles: ['SearchApi'], ttl: 3600, allowed_addresses: ['127.0.0.0/8', '::1'] },
  }),
  'personalKeys.rotate': async (maker) => ({ ...(await personalKey(maker)), body: { overlap: 3600 } }),
  'personalKeys.endPrevious': async (maker) => {
    const named = await personalKey(maker)
    await maker.org.ask('POST', `/auth/api-keys/${named.params.apiKeyId}/rotate`, { token: named.token, body: {} })
    return named
  },
  'personalKeys.remove': personalKey,
  'policies.create': async (maker) => ({ body: await policy(maker) }),
  'policies.preview': async (maker) => ({ body: { ...(await policy(maker)), time_range: 'Last 1 hour' } }),
  'policies.get': async (maker) => ({ params: { policyId: await maker.policy() } }),
  'policies.update': async (maker) => ({ params: { policyId: await maker.policy() }, body: await policy(maker) }),
  'policies.remove': async (maker) => ({ params: { policyId: await maker.policy() } }),
  'policies.ofResource': async (maker) => ({ params: { resource_type: 'dataset', resource_id: await maker.dataset() } }),
  'policies.ofPrincipal': async (maker) => ({ params: { principal_type: 'APIKEY', principal_id: await maker.apiKey() } }),
  'retention.ofDataset': async (maker) => ({ params: { datasetId: await maker.dataset() } }),
  'lookupTables.create': async (maker) => ({ body: lookupTable(maker) }),
  'lookupTables.get': async (maker) => ({ params: { tableId: await keptLookupTable(maker) } }),
  'lookupTables.update': async (maker) => ({ params: { tableId: await keptLookupTable(maker) }, body: { description: 'Who works where' } }),
  'lookupTables.rows': async (maker) => ({ params: { tableId: await keptLookupTable(maker) } }),
  'lookupTables.replaceRows': async (maker) => ({
    params: { tableId: await keptLookupTable(maker) },
    raw: 'id,name\n1,Ann',
    headers: { 'content-type': 'text/csv' },
  }),
  'lookupTables.remove': async (maker) => ({ params: { tableId: await keptLookupTable(maker) } }),
  'ingestRules.create': async (maker) => ({ body: await ingestRule(maker) }),
  'ingestRules.get': async (maker) => ({ params: { ruleId: await keptIngestRule(maker) } }),
  'ingestRules.versions': async (maker) => ({ params: { ruleId: await keptIngestRule(maker) } }),
  'ingestRules.update': async (maker) => ({
    params: { ruleId: await keptIngestRule(maker) },
    body: { name: maker.word('rule'), from: [await maker.dataset()], action: { type: 'SAMPLE', keep: 0.5, key: 'trace_id' } },
  }),
  'ingestRules.reorder': async (maker) => {
    await keptIngestRule(maker)
    const { body } = await maker.org.ask<{ ingest_rules: { id: string }[] }>('GET', '/ingest-rules')
    return { body: { rule_ids: body.ingest_rules.map(({ id }) => id).toReversed() } }
  },
  'ingestRules.remove': async (maker) => ({ params: { ruleId: await keptIngestRule(maker) } }),
  'ingestRules.preview': async (maker) => ({
    body: { from: [await maker.dataset()], where: "level = 'debug'", action: { type: 'DROP' } },
  }),
  'retentionRules.create': async (maker) => ({ body: ruleOf(await maker.dataset()) }),
  'retentionRules.update': async (maker) => {
    const body = ruleOf(await maker.dataset())
    const { id } = await maker.made('/retention-rules', body)
    return { params: { ruleId: id }, body: { ...body, retention: 'DAYS_365' } }
  },
  'retentionRules.remove': async (maker) => ({
    params: { ruleId: (await maker.made('/retention-rules', ruleOf(await maker.dataset()))).id },
  }),
  'roles.create': ({ word }) => ({ body: { role_type: 'API', display_name: word('role'), permissions: ['logs_read', 'search_read'] } }),
  'roles.get': async (maker) => ({ params: { roleId: await maker.role() } }),
  'roles.update': async (maker) => ({
    params: { roleId: await maker.role() },
    body: { role_type: 'USER', display_name: maker.word('role'), permissions: ['logs_read', 'usage_read'] },
  }),
  'roles.remove': async (maker) => ({ params: { roleId: await maker.role() } }),
  'traces.find': async (maker) => {
    await sentSpan(maker)
    return { query: 'durations=true' }
  },
  'traces.differences': async (maker) => {
    await sentSpan(maker)
    return { query: 'min_duration=1ns' }
  },
  'traces.operations': async (maker) => {
    await sentSpan(maker)
    return {}
  },
  'traces.get': async (maker) => ({ params: { traceId: await tracedEvent(maker) } }),
  'context.get': async (maker) => ({ query: `from=${await maker.dataset()}&timestamp=1795262400000` }),
  'metricDefinitions.create': async (maker) => ({ body: await metricDefinition(maker) }),
  'metricDefinitions.get': async (maker) => ({ params: { metricId: await keptMetricDefinition(maker) } }),
  'metricDefinitions.update': async (maker) => ({
    params: { metricId: await keptMetricDefinition(maker) },
    body: await metricDefinition(maker),
  }),
  'metricDefinitions.remove': async (maker) => ({ params: { metricId: await keptMetricDefinition(maker) } }),
  'metricDefinitionTemplates.create': ({ word }) => ({ body: metricTemplate(word('errors of')) }),
  'metricDefinitionTemplates.get': async (maker) => ({ params: { templateId: await keptMetricTemplate(maker) } }),
  'metricDefinitionTemplates.update': async (maker) => ({
    params: { templateId: await keptMetricTemplate(maker) },
    body: metricTemplate(maker.word('errors of')),
  }),
  'metricDefinitionTemplates.remove': async (maker) => ({ params: { templateId: await keptMetricTemplate(maker) } }),
  'timeseries.get': async (maker) => ({ params: { metricDefinitionId: await keptMetricDefinition(maker) }, query: 'delta=true' }),
  'timeseries.search': async (maker) => ({
    body: { ...(await metricDefinition(maker)), time_range: { natural: 'Last 1 hour' }, delta: { enabled: true } },
  }),
  'liveTail.start': async (maker) => ({ body: { from: [await maker.dataset()], where: "level = 'error'" } }),
  'liveTail.poll': async (maker) => ({ query: `job_id=${await watching(maker)}` }),
  'liveTail.stream': async (maker) => ({ query: `job_id=${await watching(maker)}&seconds=1` }),
  'changes.find': async (maker) => ({ body: { from: [await maker.dataset()], where: 'error' } }),
  'patterns.find': async (maker) => ({ body: { search_details: { from: [await maker.dataset()], where: 'error' } } }),
  'patterns.values': async (maker) => ({ body: { id: '00ff00ff00ff00ff', search_details: { from: [await maker.dataset()] } } }),
  'topKeys.get': async (maker) => ({ query: `log_id=${await maker.dataset()}` }),
  'topKeys.sample': async (maker) => ({ body: { from: [await maker.dataset()], where: 'error' } }),
  'notebooks.create': ({ word }) => ({ body: { ...notebook, name: word('notebook') } }),
  'notebooks.get': async (maker) => ({ params: { notebookId: await keptNotebook(maker) } }),
  'notebooks.update': async (maker) => ({ params: { notebookId: await keptNotebook(maker) }, body: { name: maker.word('notebook') } }),
  'notebooks.remove': async (maker) => ({ params: { notebookId: await keptNotebook(maker) } }),
  'savedSearches.create': ({ word }) => ({ body: { ...savedSearch, name: word('search') } }),
  'savedSearches.get': async (maker) => ({ params: { savedSearchId: await keptSavedSearch(maker) } }),
  'savedSearches.update': async (maker) => ({
    params: { savedSearchId: await keptSavedSearch(maker) },
    body: { name: maker.word('search') },
  }),
  'savedSearches.remove': async (maker) => ({ params: { savedSearchId: await keptSavedSearch(maker) } }),
  'savedSearchTemplates.create': ({ word }) => ({ body: searchTemplate(word('search of')) }),
  'savedSearchTemplates.get': async (maker) => ({ params: { templateId: await keptSearchTemplate(maker) } }),
  'savedSearchTemplates.update': async (maker) => ({
    params: { templateId: await keptSearchTemplate(maker) },
    body: searchTemplate(maker.word('search of')),
  }),
  'savedSearchTemplates.remove': async (maker) => ({ params: { templateId: await keptSearchTemplate(maker) } }),
  'datasetKeys.resolve': () => ({ body: { keys: ['level'], time_range: 'Last 1 hour' } }),
  'search.get': async (maker) => ({ query: `from=${await maker.dataset()}&where=level:error` }),
  'search.run': async (maker) => ({ body: { from: [await maker.dataset()], select: ['*'], time_range: 'Last 2 hours' } }),
  'search.status': async (maker) => ({ params: { statusId: await asynchronous(maker) } }),
  'search.cancel': async (maker) => ({ params: { statusId: await asynchronous(maker) } }),
  'statements.replace': (maker) => ({ body: statements(maker) }),
  'statements.list': async (maker) => ({ query: `project_id=${encodeURIComponent((await keptStatements(maker)).project_id)}` }),
  'statements.get': async (maker) => ({ params: { statementId: (await keptStatements(maker)).statements[0]?.id ?? '' } }),
  'tags.create': async (maker) => ({ body: { name: 'team', value: 'payments', entity: { type: 'log', id: await maker.dataset() } } }),
  'tags.update': async (maker) => ({ body: { name: 'team', value: 'shipping', entity: await tagged(maker) } }),
  'tags.remove': async (maker) => ({ body: { name: 'team', entity: await tagged(maker) } }),
  'users.create': ({ word }) => ({
    body: { first_name: 'Grace', last_name: 'Hopper', email: `${word('g').replace(' ', '')}@example.org`, roles: ['ReadOnly'] },
  }),
  'users.get': async (maker) => ({ params: { userId: (await maker.invited()).id } }),
  'users.update': async (maker) => ({ params: { userId: (await maker.invited()).id }, body: { first_name: 'Grace', roles: ['ReadOnly'] } }),
  'users.remove': async (maker) => ({ params: { userId: (await maker.invited()).id } }),
  'users.deactivate': async (maker) => ({ params: { userId: (await maker.person()).id } }),
  'users.reactivate': async (maker) => {
    const { id } = await maker.person()
    await maker.org.ask('POST', `/users/${id}/deactivate`)
    return { params: { userId: id } }
  },
  'users.resendInvite': async (maker) => ({ params: { userId: (await maker.invited()).id } }),
  'users.removeSecondFactor': async (maker) => {
    const person = await maker.person()
    await withSecondFactor(maker, person)
    return { params: { userId: person.id } }
  },
  'users.endSessions': async (maker) => ({ params: { userId: (await maker.person()).id } }),
  'users.resetPassword': async (maker) => ({ params: { userId: (await maker.person()).id } }),
  'users.preferences': async (maker) => ({ params: { userId: (await maker.invited()).id } }),
  'users.updatePreferences': async (maker) => ({ params: { userId: (await maker.invited()).id }, body: { timezone: 'Europe/Dublin' } }),
  'users.access': async (maker) => ({ params: { userId: (await maker.invited()).id } }),
  'widgets.create': async (maker) => ({ body: { ...widget(maker.word('widget')), metric_ids: [await keptMetricDefinition(maker)] } }),
  'widgets.get': async (maker) => ({ params: { widgetId: await keptWidget(maker) } }),
  'widgets.update': async (maker) => ({ params: { widgetId: await keptWidget(maker) }, body: widget(maker.word('widget')) }),
  'widgets.change': async (maker) => ({ params: { widgetId: await keptWidget(maker) }, body: { name: maker.word('widget') } }),
  'widgets.remove': async (maker) => ({ params: { widgetId: await keptWidget(maker) } }),
  'widgets.addWidgets': async (maker) => ({
    params: { widgetId: await keptWidget(maker) },
    body: { widget_ids: [await keptWidget(maker)] },
  }),
  'widgets.removeWidget': async (maker) => {
    const childId = await keptWidget(maker)
    const { id } = await maker.made('/widgets', { ...widget(maker.word('frame')), widget_ids: [childId] })
    return { params: { widgetId: id, childId } }
  },
  'widgets.data': async (maker) => {
    const body = { ...widget(maker.word('widget')), metric_ids: [await keptMetricDefinition(maker)] }
    return { params: { widgetId: (await maker.made('/widgets', body)).id }, body: { time_range: 'Last 1 hour' } }
  },
  'widgetTemplates.create': async (maker) => ({ body: await widgetTemplate(maker) }),
  'widgetTemplates.get': async (maker) => ({ params: { templateId: await keptWidgetTemplate(maker) } }),
  'widgetTemplates.update': async (maker) => ({
    params: { templateId: await keptWidgetTemplate(maker) },
    body: await widgetTemplate(maker),
  }),
  'widgetTemplates.remove': async (maker) => ({ params: { templateId: await keptWidgetTemplate(maker) } }),
  'users.groups': async (maker) => ({ params: { userId: (await maker.invited()).id } }),
}

const entity = async (maker: Maker) => ({ orgId: maker.org.orgId, entityType: 'user', entityId: (await maker.invited()).id })

const ingestRule = async (maker: Maker) => ({
  name: maker.word('rule'),
  description: 'Never store addresses',
  from: [await maker.dataset()],
  where: "level = 'info'",
  action: { type: 'REDACT', kinds: ['EMAIL'], expressions: [{ pattern: 'pin \\d+', ignore_case: true }], replacement: '***' },
})

const lookupTable = (maker: Maker) => ({ name: maker.word('table'), description: 'Who works where', key: 'id', csv: 'id,name\n1,Ann\n' })

const keptLookupTable = async (maker: Maker): Promise<string> => (await maker.made('/lookup-tables', lookupTable(maker))).id

const keptIngestRule = async (maker: Maker): Promise<string> => (await maker.made('/ingest-rules', await ingestRule(maker))).id

const parser = async (maker: Maker): Promise<string> =>
  (await maker.made('/parsers', { log_id: await maker.dataset(), pattern: '%{WORD:verb} %{INT:n}' })).id

const members = async (maker: Maker) => ({
  members: [
    { member_id: (await maker.invited()).id, member_type: 'USER' },
    { member_id: await maker.group(), member_type: 'GROUP' },
  ],
})

const downtime = (name: string) => ({
  name,
  description: 'Every change is loud',
  from: ['7d0c1b1e-0000-4000-8000-000000000001'],
  static_time_range: { from: 1_800_000_000_000, to: 1_800_000_600_000 },
})

const workspace = async (maker: Maker): Promise<string> =>
  (await maker.made('/integrations/slack/workspaces', { name: maker.word('workspace'), token: 'token-of-a-bot' })).id

const chat = async (maker: Maker) => ({ name: maker.word('chat'), channels: ['#on-call'], workspace_id: await workspace(maker) })

const emailTemplate = (name: string) => ({ name, payload: '$title\n\n$description' })

const webhook = (name: string) => ({
  name,
  // Nothing answers under this name.
  url: 'https://hooks.invalid/in',
  custom_headers: { 'x-team': 'ops' },
  payload: '{"text": "$title"}',
})

/** Nobody has configured credentials for it. */
const BUCKET = { destination_type: 'S3', bucket: 'archive', prefix: 'dendro' }

const forwardConfig = async (maker: Maker) => ({
  name: maker.word('archive'),
  all_logs: false,
  log_ids: [await maker.dataset()],
  filter: 'level = error',
  compression: 'ZSTD',
  destination: BUCKET,
})

const keptForwardConfig = async (maker: Maker): Promise<string> => (await maker.made('/forward-configs', await forwardConfig(maker))).id

/** Tests open such a directory to each organization. */
const directoryOf = ({ org }: Maker) => ({ kind: 'DIRECTORY', directory: `/var/empty/${org.orgId}/logs`, files: '*.log' })

const rehydration = async (maker: Maker) => ({
  log_id: await maker.dataset(),
  origin: { kind: 'DIRECTORY', directory: `/var/empty/${maker.org.orgId}/archive` },
})

const keptRehydration = async (maker: Maker): Promise<string> => (await maker.made('/rehydrations', await rehydration(maker))).id

const source = async (maker: Maker) => ({
  name: maker.word('files'),
  log_id: await maker.dataset(),
  origin: directoryOf(maker),
})

const keptSource = async (maker: Maker): Promise<string> => (await maker.made('/sources', await source(maker))).id

const ruleOf = (datasetId: string) => ({
  entity: 'LOG',
  category: 'DATASET_RETENTION',
  retention: 'DAYS_90',
  scope: { from: `log:${datasetId}` },
})

const limit = (orgId: string, team = randomUUID()) => ({
  category: 'INGESTION_LIMITS',
  value: 10 ** 12,
  unit: 'BYTES',
  target: 'TEAM',
  scope: { organisation: { id: orgId }, tag: { team } },
  time_window: 'PER_MONTH',
  description: 'What the team may send',
})

const newLimit = async (maker: Maker): Promise<string> => (await maker.made('/limits', limit(maker.org.orgId))).id

const policy = async (maker: Maker) => ({
  policy_type: 'LOG_FORBID',
  resource: { resource_type: 'LOG', resource_id: await maker.dataset() },
  actions: ['*'],
  principal: { principal_type: 'APIKEY', principal_id: await maker.apiKey() },
})

const metricDefinition = async (maker: Maker) => ({
  queries: [
    { name: 'errors', select: ['count(*)'], from: [await maker.dataset()], where: "level = 'error'", groups: ['level'] },
    { name: 'ms', select: ['ms'], from_expr: '*', where: '', aggregation: [{ time: 'p95', reduce_to: 'max' }] },
  ],
  formulas: [{ name: 'both', expression: 'errors + ms' }],
})

async function keptMetricDefinition(maker: Maker): Promise<string> {
  return (await maker.made('/metrics/definitions', await metricDefinition(maker))).id
}

const metricTemplate = (name: string) => ({
  name,
  description: 'Of one service',
  queries: [{ name: 'errors', select: ['count(*)'], from_expr: '*', where: "level = 'error' AND service = '{{service}}'" }],
  parameters: { service: { type: 'STRING', description: 'As it calls itself' } },
})

const keptMetricTemplate = async (maker: Maker): Promise<string> =>
  (await maker.made('/metrics/definitions/templates', metricTemplate(maker.word('errors of')))).id

const widget = (name: string) => ({
  name,
  description: 'What goes wrong',
  type: 'bar',
  tags: { team: 'payments' },
})

const keptWidget = async (maker: Maker): Promise<string> => (await maker.made('/widgets', widget(maker.word('widget')))).id

const dashboard = (name: string) => ({ name, description: 'The shop', tags: { team: 'payments' } })

const keptDashboard = async (maker: Maker): Promise<string> => (await maker.made('/dashboards', dashboard(maker.word('board')))).id

const ofService = { parameters: { service: { type: 'STRING' } } }
const sameService = { service: { input: 'service' } }

const widgetTemplate = async (maker: Maker) => ({
  ...ofService,
  name: 'Errors of {{service}}',
  metrics: [{ id: await keptMetricTemplate(maker), arguments: sameService }],
})

const keptWidgetTemplate = async (maker: Maker): Promise<string> => (await maker.made('/widgets/templates', await widgetTemplate(maker))).id

const dashboardTemplate = async (maker: Maker) => ({
  ...ofService,
  name: 'Board of {{service}}',
  widgets: [{ id: await keptWidgetTemplate(maker), arguments: sameService }],
  this_template_tags: { log_type: 'json' },
})

const dashboardFrom = async (maker: Maker) => ({
  id: (await maker.made('/dashboards/templates', await dashboardTemplate(maker))).id,
  arguments: { service: { literal: 'till' } },
})

const searchTemplate = (name: string) => ({
  name,
  search_details: { from_expr: "environment = '{{env}}'", where: "level = 'error'" },
  this_template_tags: { log_type: 'json' },
  parameters: { env: { type: 'STRING' } },
})

const keptSearchTemplate = async (maker: Maker): Promise<string> =>
  (await maker.made('/saved-searches/templates', searchTemplate(maker.word('search of')))).id

const monitor = async (maker: Maker) => ({
  name: maker.word('monitor'),
  description: 'Tells when the till fails',
  comparison_operator: 'ABOVE',
  threshold: 10,
  warning_threshold: 5,
  window: 'Last 5 minutes',
  actions: [{ email: 'oncall@example.org' }],
  ...(await metricDefinition(maker)),
  group_retention: 60_000,
  monitor_type: 'CHANGE_DETECTION',
  compare_to: '1 hour ago',
})

const monitorTemplate = async (maker: Maker) => ({
  name: maker.word('template'),
  comparison_operator: 'ABOVE',
  threshold: '{{level}}',
  window: 'Last 5 minutes',
  metric: { id: (await maker.made('/metrics/definitions/templates', { name: 'errors', description: '', queries: [plainQuery] })).id },
  this_template_tags: { log_type: 'web' },
  parameters: { level: { type: 'DOUBLE' } },
})
const plainQuery = { name: 'errors', select: ['count(*)'], from_expr: '*', where: '' }

async function keptMonitorTemplate(maker: Maker): Promise<string> {
  return (await maker.made('/monitors/templates', await monitorTemplate(maker))).id
}

async function keptMonitor(maker: Maker): Promise<string> {
  return (await maker.made('/monitors', await monitor(maker))).id
}

const watching = async (maker: Maker): Promise<string> =>
  (await maker.made<{ job_id: string }>('/live-tail', { from: [await maker.dataset()] })).job_id

/** Sends an event and returns its location. */
async function sentEvent({ org, word }: Maker): Promise<string> {
  const dataset = word('web').replace(' ', '-')
  const headers = { 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  await org.ask('POST', '/ingest', { raw: JSON.stringify({ message: 'broken', level: 'error' }), headers })
  const body = { from_expr: `dataset = '${dataset}'`, select: ['*'], where: '', time_range: 'Last 1 hour', limit: 1 }
  const { events } = (await org.ask<{ events: { metadata: { service_id: string; context: string } }[] }>('POST', '/search', { body })).body
  const { service_id, context } = events[0]?.metadata ?? { service_id: '', context: 'http://nowhere' }
  const place = new URL(context).searchParams
  return `timestamp=${place.get('timestamp')}&sequence=${place.get('sequence')}&logId=${service_id}`
}

/** Sends an event of a new trace and returns the id of the trace. */
async function tracedEvent({ app, org, word }: Maker): Promise<string> {
  const traceId = app.app.world.ids.uuid().replaceAll('-', '')
  const headers = { 'x-service-dataset': word('web').replace(' ', '-'), 'content-type': 'application/x-ndjson' }
  await org.ask('POST', '/ingest', { raw: JSON.stringify({ message: 'traced', trace_id: traceId }), headers })
  return traceId
}

const agentWish = (dataset: string) => ({ agent: 'fluent-bit', sources: [{ kind: 'docker' }], collection: 'shop', dataset })

const encryptionKey = (name: string) => ({
  name,
  provider: 'AWS_KMS',
  aws_kms: { alias_arn: 'arn:aws:kms:eu-west-1:123456789012:alias/logs' },
})

const keptEncryptionKey = async (maker: Maker): Promise<string> =>
  (await maker.made('/encryption-keys', encryptionKey(maker.word('key')))).id

/** Statements of a new project, so that they are new. */
const statements = (maker: Maker) => {
  const id = maker.app.app.world.ids.correlation().slice(0, 16)
  const statements = [{ id, message: 'paid {}', file: 'src/till.ts', line: 7 }]
  return { project_id: maker.word('project'), repo_url: 'https://code.invalid/till', version: '1.0.0', statements }
}

async function keptStatements(maker: Maker): Promise<ReturnType<typeof statements>> {
  const set = statements(maker)
  await maker.made('/statements', set)
  return set
}

const exportOrder = (datasetId: string) => ({ search_details: { from: [datasetId], time_range: 'Last 1 hour', where: "level = 'error'" } })

const keptExport = async (maker: Maker): Promise<string> =>
  (await maker.made<{ export_id: string }>('/exports', exportOrder(await maker.dataset()))).export_id

async function finishedExport(maker: Maker): Promise<Ask> {
  const exportId = await keptExport(maker)
  const location = await vi.waitFor(async () => {
    const { body } = await maker.org.ask<{ location: string }>('GET', `/exports/${exportId}`)
    return body.location || Promise.reject(new Error('the export is not complete'))
  }, 120_000)
  return { params: { exportId }, query: new URL(location).search.slice(1) }
}

const savedSearch = { name: 'Errors', search_details: { from_expr: "environment = 'prod'", where: "level = 'error'" } }

const notebook = { name: 'Outage', steps: [{ title: 'Errors', words: 'They began at noon.', search_details: savedSearch.search_details }] }

const keptNotebook = async (maker: Maker): Promise<string> => (await maker.made('/notebooks', notebook)).id

const keptSavedSearch = async (maker: Maker): Promise<string> => (await maker.made('/saved-searches', savedSearch)).id

/** A finished asynchronous search; a very quick one is answered at once, without an id. */
async function asynchronous(maker: Maker): Promise<string> {
  const { meta } = maker.app.app.world
  const all = () =>
    meta.all<{ id: string; ended_at: number | null }>(sql`select id, ended_at from searches where org_id = ${maker.org.orgId}`)
  const earlier = new Set((await all()).map(({ id }) => id))
  await maker.made('/search', { from: [await maker.dataset()], select: ['*'], async_enabled: true })
  // Another caller may have started earlier ones.
  const own = async () => (await all()).find(({ id, ended_at }) => ended_at !== null && !earlier.has(id))?.id
  return vi.waitFor(async () => (await own()) ?? Promise.reject(new Error('the search has not ended')), 240_000)
}

async function tagged(maker: Maker): Promise<{ type: string; id: string }> {
  const entity = { type: 'log', id: await maker.dataset() }
  await maker.made('/tags', { name: 'team', value: 'payments', entity })
  return entity
}

/** Exceptions to the laws, each with its reason. A key is `<endpoint>` or `<endpoint>.<parameter>`. */

/** Endpoints that answer something other than 404 for unknown records. */
export const answersUnknown: Readonly<Record<string, string>> = {
  'access.revoke.entityId': 'nothing granted is no error',
  'access.grant.entityId': 'an unknown entity is 400',
  'access.check.entityId': 'who is unknown is not authorised',
  'exports.download.exportId': 'a link that nobody signed is 403',
  'ingestion.sendTo.collection': 'the first event brings a dataset into being',
  'ingestion.sendTo.dataset': 'the first event brings a dataset into being',
  'policies.ofResource.resource_type': 'a question with an empty answer',
  'policies.ofResource.resource_id': 'a question with an empty answer',
  'policies.ofPrincipal.principal_id': 'a question with an empty answer',
}

/** These change nothing although they are no GET. */
export const changesNothing: Readonly<Record<string, string>> = {
  'agentInterface.send': 'the example lists tools; tests of the tools check their records',
  'ingestion.send': 'events are no changes',
  'ingestion.sendTo': 'events are no changes',
  'ingestion.otlpLogs': 'events are no changes',
  'ingestion.otlpTraces': 'events are no changes',
  'ingestion.otlpMetrics': 'metrics are not kept',
  'configAssistant.validate': 'a question',
  'ingestRules.preview': 'a trial is not kept',
  'policies.preview': 'a trial is not kept',
  'parsers.test': 'a trial is not kept',
  'sso.preview': 'a question',
  'signOn.providers': 'a question',
  'signOn.start': 'a login that has only begun changes nothing',
  'parsers.detect': 'a question',
  'search.run': 'a question is no change',
  'datasetKeys.resolve': 'a question is no change',
  'changes.find': 'a question is no change',
  'patterns.find': 'a question is no change',
  'patterns.values': 'a question is no change',
  'topKeys.sample': 'a question is no change',
  'liveTail.start': 'watching is no change',
  'timeseries.search': 'a question is no change',
  'search.cancel': 'a question is no change',
  'widgets.data': 'a question is no change',
  'contentPacks.preview': 'nothing is kept',
  'dashboards.preview': 'nothing is kept',
  'sources.test': 'a trial is not kept',
  'forwardConfigs.test': 'a probe is sent and not kept',
  'integrations.testWebhook': 'a test is sent and not kept',
  'monitors.backtest': 'a question',
  'notifications.sendTest': 'a test changes nothing',
  'notifications.suggest': 'a question',
}

/** An insight on a new dataset, as an evaluation stores it. */
async function insightOn({ app, org, dataset }: Maker): Promise<string> {
  const [id, logId] = [randomUUID(), await dataset()]
  const times = { since_ms: 1_700_000_000_000, seen_ms: 1_700_000_000_000, modified_at: 1_700_000_000_000 }
  const action = { label: 'Look at the fields', link: `/app/data?id=${logId}&part=keys` }
  const entity = { org_id: org.orgId, id, subject: logId, entity_type: 'log', entity_id: logId } as const
  await upsertInsights(app.app.world.meta, [
    { ...entity, name: 'fields_exploded', evidence: 'The dataset has 90 keys, before 20.', confidence: 'high', action, ...times },
  ])
  return id
}

/** Endpoints that show limited callers records with names of hidden datasets. */
/** Sends the span of a new trace. */
async function sentSpan({ app, org }: Maker): Promise<void> {
  const { ids, clock } = app.app.world
  const nano = `${clock.nowMs()}000000`
  const span = {
    traceId: ids.uuid().replaceAll('-', ''),
    spanId: ids.uuid().replaceAll('-', '').slice(0, 16),
    name: 'traced',
    startTimeUnixNano: nano,
    endTimeUnixNano: nano,
  }
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'traced' } }] }
  const raw = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] })
  await org.ask('POST', '/v1/traces', { raw, headers: { 'content-type': 'application/json' } })
}

export const seenInSpiteOfPolicies: Readonly<Record<string, string>> = {
  'policies.create': 'who manages policies decides about all datasets',
  'policies.preview': 'who manages policies decides about all datasets',
  'policies.get': 'who manages policies sees all of them',
  'policies.update': 'who manages policies sees all of them',
  'policies.remove': 'who manages policies sees all of them',
  'policies.ofResource': 'who manages policies sees all of them',
}

/** The examples of these use datasets hidden from a caller who is limited to one collection. */
export const unfitForLimited: Readonly<Record<string, string>> = {
  'assistants.explainError': 'its event goes to a dataset of another collection',
  'traces.get': 'its event goes to a dataset of another collection',
}
