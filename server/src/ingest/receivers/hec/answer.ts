import type { Failure } from '../../../kernel/errors.ts'
import type { CredentialState, ReceiverReply } from '../../batch.ts'

/** A text and code of the protocol. */
export type HecStatus = { text: string; code: number }

export const hecReply = (
  status: number,
  body: HecStatus & Record<string, unknown>,
  headers: Readonly<Record<string, string>> = {},
): ReceiverReply => ({
  status,
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

export const NO_DATA: ReceiverReply = hecReply(400, { text: 'No data', code: 5 })

const invalid: HecStatus = { text: 'Invalid data format', code: 6 }
const busy: HecStatus = { text: 'Server is busy', code: 9 }
const tooLarge: HecStatus = { text: 'Request entity too large', code: 27 }

/** The codes of credentials: one is missing, in the wrong form, unknown, or without the permission. */
const credentialReplies = {
  absent: hecReply(401, { text: 'Token is required', code: 2 }),
  malformed: hecReply(401, { text: 'Invalid authorization', code: 3 }),
  present: hecReply(403, { text: 'Invalid token', code: 4 }),
}

export function failureReply({ status, headers }: Failure, credential: CredentialState = 'present'): ReceiverReply {
  if (status === 401) return credentialReplies[credential]
  if (status === 403) return credentialReplies.present
  if (status === 413) return hecReply(status, tooLarge, headers)
  return hecReply(status, status === 429 || status >= 500 || status === 408 || status === 409 ? busy : invalid, headers)
}
