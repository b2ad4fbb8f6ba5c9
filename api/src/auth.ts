import { z } from 'zod'
import { ApiKey } from './api-keys.ts'
import { endpoint } from './endpoint.ts'
import { User } from './users.ts'
import { Identity, sec, uuid } from './values.ts'

const TOKEN_LENGTH_MAX = 200
/** Setting a password applies more rules; this bounds only its size. */
const PASSWORD_LENGTH_MAX = 1000
export const password = z.string().max(PASSWORD_LENGTH_MAX, { error: `must be at most ${PASSWORD_LENGTH_MAX} characters` })

const CODE_LENGTH_MAX = 40
const code = z
  .string()
  .max(CODE_LENGTH_MAX, { error: `must be at most ${CODE_LENGTH_MAX} characters` })
  .optional()
  .describe('The code of the second factor, or a recovery code; only users with a second factor need it.')

export const Login = z
  .object({
    token: z.string().describe('The bearer token, a JWT.'),
    token_type: z.literal('Bearer'),
    expires_at: sec.describe('Unix seconds.'),
    user: User,
  })
  .meta({ id: 'Login' })
export type Login = z.output<typeof Login>

export const auth = {
  login: endpoint({
    method: 'POST',
    path: '/auth/login',
    permission: 'public',
    tier: 'X',
    summary: 'Log in with e-mail and password to get a bearer token',
    description:
      'Every failure has the same response, except that a right password without the code of a second factor has an error with the code SECOND_FACTOR_REQUIRED. Repeated failures slow responses down; too many from one network address get 429.',
    body: z.object({ email: z.string().max(PASSWORD_LENGTH_MAX), password, code }),
    reply: Login,
  }),
  acceptInvite: endpoint({
    method: 'POST',
    path: '/auth/accept-invite',
    permission: 'public',
    tier: 'X',
    summary: 'Set a password with a one-time link from an invitation or reset, and log in',
    description: 'The password has 12 to 128 characters and must not be a common one; there are no other rules.',
    body: z.object({ token: z.string().max(TOKEN_LENGTH_MAX), password, code }),
    reply: Login,
  }),
  logout: endpoint({
    method: 'POST',
    path: '/auth/logout',
    permission: 'any',
    tier: 'X',
    summary: 'End the bearer token of this request',
  }),
  changePassword: endpoint({
    method: 'POST',
    path: '/auth/password',
    permission: 'any',
    tier: 'D',
    summary: 'Change your own password; all your tokens end, and the response has a new one',
    body: z.object({ current_password: password, new_password: password }),
    reply: Login,
  }),
  me: endpoint({
    method: 'GET',
    path: '/auth/me',
    permission: 'any',
    tier: 'X',
    summary: "Get the caller's identity, roles and permissions",
    reply: z.object({
      type: Identity.shape.type,
      id: uuid,
      org_id: uuid,
      roles: z.array(z.string()),
      permissions: z.array(z.string()),
      user: User.optional(),
      api_key: ApiKey.optional(),
      provider: z.string().optional().describe('The name of the identity provider with which the session of this request was signed on.'),
      can_send_mail: z
        .boolean()
        .describe('Whether the service has a mail relay. Without one, invitations and notifications by e-mail are not sent.'),
    }),
  }),
}
