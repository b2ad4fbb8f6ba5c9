import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { ms, uuid } from './values.ts'

const Session = z
  .object({
    id: uuid,
    org_id: uuid.describe('The organization in which the session acts.'),
    is_current: z.boolean().describe('Whether this request belongs to the session.'),
    created_at: ms,
    expires_at: ms,
    method: z.string().optional().describe('How the user logged in: `Password`, or the name of an identity provider.'),
    address: z.string().optional().describe('The network address of the login.'),
    user_agent: z.string().optional().describe('The program of the login, as it names itself.'),
    last_used_at: ms.optional().describe('When the session was last used, to the minute.'),
    last_used_address: z.string().optional().describe('The network address of that request.'),
  })
  .meta({ id: 'Session' })
export type Session = z.output<typeof Session>

export const EndedSessions = z
  .object({ ended: z.int().min(0).describe('The number of sessions that have ended.') })
  .meta({ id: 'EndedSessions' })

/** The sessions of the calling user. */
export const sessions = {
  list: endpoint({
    method: 'GET',
    path: '/auth/sessions',
    permission: 'any',
    tier: 'D',
    summary: 'List your sessions, newest first, in all organizations',
    description:
      'A session begins with a login and ends with a logout or after 12 hours. At most the newest 200 are listed. This needs a bearer token.',
    reply: z.object({ sessions: z.array(Session) }),
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/auth/sessions/{sessionId}',
    permission: 'any',
    tier: 'D',
    summary: 'End one of your sessions, effective at once',
    fails: [404],
  }),
  endOthers: endpoint({
    method: 'POST',
    path: '/auth/sessions/end-others',
    permission: 'any',
    tier: 'D',
    summary: 'End all your sessions but that of this request, effective at once',
    reply: EndedSessions,
  }),
}
