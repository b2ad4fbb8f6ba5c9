/** A FormTarget is a recipient of notifications in a form: an e-mail address or an integration. */
export type FormTarget = { email?: string; integration_id?: string }

/** actionsOf are the recipients without those that are still empty. */
export const actionsOf = (targets: readonly FormTarget[]): FormTarget[] =>
  targets.filter(({ email, integration_id }) => (email ?? '').trim() !== '' || integration_id !== undefined)
