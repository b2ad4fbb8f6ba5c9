import type { UserStatus } from '@dendro/api'
import { isObject } from '../../../kernel/json-object.ts'
import { memberOf, ownName, type ScimObject } from './attribute-path.ts'
import type { ScimUserRow } from './rows.ts'
import { ScimFailure } from './scim-failure.ts'

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'

/** A user as a directory describes them. */
export type DescribedUser = {
  user_name: string
  external_id: string | null
  email: string
  first_name: string
  last_name: string
  isActive: boolean | undefined
  attributes: ScimObject
}

const NAME_LENGTH_MAX = 255
const EMAIL_LENGTH_MAX = 254
const ATTRIBUTES_LENGTH_MAX = 64 * 1024
/** The service computes these. */
const READ_ONLY = ['schemas', 'id', 'meta', 'groups']
/** They have columns of their own. Passwords are neither used nor kept: users sign on with their provider. */
const ELSEWHERE = ['username', 'externalid', 'active', 'password']

/** Reads the resource that a directory sends. */
export function readUser(resource: ScimObject): DescribedUser {
  const user_name = requiredText(resource, 'userName')
  const name = memberOf(resource, 'name')
  if (name !== undefined && name !== null && !isObject(name)) throw invalid('name', 'must be an object')
  const email = emailOf(resource) ?? user_name
  if (email.length > EMAIL_LENGTH_MAX || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw invalid('emails', 'must have an e-mail address, or userName must be one')
  const named = isObject(name) ? name : {}
  const otherwise = textOf(resource, 'displayName') ?? textOf(named, 'formatted') ?? email.split('@')[0] ?? user_name
  return {
    user_name,
    external_id: textOf(resource, 'externalId') ?? null,
    email,
    first_name: textOf(named, 'givenName') ?? otherwise,
    last_name: textOf(named, 'familyName') ?? '-',
    isActive: activeOf(memberOf(resource, 'active')),
    attributes: attributesOf(resource),
  }
}

const invalid = (field: string, rule: string): ScimFailure => new ScimFailure('invalidValue', `${field} ${rule}`)

function requiredText(object: ScimObject, name: string): string {
  const value = textOf(object, name)
  if (value === undefined) throw invalid(name, 'is required')
  return value
}

/** A text; undefined if it is absent or empty. */
export function textOf(object: ScimObject, name: string): string | undefined {
  const value = memberOf(object, name)
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string' || value.includes('\0')) throw invalid(name, 'must be a text')
  if (value.length > NAME_LENGTH_MAX) throw invalid(name, `has at most ${NAME_LENGTH_MAX} characters`)
  return value.trim() === '' ? undefined : value
}

/** The primary address, or the first one. */
function emailOf(resource: ScimObject): string | undefined {
  const emails = memberOf(resource, 'emails')
  if (emails === undefined || emails === null) return undefined
  if (!Array.isArray(emails) || !emails.every(isObject)) throw invalid('emails', 'must be a list of objects')
  const chosen = emails.find((one) => isTrue(memberOf(one, 'primary'))) ?? emails[0]
  return chosen && textOf(chosen, 'value')
}

const isTrue = (value: unknown): boolean => value === true || (typeof value === 'string' && value.toLowerCase() === 'true')

/** Some providers send booleans as texts. */
function activeOf(value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (isTrue(value)) return true
  if (value === false || (typeof value === 'string' && value.toLowerCase() === 'false')) return false
  throw invalid('active', 'must be true or false')
}

function attributesOf(resource: ScimObject): ScimObject {
  const kept = Object.entries(resource).filter(([name]) => ![...READ_ONLY, ...ELSEWHERE].includes(name.toLowerCase()))
  const attributes = Object.fromEntries(kept)
  if (JSON.stringify(attributes).length > ATTRIBUTES_LENGTH_MAX)
    throw invalid('the resource', `has more than ${ATTRIBUTES_LENGTH_MAX} characters`)
  return attributes
}

/** Rejects changes of what the service computes. The same value is no change. */
export function checkReadOnly(before: ScimObject, after: ScimObject): void {
  for (const name of READ_ONLY) {
    if (JSON.stringify(memberOf(before, name)) !== JSON.stringify(memberOf(after, name)))
      throw new ScimFailure(
        'mutability',
        name === 'groups' ? 'groups is read-only; change the members of the group' : `${name} is read-only`,
      )
  }
}

const isActive = (status: UserStatus): boolean => status !== 'DEACTIVATED' && status !== 'REMOVED'

/** The resource that a directory reads. */
export function shownScimUser(row: ScimUserRow, groups: readonly { id: string; name: string }[], base: string): ScimObject {
  const { emails, name, ...attributes } = row.attributes ?? {}
  const extensions = Object.keys(attributes).filter((key) => key.toLowerCase().startsWith('urn:'))
  return {
    schemas: [USER_SCHEMA, ...extensions],
    id: row.id,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    displayName: `${row.first_name}${row.last_name === '-' ? '' : ` ${row.last_name}`}`,
    ...attributes,
    userName: row.user_name ?? row.email,
    name: { ...withoutNames(name), givenName: row.first_name, familyName: row.last_name },
    emails: Array.isArray(emails) && emails.length > 0 ? emails : [{ value: row.email, type: 'work', primary: true }],
    active: isActive(row.status),
    groups: groups.map(({ id, name: display }) => ({ value: id, display, $ref: `${base}/scim/v2/Groups/${id}` })),
    meta: {
      resourceType: 'User',
      created: new Date(row.created_at).toISOString(),
      lastModified: new Date(row.modified_at).toISOString(),
      location: `${base}/scim/v2/Users/${row.id}`,
    },
  }
}

/** The names of a user have columns, whatever the case in which a directory writes them. */
function withoutNames(name: unknown): ScimObject {
  if (!isObject(name)) return {}
  const kept = { ...name }
  for (const column of ['givenName', 'familyName']) {
    const own = ownName(kept, column)
    if (own !== undefined) delete kept[own]
  }
  return kept
}
