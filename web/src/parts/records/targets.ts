/** A FormTarget is a recipient of notifications in a form: an e-mail address or an integration. */
export type FormTarget = { email?: string; integration_id?: string }

/**
 * firstTargets are the recipients of a new monitor: who creates it, by e-mail, or the first webhook or chat of a service that cannot send mail.
 */
export function firstTargets(canSendMail: boolean, email: string | undefined, integrations: readonly { id: string }[]): FormTarget[] {
  if (canSendMail) return [{ email: email ?? '' }]
  return integrations.slice(0, 1).map(({ id }) => ({ integration_id: id }))
}

/** The recipients without those that are still empty. */
export const actionsOf = (targets: readonly FormTarget[]): FormTarget[] =>
  targets.filter(({ email, integration_id }) => (email ?? '').trim() !== '' || integration_id !== undefined)
