import { z } from 'zod'
import { ApiKey } from './api-keys.ts'
import { endpoint } from './endpoint.ts'
import { User } from './users.ts'
import { Identity, sec, uuid } from './values.ts'

const TOKEN_LENGTH_MAX = 200
/** A password is judged by its own rules when it is set; here only its size is bounded. */
const PASSWORD_LENGTH_MAX = 1000
const password = z.string().max(PASSWORD_LENGTH_MAX, { error: `must be at most ${PASSWORD_LENGTH_MAX} characters` })

const Login = z
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
    summary: 'Get a bearer token for an e-mail and a password',
    description:
      'Every failure has the same answer. Repeated failures make the answers slow, and beyond a large number from one network address 429.',
    body: z.object({ email: z.string().max(PASSWORD_LENGTH_MAX), password }),
    reply: Login,
  }),
  acceptInvite: endpoint({
    method: 'POST',
    path: '/auth/accept-invite',
    permission: 'public',
    tier: 'X',
    summary: 'Set a password with the one-time link of an invitation or a reset, and log in',
    description: 'The password has 12 to 128 characters and must not be a common one; there are no further rules on its make-up.',
    body: z.object({ token: z.string().max(TOKEN_LENGTH_MAX), password }),
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
    summary: 'Change the own password; all tokens of the user end and a fresh one is in the answer',
    body: z.object({ current_password: password, new_password: password }),
    reply: Login,
  }),
  me: endpoint({
    method: 'GET',
    path: '/auth/me',
    permission: 'any',
    tier: 'X',
    summary: 'Who the caller is and what the caller may do',
    reply: z.object({
      type: Identity.shape.type,
      id: uuid,
      org_id: uuid,
      roles: z.array(z.string()),
      permissions: z.array(z.string()),
      user: User.optional(),
      api_key: ApiKey.optional(),
    }),
  }),
}
