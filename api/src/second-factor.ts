import { z } from 'zod'
import { password } from './auth.ts'
import { endpoint } from './endpoint.ts'
import { text } from './values.ts'

const CODE_LENGTH_MAX = 40
const secondFactorCode = text(0, CODE_LENGTH_MAX)

/** The second factor of the calling user, for logins with a password. */
export const secondFactor = {
  get: endpoint({
    method: 'GET',
    path: '/auth/second-factor',
    permission: 'any',
    tier: 'D',
    summary: 'Whether your logins with a password need a code',
    reply: z.object({
      enabled: z.boolean(),
      recovery_codes_left: z.int().min(0).optional().describe('How many recovery codes you have not used; absent while it is off.'),
    }),
  }),
  begin: endpoint({
    method: 'POST',
    path: '/auth/second-factor',
    permission: 'any',
    tier: 'D',
    summary: 'Begin to set up a second factor: get a secret for an authenticator app',
    description:
      'It is off until a first code is confirmed. Calling this again replaces the secret. Users without a password have none: their provider asks for it.',
    body: z.object({ password }),
    reply: z.object({
      secret: z.string().describe('The secret in base 32, to be typed.'),
      address: z.string().describe('The same as an `otpauth:` address, for a QR code.'),
    }),
    fails: [409],
  }),
  confirm: endpoint({
    method: 'POST',
    path: '/auth/second-factor/confirm',
    permission: 'any',
    tier: 'D',
    summary: 'Switch the second factor on with a first code; the response shows recovery codes this once only',
    body: z.object({ code: secondFactorCode }),
    reply: z.object({ recovery_codes: z.array(z.string()).describe('Each replaces a code once.') }),
  }),
  remove: endpoint({
    method: 'POST',
    path: '/auth/second-factor/remove',
    permission: 'any',
    tier: 'D',
    summary: 'Switch the second factor off',
    body: z.object({ password, code: secondFactorCode }),
    fails: [404],
  }),
}
