import { badField } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { type IntegrationRow, selectIntegrations } from './rows.ts'

/** One way in which a monitor notifies: e-mail to an address, or an integration. */
export type NotificationAction = {
  readonly type: 'EMAIL' | 'INTEGRATION'
  readonly email?: string | undefined
  readonly integration_id?: string | undefined
}

/** One receiver of a notification; `destination` is its name for people. */
export type NotificationTarget = {
  readonly type: 'EMAIL' | 'SLACK' | 'WEBHOOK'
  readonly destination: string
  /** The id of the webhook, the chat integration or the e-mail template. */
  readonly integration_id?: string
}

/** Rejects actions that name a missing integration or one of the wrong type; `field` is their path in the body. */
export async function checkActions(db: Db, orgId: string, actions: readonly NotificationAction[], field = 'actions'): Promise<void> {
  const named = await integrationsById(db, orgId, actions)
  for (const [at, { type, integration_id }] of actions.entries()) {
    if (!integration_id) continue
    const kind = named.get(integration_id.toLowerCase())?.kind
    if (kind === undefined) throw badField(`${field}.${at}.integration_id`, 'names no integration', 'UNKNOWN')
    if (type === 'EMAIL' && kind !== 'mail_template')
      throw badField(`${field}.${at}.integration_id`, 'must name an e-mail template when there is an address')
    if (type === 'INTEGRATION' && kind === 'mail_template')
      throw badField(`${field}.${at}.integration_id`, 'names an e-mail template, which needs an address')
  }
}

/** Lists the receivers of actions. A deleted integration stays in the list, so that its notification is recorded as failed. */
export async function targetsOf(db: Db, orgId: string, actions: readonly NotificationAction[]): Promise<NotificationTarget[]> {
  const named = await integrationsById(db, orgId, actions)
  return actions.flatMap(({ type, email, integration_id }): NotificationTarget[] => {
    const id = integration_id ? { integration_id: integration_id.toLowerCase() } : {}
    if (type === 'EMAIL') return [{ type: 'EMAIL', destination: email ?? '', ...id }]
    const found = named.get(id.integration_id ?? '')
    if (found?.kind === 'chat')
      return (found.channels ?? []).map((channel): NotificationTarget => ({ type: 'SLACK', destination: channel, ...id }))
    return [{ type: 'WEBHOOK', destination: found?.name ?? integration_id ?? '', ...id }]
  })
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function integrationsById(
  db: Db,
  orgId: string,
  actions: readonly NotificationAction[],
): Promise<ReadonlyMap<string, IntegrationRow>> {
  const ids = actions.map(({ integration_id }) => integration_id?.toLowerCase() ?? '').filter((id) => UUID.test(id))
  const rows = ids.length === 0 ? [] : await selectIntegrations(db, orgId, [...new Set(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}
