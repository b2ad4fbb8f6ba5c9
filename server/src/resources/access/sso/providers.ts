import type { BodyOf, contract, Idp } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, conflict, notFound } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, removeRecord } from '../../records.ts'
import { checkGrant, lockRolesForGrant } from '../roles/roles.ts'
import { openSecret, type SecretPlace, sealSecret } from '../secrets/secrets.ts'
import { isLocalAdministrator, storedRoles } from '../users/users.ts'
import { isLoopback } from './addresses.ts'
import { deleteIdentitiesOf, deleteIdp, deleteSignOnsOf, type IdpRow, insertIdp, lockIdp, selectIdps, updateIdpRow } from './rows.ts'
import { defaultEntityId, newSamlKey, samlChanges } from './saml-provider.ts'

type NewIdp = BodyOf<typeof contract.sso.createIdp>
type IdpChange = BodyOf<typeof contract.sso.updateIdp>

const SCOPES = 'openid email profile'

export const allIdps = (world: MetaWorld, orgId: string): Promise<readonly IdpRow[]> =>
  world.meta.cached(orgId, 'sso idps', () => selectIdps(world.meta, orgId))

export const listIdps = async (world: MetaWorld, actor: Actor): Promise<Idp[]> => (await allIdps(world, actor.orgId)).map(shownIdp)

export async function findIdp(world: MetaWorld, actor: Actor, name: string): Promise<IdpRow> {
  const row = (await allIdps(world, actor.orgId)).find((candidate) => candidate.name === name)
  if (!row) throw notFound('identity provider', name)
  return row
}

export async function createIdp(world: World, actor: Actor, ask: NewIdp): Promise<Idp> {
  await checkMayManage(world, actor)
  const id = world.ids.uuid()
  const { secret, ...ofProtocol } = ask.provider_type === 'SAML' ? await samlDraft(world, id, ask) : oidcDraft(ask)
  const draft: IdpRow = {
    org_id: actor.orgId,
    id,
    name: ask.name,
    provider_type: ask.provider_type,
    identifiers: [],
    ...ofProtocol,
    client_secret: Buffer.alloc(0),
    accept_idp_initiated: false,
    attribute_mappings: [],
    default_roles: [],
    is_required: false,
    local_administrator: null,
    session_minutes: null,
    deactivate_refused: false,
    ...createdBy(actor, world.clock.nowMs()),
  }
  const row = { ...draft, ...(await checkedChange(world, actor, draft, ask)) }
  const insert = async (tx: Db, one: IdpRow): Promise<void> => {
    await lockRolesForGrant(tx, actor.orgId, one.default_roles)
    const sealed = await sealSecret(world, tx, placeOf(one), secret)
    if ((await insertIdp(tx, { ...one, client_secret: sealed })) === 0)
      throw conflict(`an identity provider called ${one.name} already exists`)
  }
  return createRecord(world, actor, { ...idpRecords, insert }, row)
}

type Draft = Pick<IdpRow, 'issuer_url' | 'client_id' | 'meta_cert' | 'certificate' | 'scopes'> & { secret: Secret }

function oidcDraft({ issuer_url, client_id, client_secret }: NewIdp): Draft {
  if (issuer_url === undefined) throw badField('issuer_url', 'is required for OIDC')
  if (client_id === undefined) throw badField('client_id', 'is required for OIDC')
  if (client_secret === undefined) throw badField('client_secret', 'is required for OIDC')
  return { issuer_url, client_id, meta_cert: null, certificate: null, scopes: SCOPES, secret: new Secret(client_secret) }
}

async function samlDraft(world: World, id: string, { meta_cert }: NewIdp): Promise<Draft> {
  if (meta_cert === undefined) throw badField('meta_cert', 'is required for SAML')
  const { key, certificate } = await newSamlKey(world.clock.nowMs())
  return { issuer_url: '', client_id: defaultEntityId(id), meta_cert, certificate, scopes: '', secret: key }
}

/** A provider decides who a user is, Administrators too, so that only those with all permissions configure one. */
const checkMayManage = (world: MetaWorld, actor: Actor): Promise<void> => checkGrant(world, actor, 'USER', ['Admin'])

export async function updateIdp(world: World, actor: Actor, { id }: IdpRow, ask: IdpChange): Promise<Idp> {
  await checkMayManage(world, actor)
  return changeRecord(world, actor, idpRecords, {
    id,
    change: async (before, tx) => {
      const changes = await checkedChange(world, actor, before, ask)
      if (changes.default_roles) await lockRolesForGrant(tx, actor.orgId, changes.default_roles)
      if (changes.issuer_url !== undefined && changes.issuer_url !== before.issuer_url) {
        // The secret must not go to another server than the one it was entered for.
        if (before.provider_type === 'OIDC' && ask.client_secret === undefined)
          throw badField('client_secret', 'must be given again when issuer_url changes')
        await deleteIdentitiesOf(tx, actor.orgId, id)
        await deleteSignOnsOf(tx, actor.orgId, id)
      }
      const sealed = ask.client_secret && (await sealSecret(world, tx, placeOf(before), new Secret(ask.client_secret)))
      return { ...changes, ...(sealed ? { client_secret: sealed } : {}) }
    },
  })
}

async function checkedChange(world: World, actor: Actor, before: IdpRow, ask: IdpChange): Promise<Partial<IdpRow>> {
  const { attribute_mappings, is_required, local_administrator, session_minutes, deactivate_refused } = ask
  const ofProtocol = before.provider_type === 'SAML' ? checkedSaml(ask) : checkedOidc(world, ask)
  const default_roles = ask.default_roles && storedRoles(ask.default_roles)
  if (default_roles) await checkGrant(world, actor, 'USER', default_roles, 'default_roles')
  const changes = {
    ...(ask.identifiers && { identifiers: [...new Set(ask.identifiers)] }),
    ...ofProtocol,
    ...(attribute_mappings && { attribute_mappings }),
    ...(default_roles && { default_roles }),
    ...(is_required !== undefined && { is_required }),
    ...(local_administrator !== undefined && { local_administrator }),
    ...(session_minutes !== undefined && { session_minutes }),
    ...(deactivate_refused !== undefined && { deactivate_refused }),
  }
  const next = { ...before, ...changes }
  if (next.is_required && (is_required || local_administrator !== undefined)) {
    const id = next.local_administrator
    if (id === null || !(await isLocalAdministrator(world, actor.orgId, id)))
      throw badField('local_administrator', 'must be the id of an Administrator who can log in with a password')
  }
  return changes
}

function checkedSaml(ask: IdpChange): Partial<IdpRow> {
  for (const name of ['issuer_url', 'client_id', 'client_secret', 'scopes'] as const)
    if (ask[name] !== undefined) throw badField(name, 'is only for OIDC')
  if (ask.deactivate_refused === true) throw badField('deactivate_refused', 'must be false for SAML, whose providers cannot be asked')
  return samlChanges(ask)
}

function checkedOidc(world: World, ask: IdpChange): Partial<IdpRow> {
  const { issuer_url, client_id, scopes } = ask
  for (const name of ['meta_cert', 'app_client_id'] as const) if (ask[name] !== undefined) throw badField(name, 'is only for SAML')
  if (ask.accept_idp_initiated === true) throw badField('accept_idp_initiated', 'must be false for OIDC')
  if (ask.attribute_mappings?.some(({ user_attr }) => user_attr === 'email'))
    throw badField('attribute_mappings', 'must not map to email for OIDC, which has a claim for verified addresses')
  if (issuer_url !== undefined) checkIssuer(world, issuer_url)
  return {
    ...(issuer_url !== undefined && { issuer_url }),
    ...(client_id !== undefined && { client_id }),
    ...(scopes !== undefined && {
      scopes: [...new Set(['openid', 'email', ...scopes.split(/\s+/).filter((one) => one !== '')])].join(' '),
    }),
  }
}

function checkIssuer(world: World, issuer: string): void {
  world.outgoing.check(issuer, 'issuer_url')
  const url = new URL(issuer)
  if (url.protocol !== 'https:' && !isLoopback(url)) throw badField('issuer_url', 'must begin with https://')
  if (url.search !== '' || url.hash !== '') throw badField('issuer_url', 'must have neither a query nor a fragment')
}

export const removeIdp = (world: World, actor: Actor, record: IdpRow): Promise<undefined> => removeRecord(world, actor, idpRecords, record)

const placeOf = ({ org_id, id }: Pick<IdpRow, 'org_id' | 'id'>): SecretPlace => ({
  orgId: org_id,
  table: 'sso_idps',
  row: id,
  column: 'client_secret',
})

export const clientSecretOf = (world: Pick<World, 'vault' | 'meta'>, row: IdpRow): Promise<Secret> =>
  openSecret(world, world.meta, placeOf(row), row.client_secret)

export const shownIdp = (row: IdpRow): Idp => ({
  id: row.id,
  name: row.name,
  provider_type: row.provider_type,
  identifiers: row.identifiers,
  ...(row.provider_type === 'SAML'
    ? { meta_cert: row.meta_cert ?? '', app_client_id: row.client_id }
    : { issuer_url: row.issuer_url, client_id: row.client_id, scopes: row.scopes }),
  accept_idp_initiated: row.accept_idp_initiated,
  attribute_mappings: row.attribute_mappings,
  default_roles: row.default_roles,
  is_required: row.is_required,
  ...(row.local_administrator === null ? {} : { local_administrator: row.local_administrator }),
  ...(row.session_minutes === null ? {} : { session_minutes: row.session_minutes }),
  deactivate_refused: row.deactivate_refused,
  metadata: metadataOf(row),
})

const idpRecords: RecordKind<IdpRow, Idp> = {
  noun: 'identity provider',
  entity: 'identity_provider',
  lock: lockIdp,
  insert: insertIdp,
  update: updateIdpRow,
  remove: deleteIdp,
  shown: shownIdp,
}
