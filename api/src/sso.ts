import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { list, Metadata, mapOf, text, textParameter, uuid } from './values.ts'

const NAME_LENGTH_MAX = 255
const DOMAINS_MAX = 100
const PAIRS_MAX = 20
const CLAIMS_MAX = 1_000
const METADATA_LENGTH_MAX = 200_000
const CLAIM_LENGTH_MAX = 10_000

const claimText = text(0, CLAIM_LENGTH_MAX)
const claim = z.union([claimText, z.number(), z.boolean(), list(claimText)])
const SESSION_MINUTES_MIN = 5
const SESSION_MINUTES_MAX = 720
/** Some providers nest what a person may do, such as `resource_access.app.roles`. */
const nestedClaim = z.union([claim, mapOf(z.union([claim, mapOf(claim, CLAIMS_MAX)]), CLAIMS_MAX)])
const params = z.object({ name: text(1, NAME_LENGTH_MAX) })

const domain = text(1, NAME_LENGTH_MAX)
  .toLowerCase()
  .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, { error: 'must be the domain of an e-mail address, such as example.org' })
const issuerUrl = text(1, 2_048).describe('The issuer, under which the provider publishes `.well-known/openid-configuration`.')
const AttributeMapping = z.object({ provider_attr: text(1, 255), user_attr: z.enum(['first_name', 'last_name', 'email']) })
const metadata = text(1, METADATA_LENGTH_MAX).describe('The SAML 2.0 metadata of the provider, an XML document. Required for SAML.')
const entityId = text(1, 1_024).describe(
  'The entity id by which a SAML provider knows Dendro; `urn:uuid:` and the id of the provider if absent.',
)
const roleNames = list(text(1, 255), { max: 100 })

const Idp = z
  .object({
    id: uuid,
    name: z.string(),
    provider_type: z.enum(['SAML', 'OIDC']),
    identifiers: z.array(z.string()).describe('E-mail domains whose users sign on with this provider.'),
    issuer_url: z.string().optional(),
    client_id: z.string().optional(),
    meta_cert: z.string().optional(),
    app_client_id: z.string().optional(),
    accept_idp_initiated: z.boolean(),
    attribute_mappings: z.array(AttributeMapping),
    scopes: z.string().optional(),
    default_roles: z.array(z.string()).describe('The roles of a user to whom no mapping gives one.'),
    is_required: z.boolean().describe('Refuses passwords to users with these e-mail domains, except the local administrator.'),
    local_administrator: uuid.optional(),
    session_minutes: z.int().optional(),
    deactivate_refused: z.boolean(),
    metadata: Metadata,
  })
  .meta({
    id: 'Idp',
    description: 'An identity provider. The client secret of OpenID Connect and the private key of SAML are never returned.',
  })
export type Idp = z.output<typeof Idp>

const IdpChange = z.object({
  identifiers: list(domain, { max: DOMAINS_MAX }).optional(),
  issuer_url: issuerUrl.optional(),
  client_id: text(1, 1_000).optional(),
  client_secret: text(1, 4_000).optional(),
  meta_cert: metadata.optional(),
  app_client_id: entityId.optional(),
  accept_idp_initiated: z
    .boolean()
    .describe(
      'Accepts answers that nobody asked for, from the page of a SAML provider. Then somebody else may sign a user on as themselves.',
    )
    .optional(),
  attribute_mappings: list(AttributeMapping, { max: PAIRS_MAX }).optional(),
  scopes: text(1, 1_000).describe('Of OpenID Connect, separated by blanks; `openid` and `email` are always requested.').optional(),
  default_roles: roleNames.optional(),
  is_required: z.boolean().optional(),
  local_administrator: uuid.optional(),
  session_minutes: z
    .int()
    .min(SESSION_MINUTES_MIN)
    .max(SESSION_MINUTES_MAX)
    .nullable()
    .describe(
      'How long a session lasts at most about which the provider cannot be asked again: of SAML, or without a refresh token. null: as long as the access token, or an hour.',
    )
    .optional(),
  deactivate_refused: z
    .boolean()
    .describe(
      'Deactivates a user whom a provider of OpenID Connect refuses when it is asked again. The user comes back by signing on. Some providers also refuse when a session has been idle.',
    )
    .optional(),
})

const Mapping = z
  .object({
    id: uuid,
    provider_key: text(1, 255).describe('The claim of the provider, such as `groups`.'),
    provider_value: text(1, 1_000).describe('The value of the claim, or one value of a list.'),
    assign_attr: text(1, 255).describe('A role, or `group:` and the id of a group.'),
    idp: text(1, NAME_LENGTH_MAX).optional().describe('The name of the provider; without it, the mapping holds for all.'),
  })
  .meta({ id: 'SsoMapping' })
export type SsoMapping = z.output<typeof Mapping>
const NewMapping = Mapping.omit({ id: true })

export const sso = {
  idps: endpoint({
    method: 'GET',
    path: '/sso/idps',
    permission: 'access_read',
    tier: 'X',
    summary: 'List the identity providers',
    reply: z.object({ idps: z.array(Idp) }),
  }),
  createIdp: endpoint({
    method: 'POST',
    path: '/sso/idps',
    permission: 'access_write',
    tier: 'X',
    summary: 'Add an identity provider (OpenID Connect or SAML 2.0)',
    description:
      'The caller must hold all permissions of an Administrator, because the provider says who a user is. OpenID Connect needs `issuer_url`, `client_id` and `client_secret`; SAML needs `meta_cert`. The metadata of Dendro for a SAML provider are at `/auth/saml/{id}/metadata`.',
    body: IdpChange.extend({
      name: text(1, NAME_LENGTH_MAX),
      provider_type: z.enum(['SAML', 'OIDC']),
    }),
    status: 201,
    reply: Idp,
    fails: [409],
  }),
  idp: endpoint({
    method: 'GET',
    path: '/sso/idps/{name}',
    permission: 'access_read',
    tier: 'X',
    summary: 'One identity provider',
    params,
    reply: Idp,
    fails: [404],
  }),
  updateIdp: endpoint({
    method: 'PATCH',
    path: '/sso/idps/{name}',
    permission: 'access_write',
    tier: 'X',
    summary: 'Change an identity provider',
    params,
    body: IdpChange,
    reply: Idp,
    fails: [404],
  }),
  removeIdp: endpoint({
    method: 'DELETE',
    path: '/sso/idps/{name}',
    permission: 'access_delete',
    tier: 'X',
    summary: 'Remove an identity provider with its mappings',
    params,
    fails: [404],
  }),
  mappings: endpoint({
    method: 'GET',
    path: '/sso/mappings',
    permission: 'access_read',
    tier: 'X',
    summary: 'List the mappings from claims to roles and groups',
    reply: z.object({ mappings: z.array(Mapping) }),
  }),
  createMapping: endpoint({
    method: 'POST',
    path: '/sso/mappings',
    permission: 'access_write',
    tier: 'X',
    summary: 'Add a mapping; it applies at the next sign-on',
    description: 'Callers map only to roles and groups whose permissions they hold.',
    body: NewMapping,
    status: 201,
    reply: Mapping,
  }),
  updateMapping: endpoint({
    method: 'PUT',
    path: '/sso/mappings',
    permission: 'access_write',
    tier: 'X',
    summary: 'Replace the mapping with this id',
    body: Mapping,
    reply: Mapping,
    fails: [404],
  }),
  removeMapping: endpoint({
    method: 'DELETE',
    path: '/sso/mappings',
    permission: 'access_delete',
    tier: 'X',
    summary: 'Remove the mapping with this id',
    query: z.object({ id: textParameter() }),
    fails: [404],
  }),
  preview: endpoint({
    method: 'POST',
    path: '/sso/preview',
    permission: 'access_read',
    tier: 'D',
    summary: 'Show which roles and groups a sign-on with these claims would get',
    body: z.object({ idp: text(1, NAME_LENGTH_MAX), claims: mapOf(nestedClaim, CLAIMS_MAX) }),
    reply: z.object({ roles: z.array(z.string()), groups: z.array(uuid) }),
    fails: [404],
  }),
}
