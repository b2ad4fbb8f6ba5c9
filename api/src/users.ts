import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { UserGroup } from './groups.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import { Organization } from './organizations.ts'
import { EndedSessions } from './sessions.ts'
import { lastOf, list, listParameter, Metadata, mapOf, sec, Tags, text, textParameter, uuid } from './values.ts'

export const UserStatus = z.enum(['INVITED', 'ACTIVE', 'INACTIVE', 'DEACTIVATED', 'MIGRATED', 'REMOVED'])
export type UserStatus = z.output<typeof UserStatus>

const LoginMethod = z.object({
  name: text(1, 255).describe('`Password`, or the name of an identity provider.'),
  enabled: z.boolean(),
})
export type LoginMethod = z.output<typeof LoginMethod>

const EMAIL_LENGTH_MAX = 254
const METHODS_MAX = 50

export const User = z
  .object({
    id: uuid,
    first_name: text(1, 255),
    last_name: text(1, 255),
    email: z.string(),
    roles: z.array(z.string()).describe('`Administrator`, `Standard`, `ReadOnly`, or ids of custom roles.'),
    last_logins: z.record(z.string(), sec).describe('The last login by each login method, in Unix seconds.'),
    login_methods: z.array(LoginMethod),
    tags: Tags,
    status: UserStatus,
    invited_at: sec.optional().describe('The latest invitation, in Unix seconds.'),
    invited_by: z
      .string()
      .optional()
      .describe(
        'The e-mail address of the latest inviter, or the name of the API key that invited; absent when an identity provider created the user.',
      ),
    metadata: Metadata,
  })
  .meta({ id: 'User' })
export type User = z.output<typeof User>

const MultiOrgUser = User.extend({ organisations: z.array(Organization), groups: z.array(UserGroup) }).meta({
  id: 'MultiOrgUser',
  description: 'A user with their organizations and the groups they belong to directly.',
})
export type MultiOrgUser = z.output<typeof MultiOrgUser>

const invitationUrl = z
  .string()
  .optional()
  .describe('The one-time link, if it could not be sent by mail. It is shown only once; give it to the user.')

const NewUser = z.object({
  first_name: text(1, 255),
  last_name: text(1, 255),
  email: z.email({ error: 'must be an e-mail address' }).max(EMAIL_LENGTH_MAX, { error: `must be at most ${EMAIL_LENGTH_MAX} characters` }),
  roles: list(text(1, 255), { min: 1, max: 100 }),
  tags: Tags.default({}),
  login_methods: z.array(LoginMethod).max(METHODS_MAX).optional(),
})

const UserChange = z
  .looseObject({
    first_name: text(1, 255).optional(),
    last_name: text(1, 255).optional(),
    roles: list(text(1, 255), { min: 1, max: 100 }).optional(),
    login_methods: z
      .union([z.array(LoginMethod).max(METHODS_MAX), LoginMethod, mapOf(z.boolean(), METHODS_MAX)])
      .optional()
      .describe('Merged by name with the existing methods; at least one must stay enabled.'),
  })
  .describe('Any subset. Users without the permission can change only their own names; other members are refused.')

const ids = list(uuid, { max: 1000 })
const favourites = z.strictObject({ monitors: ids.optional(), dashboards: ids.optional(), saved_searches: ids.optional() })
const FEATURES_MAX = 200
const features = mapOf(z.boolean(), FEATURES_MAX)
export const timezone = text(1, 100).refine(isTimezone, { error: 'must be the name of a time zone, such as Europe/Dublin' })
const scalars = {
  theme: z.enum(['light', 'dark', 'system']).optional(),
  preferred_org: uuid.optional(),
  timezone: timezone.optional().describe('A name of the IANA time zone database.'),
  filter_null_groups: z.enum(['true', 'false']).optional(),
}

const UserPreference = z
  .strictObject({
    preferences: z.strictObject({
      favourites: favourites.optional(),
      defaults: z.strictObject({ monitor: uuid.optional(), dashboard: uuid.optional() }).optional(),
      features: features.optional(),
      ...scalars,
    }),
  })
  .meta({ id: 'UserPreference' })
export type UserPreference = z.output<typeof UserPreference>

const PreferenceChange = z
  .strictObject({
    favourites: favourites.optional(),
    defaults: z.strictObject({ monitor: uuid.nullish(), dashboard: uuid.nullish() }).optional(),
    features: features.optional(),
    ...scalars,
  })
  .refine((change) => Object.values(change).filter((value) => value !== undefined).length === 1, {
    error: 'must have exactly one member',
  })
  .describe(
    'Exactly one member. In `favourites`, `defaults` and `features` the given members replace existing ones and the others stay; null clears a default.',
  )

const Sent = z.object({
  success: z.boolean(),
  message: z.string(),
  invitation_url: invitationUrl,
})

export const users = {
  list: endpoint({
    method: 'GET',
    path: '/users',
    permission: 'users_read',
    tier: 'S',
    summary: 'List the users of the organization, in every state',
    query: z.object({
      user_ids: listParameter(uuid).describe('Only these users.'),
      status: z.preprocess(lastOf, UserStatus.optional()).describe('Only users of this status.'),
      role: textParameter(255).describe('Only users that have this role themselves.'),
      ...pageParameters,
      sort: sortParameter([]),
    }),
    reply: z.object({ users: z.array(User), next_cursor: nextCursor }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/users',
    permission: 'users_write',
    tier: 'S',
    summary: 'Invite a user with a one-time link, valid for 7 days, by mail or in the response',
    body: NewUser,
    status: 201,
    reply: User.extend({ invitation_url: invitationUrl }),
    fails: [409],
  }),
  all: endpoint({
    method: 'GET',
    path: '/users/all',
    permission: 'users_read',
    tier: 'X',
    summary: "List the users of all organizations that the caller's organization manages, and its own",
    reply: z.object({ users: z.array(MultiOrgUser) }),
  }),
  get: endpoint({
    method: 'GET',
    path: '/users/{userId}',
    permission: 'users_read',
    exception: 'self',
    tier: 'C',
    summary: 'One user',
    reply: User,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/users/{userId}',
    permission: 'users_write',
    exception: 'self',
    tier: 'C',
    summary: 'Update the names, roles or login methods of a user; roles take effect with the next request',
    body: UserChange,
    reply: User,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/users/{userId}',
    permission: 'users_delete',
    tier: 'C',
    summary: 'Delete a user with access, memberships, preferences and tokens; their records stay',
    fails: [404, 409],
  }),
  deactivate: endpoint({
    method: 'POST',
    path: '/users/{userId}/deactivate',
    permission: 'users_write',
    tier: 'X',
    summary: 'Deactivate a user: all tokens end at once, and logging in is refused',
    reply: User,
    fails: [404, 409],
  }),
  reactivate: endpoint({
    method: 'POST',
    path: '/users/{userId}/reactivate',
    permission: 'users_write',
    tier: 'X',
    summary: 'Reactivate a user; users who never accepted their invitation become INVITED and need a new one',
    reply: User,
    fails: [404],
  }),
  resendInvite: endpoint({
    method: 'POST',
    path: '/users/{userId}/resend-invite',
    aliases: ['/users/{userId}/resend-invitation'],
    permission: 'users_write',
    tier: 'X',
    summary: 'Send a new invitation; the earlier link becomes invalid',
    reply: Sent,
    fails: [404],
  }),
  endSessions: endpoint({
    method: 'DELETE',
    path: '/users/{userId}/sessions',
    permission: 'users_write',
    tier: 'D',
    summary: 'End all sessions of a user, in all organizations, effective at once; the user may log in again',
    reply: EndedSessions,
    fails: [404],
  }),
  removeSecondFactor: endpoint({
    method: 'DELETE',
    path: '/users/{userId}/second-factor',
    permission: 'users_write',
    tier: 'D',
    summary: 'Remove the second factor of a user who has lost it; the password alone is enough until they set up another',
    fails: [404],
  }),
  resetPassword: endpoint({
    method: 'POST',
    path: '/users/{userId}/reset-password',
    permission: 'users_write',
    tier: 'D',
    summary: 'Send a user a one-time link to reset the password',
    reply: Sent,
    fails: [404],
  }),
  preferences: endpoint({
    method: 'GET',
    path: '/users/{userId}/preferences',
    permission: 'users_read',
    exception: 'self',
    tier: 'X',
    summary: 'Get the preferences of a user; empty when none are stored',
    reply: UserPreference,
    fails: [404],
  }),
  updatePreferences: endpoint({
    method: 'PATCH',
    path: '/users/{userId}/preferences',
    permission: 'users_write',
    exception: 'self',
    tier: 'X',
    summary: 'Update one of the preferences of a user',
    body: PreferenceChange,
    reply: UserPreference,
    fails: [404],
  }),
  access: endpoint({
    method: 'GET',
    path: '/users/{userId}/access',
    aliases: ['/users/{userId}/organizations'],
    permission: 'users_read',
    exception: 'self',
    tier: 'X',
    summary: 'List the organizations of a user',
    reply: z.object({ organisations: z.array(Organization) }),
    fails: [404],
  }),
  groups: endpoint({
    method: 'GET',
    path: '/users/{userId}/groups',
    aliases: ['/groups/members/{userId}'],
    permission: 'users_read',
    exception: 'self',
    tier: 'X',
    summary: 'List the groups that a user belongs to directly',
    reply: z.object({ groups: z.array(UserGroup) }),
    fails: [404],
  }),
}

/** Excludes offsets such as +01:00, which some runtimes accept: they have no daylight saving time. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
