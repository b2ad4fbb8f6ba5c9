import { notFound } from '../../../kernel/errors.ts'
import type { ScimObject } from './attribute-path.ts'
import { COUNT_MAX } from './list-response.ts'
import { GROUP_SCHEMA } from './scim-groups.ts'
import { USER_SCHEMA } from './user-resource.ts'

const CORE = 'urn:ietf:params:scim:schemas:core:2.0'

const metaOf = (base: string, resourceType: string, path: string) => ({ resourceType, location: `${base}/scim/v2/${path}` })

/** What of the protocol the service supports. */
export const serviceConfig = (base: string): ScimObject => ({
  schemas: [`${CORE}:ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: COUNT_MAX },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    { type: 'oauthbearertoken', name: 'Bearer token', description: 'An API key with the role ProvisioningApi.', primary: true },
  ],
  meta: metaOf(base, 'ServiceProviderConfig', 'ServiceProviderConfig'),
})

export const resourceTypes = (base: string): ScimObject[] =>
  [
    { id: 'User', endpoint: '/Users', schema: USER_SCHEMA },
    { id: 'Group', endpoint: '/Groups', schema: GROUP_SCHEMA },
  ].map((type) => ({
    schemas: [`${CORE}:ResourceType`],
    ...type,
    name: type.id,
    meta: metaOf(base, 'ResourceType', `ResourceTypes/${type.id}`),
  }))

type Trait = { multiValued?: true; required?: true; caseExact?: true; mutability?: 'readOnly'; uniqueness?: 'server' }

const attribute = (name: string, type: string, trait: Trait = {}, subAttributes?: readonly object[]) => ({
  name,
  type,
  multiValued: trait.multiValued ?? false,
  required: trait.required ?? false,
  caseExact: trait.caseExact ?? false,
  mutability: trait.mutability ?? 'readWrite',
  returned: 'default',
  uniqueness: trait.uniqueness ?? 'none',
  ...(subAttributes ? { subAttributes } : {}),
})

const text = (name: string, trait?: Trait) => attribute(name, 'string', trait)

const schemaOf = (base: string, id: string, name: string, attributes: readonly object[]): ScimObject => ({
  schemas: [`${CORE}:Schema`],
  id,
  name,
  attributes,
  meta: metaOf(base, 'Schema', `Schemas/${id}`),
})

/** The attributes that the service uses. It keeps and returns all others of users too. */
export const schemas = (base: string): ScimObject[] => [
  schemaOf(base, USER_SCHEMA, 'User', [
    text('userName', { required: true, uniqueness: 'server' }),
    text('externalId', { caseExact: true }),
    attribute('name', 'complex', {}, [text('givenName'), text('familyName'), text('formatted')]),
    text('displayName'),
    attribute('emails', 'complex', { multiValued: true }, [text('value'), text('type'), attribute('primary', 'boolean')]),
    attribute('active', 'boolean'),
    attribute('groups', 'complex', { multiValued: true, mutability: 'readOnly' }, [
      text('value', { mutability: 'readOnly' }),
      text('display', { mutability: 'readOnly' }),
    ]),
  ]),
  schemaOf(base, GROUP_SCHEMA, 'Group', [
    text('displayName', { required: true, uniqueness: 'server' }),
    text('externalId', { caseExact: true }),
    attribute('members', 'complex', { multiValued: true }, [text('value'), text('display', { mutability: 'readOnly' }), text('type')]),
  ]),
]

/** One of a list by its id. */
export function oneOf(noun: string, list: readonly ScimObject[], id: string): ScimObject {
  const found = list.find((one) => String(one.id).toLowerCase() === id.toLowerCase())
  if (!found) throw notFound(noun, id)
  return found
}
