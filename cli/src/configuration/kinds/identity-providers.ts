import { type BodyInput, contract, type Idp, roleName } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type ConfigFields, type Kind, listOf, mapItems, type Problem, pick, SECRET, textOf, withMember } from '../kind.ts'

type Body = BodyInput<typeof contract.sso.createIdp>
type MappingBody = BodyInput<typeof contract.sso.createMapping>

const SCOPES = 'openid email profile'
const METADATA_BYTES_MAX = 1024 * 1024
/** The contract keeps absent members in an update; a document says all. */
const defaults = { identifiers: [], attribute_mappings: [], default_roles: [], session_minutes: null }

export const identityProviderKind: Kind = {
  name: 'identity_provider',
  file: 'identity-providers.yaml',
  members: [
    'name',
    'provider_type',
    'issuer_url',
    'client_id',
    'client_secret',
    'meta_cert',
    'app_client_id',
    'identifiers',
    'scopes',
    'attribute_mappings',
    'default_roles',
    'accept_idp_initiated',
    'is_required',
    'local_administrator',
    'session_minutes',
    'deactivate_refused',
  ],
  nameOf: ({ name }) => textOf(name),
  referredAs: { kind: 'identity_provider', prefix: '' },
  refersTo: ['role', 'user'],
  // Requests name a provider by its name.
  load: async ({ client, signal }) =>
    (await client.sso.idps({ signal })).idps.map((idp) => ({
      id: idp.name,
      parts: defaultEntityId(idp.id),
      fields: pick(
        idp.provider_type === 'OIDC' ? { ...idp, client_secret: SECRET } : withoutDefaultEntityId(idp),
        identityProviderKind.members,
      ),
    })),
  withReferences: (fields, map) =>
    withMember(
      withMember(fields, 'default_roles', (roles) =>
        mapItems(roles, (role, at) => (typeof role === 'string' ? map('role', roleName(role), ['default_roles', at]) : role)),
      ),
      'local_administrator',
      (user) => (typeof user === 'string' ? map('user', user, ['local_administrator']) : user),
    ),
  check: (given) => {
    const { fields, problems } = checkFields(contract.sso.createIdp.body, given)
    const complete: ConfigFields = {
      accept_idp_initiated: false,
      is_required: false,
      deactivate_refused: false,
      ...withMember(fields, 'identifiers', (domains) => [...new Set(listOf(domains))]),
      ...(given.provider_type === 'OIDC' ? { scopes: scopesOf(fields) } : {}),
    }
    return { fields: complete, problems: [...problems, ...protocolProblems(given)] }
  },
  // The contract cannot take the local administrator away.
  keeps: ['local_administrator'],
  neverChange: ['provider_type'],
  includes: { meta_cert: METADATA_BYTES_MAX },
  isSecret: ([member]) => member === 'client_secret',
  needsEnvironment: ([member]) => member === 'client_secret',
  removedWith: 'its mappings',
  create: async ({ client, signal }, fields, send) => (await send(() => client.sso.createIdp({ body: fields as Body, signal }))).name,
  update: async ({ client, signal }, { before, fields }, send) => {
    const { name: _, provider_type, ...rest } = { ...defaults, ...fields } as unknown as Body
    const body = provider_type === 'SAML' ? { app_client_id: textOf(before.parts), ...rest } : rest
    await send(() => client.sso.updateIdp({ params: { name: before.id }, body, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.sso.removeIdp({ params: { name: id }, signal })),
}

/** The entity id by which a SAML provider knows the service, unless the provider has another one. It is not the same in another organization. */
const defaultEntityId = (id: string): string => `urn:uuid:${id}`

function withoutDefaultEntityId({ app_client_id, ...idp }: Idp): ConfigFields {
  return app_client_id === defaultEntityId(idp.id) ? idp : { ...idp, app_client_id }
}

function scopesOf({ scopes }: ConfigFields): string {
  const given = textOf(scopes ?? SCOPES).split(/\s+/)
  return [...new Set(['openid', 'email', ...given.filter((scope) => scope !== '')])].join(' ')
}

const required = { OIDC: ['issuer_url', 'client_id', 'client_secret'], SAML: ['meta_cert'] } as const
const misplaced = {
  OIDC: ['meta_cert', 'app_client_id'],
  SAML: ['issuer_url', 'client_id', 'client_secret', 'scopes'],
} as const

/** The two protocols have different members. */
function protocolProblems(given: ConfigFields): Problem[] {
  const type = given.provider_type
  if (type !== 'OIDC' && type !== 'SAML') return []
  const other = type === 'OIDC' ? 'SAML' : 'OIDC'
  const onlyTrueOf = type === 'OIDC' ? 'accept_idp_initiated' : 'deactivate_refused'
  return [
    ...required[type].filter((member) => given[member] === undefined).map((member) => ({ path: [member], message: 'is required' })),
    ...misplaced[type]
      .filter((member) => given[member] !== undefined)
      .map((member) => ({ path: [member], message: `is only for ${other}` })),
    ...(given[onlyTrueOf] === true ? [{ path: [onlyTrueOf], message: `must be false for ${type}` }] : []),
  ]
}

const GROUP = 'group:'

/** A mapping is what its fields say, so that another value is another mapping. */
export const ssoMappingKind: Kind = {
  name: 'sso_mapping',
  file: 'sso-mappings.yaml',
  members: ['provider_key', 'provider_value', 'assign_attr', 'idp'],
  nameOf: ({ provider_key, provider_value, assign_attr, idp }) => {
    const pair = `${textOf(provider_key)}=${textOf(provider_value)} to ${roleName(textOf(assign_attr))}`
    return textOf(idp) === '' ? pair : `${pair} for ${textOf(idp)}`
  },
  refersTo: ['role', 'group', 'identity_provider'],
  load: async ({ client, signal }) =>
    (await client.sso.mappings({ signal })).mappings.map((mapping) => ({ id: mapping.id, fields: pick(mapping, ssoMappingKind.members) })),
  withReferences: (fields, map) =>
    withMember(
      withMember(fields, 'assign_attr', (given) => {
        if (typeof given !== 'string') return given
        if (given.startsWith(GROUP)) return GROUP + map('group', given.slice(GROUP.length), ['assign_attr'])
        return map('role', roleName(given), ['assign_attr'])
      }),
      'idp',
      (idp) => (typeof idp === 'string' ? map('identity_provider', idp, ['idp']) : idp),
    ),
  check: (fields) => checkFields(contract.sso.createMapping.body, fields),
  create: async ({ client, signal }, fields, send) =>
    (await send(() => client.sso.createMapping({ body: fields as MappingBody, signal }))).id,
  remove: ({ client, signal }, { id }, send) => send(() => client.sso.removeMapping({ query: { id }, signal })),
}
