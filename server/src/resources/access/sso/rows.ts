import type { Idp } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { Authored } from '../../records.ts'

export type IdpRow = Authored & {
  org_id: string
  id: string
  name: string
  provider_type: 'SAML' | 'OIDC'
  identifiers: string[]
  /** The entity id of a SAML provider. */
  issuer_url: string
  /** The entity id of the service, for a SAML provider. */
  client_id: string
  /** Encrypted; the private key of the service, for a SAML provider. */
  client_secret: Buffer
  accept_idp_initiated: boolean
  /** Only of SAML providers. */
  meta_cert: string | null
  /** The certificate of the service, in base64; only for SAML providers. */
  certificate: string | null
  attribute_mappings: Idp['attribute_mappings']
  scopes: string
  default_roles: string[]
  is_required: boolean
  local_administrator: string | null
  /** How long a session lasts at most about which the provider cannot be asked; null: as long as its token. */
  session_minutes: number | null
  deactivate_refused: boolean
}

export type MappingRow = Authored & {
  org_id: string
  id: string
  idp: string | null
  provider_key: string
  provider_value: string
  assign_attr: string
}

export const selectIdps = (db: Db, orgId: string) =>
  db.all<IdpRow>(sql`select * from sso_idps where org_id = ${orgId} order by created_at desc, id`)

/** Not limited to an organization: a browser that signs on has only the id. */
export const selectIdp = (db: Db, id: string) => db.one<IdpRow>(sql`select * from sso_idps where id = ${id}`)

/** Not limited to an organization, because an e-mail address names none. */
export const selectIdpsOfDomain = (db: Db, domain: string, rowsMax: number) =>
  db.all<Pick<IdpRow, 'id' | 'name'>>(sql`
    select id, name from sso_idps where ${domain} = any (identifiers) order by name, id limit ${rowsMax}`)

export const lockIdp = (db: Db, orgId: string, id: string) =>
  db.one<IdpRow>(sql`select * from sso_idps where org_id = ${orgId} and id = ${id} for update`)

/** Returns 0 when the name is taken. */
export const insertIdp = (db: Db, row: IdpRow) =>
  db.run(sql`
    insert into sso_idps (org_id, id, name, provider_type, identifiers, issuer_url, client_id, client_secret, accept_idp_initiated, meta_cert,
      certificate, attribute_mappings, scopes, default_roles, is_required, local_administrator, session_minutes, deactivate_refused, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.provider_type}, ${row.identifiers}, ${row.issuer_url}, ${row.client_id},
      ${row.client_secret}, ${row.accept_idp_initiated}, ${row.meta_cert}, ${row.certificate},
      ${json(row.attribute_mappings)}, ${row.scopes}, ${row.default_roles}, ${row.is_required}, ${row.local_administrator},
      ${row.session_minutes}, ${row.deactivate_refused}, ${row.created_at},
      ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})
    on conflict (org_id, name) do nothing`)

export const updateIdpRow = (db: Db, row: IdpRow) =>
  db.run(sql`
    update sso_idps set identifiers = ${row.identifiers}, issuer_url = ${row.issuer_url}, client_id = ${row.client_id},
      client_secret = ${row.client_secret}, accept_idp_initiated = ${row.accept_idp_initiated}, meta_cert = ${row.meta_cert},
      attribute_mappings = ${json(row.attribute_mappings)}, scopes = ${row.scopes},
      default_roles = ${row.default_roles}, is_required = ${row.is_required}, local_administrator = ${row.local_administrator},
      session_minutes = ${row.session_minutes}, deactivate_refused = ${row.deactivate_refused},
      modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteIdp = (db: Db, orgId: string, id: string) => db.run(sql`delete from sso_idps where org_id = ${orgId} and id = ${id}`)

/** Tokens belong to an issuer too, and must not go to another one. Sessions end with their sign-on. */
export const deleteSignOnsOf = (db: Db, orgId: string, idpId: string) =>
  db.run(sql`delete from sso_sign_ons where org_id = ${orgId} and idp_id = ${idpId}`)

/** Subjects belong to an issuer: with another issuer, the same subject may be another person. */
export const deleteIdentitiesOf = (db: Db, orgId: string, idpId: string) =>
  db.run(sql`delete from sso_identities where org_id = ${orgId} and idp_id = ${idpId}`)

export const selectMappings = (db: Db, orgId: string) =>
  db.all<MappingRow>(sql`select * from sso_mappings where org_id = ${orgId} order by created_at desc, id`)

export const lockMapping = (db: Db, orgId: string, id: string) =>
  db.one<MappingRow>(sql`select * from sso_mappings where org_id = ${orgId} and id = ${id} for update`)

export const insertMapping = (db: Db, row: MappingRow) =>
  db.run(sql`
    insert into sso_mappings (org_id, id, idp, provider_key, provider_value, assign_attr, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.idp}, ${row.provider_key}, ${row.provider_value}, ${row.assign_attr}, ${row.created_at},
      ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateMappingRow = (db: Db, row: MappingRow) =>
  db.run(sql`
    update sso_mappings set idp = ${row.idp}, provider_key = ${row.provider_key}, provider_value = ${row.provider_value},
      assign_attr = ${row.assign_attr}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteMapping = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from sso_mappings where org_id = ${orgId} and id = ${id}`)
