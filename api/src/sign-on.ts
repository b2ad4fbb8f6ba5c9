import { z } from 'zod'
import { Login } from './auth.ts'
import { endpoint } from './endpoint.ts'
import { text, uuid } from './values.ts'

const ANSWER_LENGTH_MAX = 8_000

/** Single sign-on in a browser. A cookie binds the steps to one browser. */
export const signOn = {
  providers: endpoint({
    method: 'POST',
    path: '/auth/sso/providers',
    permission: 'public',
    tier: 'D',
    summary: 'List the identity providers for the domain of an e-mail address',
    body: z.object({ email: text(0, 1_000) }),
    reply: z.object({ providers: z.array(z.object({ id: uuid, name: z.string() })) }),
  }),
  start: endpoint({
    method: 'POST',
    path: '/auth/sso/start',
    permission: 'public',
    tier: 'D',
    summary: 'Begin single sign-on: get the address of the identity provider, and a cookie for this browser',
    body: z.object({ provider: uuid }),
    reply: z.object({ url: z.string() }),
    fails: [404, 503],
  }),
  finish: endpoint({
    method: 'POST',
    path: '/auth/sso/finish',
    permission: 'public',
    tier: 'D',
    summary: 'Complete single sign-on with the answer of the identity provider to get a bearer token',
    description: 'Needs the cookie of the start. An answer counts once, within 10 minutes.',
    body: z.object({ answer: text(1, ANSWER_LENGTH_MAX).describe('The query string of the address to which the provider redirected.') }),
    reply: Login,
    fails: [503],
  }),
  logout: endpoint({
    method: 'POST',
    path: '/auth/sso/logout',
    permission: 'any',
    tier: 'D',
    summary:
      'End the bearer token of this request and the others of its sign-on, and get the address where the browser ends the session at the identity provider',
    reply: z.object({
      url: z.string().optional().describe('Absent if the session is not by an identity provider, or if the provider has no such address.'),
    }),
  }),
}
