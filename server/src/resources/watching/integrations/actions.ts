import { badField } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { type NamedRow, selectNamed } from './rows.ts'

/** An Action is one way in which a monitor notifies: a mail to an address, or what an integration does. */
export type Action = {
  readonly type: 'EMAIL' | 'INTEGRATION'
  readonly email?: string | undefined
  readonly integration_id?: string | undefined
}

/** A Target is one place that a notification goes to; `destination` is what people call it. */
export type Target = {
  readonly type: 'EMAIL' | 'SLACK' | 'WEBHOOK'
  readonly destination: string
  /** integration_id is the webhook, the chat integration or the e-mail template. */
  readonly integration_id?: string
}

/** checkActions refuses actions that name what is not there, or what does not do what they want; `field` is where they stand in the body. */
export async function checkActions(db: Db, orgId: string, actions: readonly Action[], field = 'actions'): Promise<void> {
  const named = await namedBy(db, orgId, actions)
  for (const [at, { type, integration_id }] of actions.entries()) {
    if (!integration_id) continue
    const kind = named.get(integration_id.toLowerCase())?.kind
    if (kind === undefined) throw badField(`${field}.${at}.integration_id`, 'names no integration', 'UNKNOWN')
    if (type === 'EMAIL' && kind !== 'mail_template')
      throw badField(`${field}.${at}.integration_id`, 'must name an e-mail template when there is an address')
    if (type === 'INTEGRATION' && kind === 'mail_template')
      throw badField(`${field}.${at}.integration_id`, 'names an e-mail template, which wants an address')
  }
}

/** targetsOf lists the places that actions reach; an integration that is gone stays in the list, so that it can be told that nothing was sent. */
export async function targetsOf(db: Db, orgId: string, actions: readonly Action[]): Promise<Target[]> {
  const named = await namedBy(db, orgId, actions)
  return actions.flatMap(({ type, email, integration_id }): Target[] => {
    const id = integration_id ? { integration_id: integration_id.toLowerCase() } : {}
    if (type === 'EMAIL') return [{ type: 'EMAIL', destination: email ?? '', ...id }]
    const found = named.get(id.integration_id ?? '')
    if (found?.kind === 'chat') return (found.channels ?? []).map((channel): Target => ({ type: 'SLACK', destination: channel, ...id }))
    return [{ type: 'WEBHOOK', destination: found?.name ?? integration_id ?? '', ...id }]
  })
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function namedBy(db: Db, orgId: string, actions: readonly Action[]): Promise<ReadonlyMap<string, NamedRow>> {
  const ids = actions.map(({ integration_id }) => integration_id?.toLowerCase() ?? '').filter((id) => UUID.test(id))
  const rows = ids.length === 0 ? [] : await selectNamed(db, orgId, [...new Set(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}
