/** Stands for a stored secret, which the service does not return. Sent back, it keeps the secret. */
export const STORED_SECRET = '***'

/** The fields that have a text; the service has defaults for the others. */
export const filled = <Name extends string>(fields: Readonly<Record<Name, string>>): Partial<Record<Name, string>> =>
  Object.fromEntries(
    Object.entries<string>(fields).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()]])),
  ) as Partial<Record<Name, string>>
