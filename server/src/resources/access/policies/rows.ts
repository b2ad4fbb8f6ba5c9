import type { ConditionSet, Identity, Policy } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { PolicyDataset } from './decide.ts'

export type PolicyRow = Pick<
  Policy,
  'id' | 'policy_type' | 'resource' | 'actions' | 'restricted' | 'principal' | 'created_at' | 'modified_at'
> & {
  org_id: string
  description: string | null
  when: ConditionSet | null
  unless: ConditionSet | null
  created_by: Identity | null
  modified_by: Identity | null
}

export const selectPolicies = (db: Db, orgId: string) =>
  db.all<PolicyRow>(sql`select * from policies where org_id = ${orgId} order by created_at desc, id`)

export const insertPolicy = (db: Db, row: PolicyRow) =>
  db.run(sql`
    insert into policies (org_id, id, description, policy_type, resource, actions, restricted, principal, "when", "unless",
      created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.description}, ${row.policy_type}, ${json(row.resource)}, ${row.actions}, ${row.restricted},
      ${json(row.principal)}, ${json(row.when)}, ${json(row.unless)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at},
      ${json(row.modified_by)})`)

export const updatePolicyRow = (db: Db, row: PolicyRow) =>
  db.run(sql`
    update policies set description = ${row.description}, policy_type = ${row.policy_type}, resource = ${json(row.resource)},
      actions = ${row.actions}, restricted = ${row.restricted}, principal = ${json(row.principal)}, "when" = ${json(row.when)},
      "unless" = ${json(row.unless)}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deletePolicy = (db: Db, orgId: string, id: string) => db.run(sql`delete from policies where org_id = ${orgId} and id = ${id}`)

/** All datasets, also those hidden from the caller: authors of policies decide about all. */
export const selectPolicyDatasets = (db: Db, orgId: string) =>
  db.all<PolicyDataset>(sql`select id, collection, dataset from datasets where org_id = ${orgId} and deleted_at is null`)

export const selectKnownUser = (db: Db, orgId: string, id: string) =>
  db.one(sql`
    select 1 from users where org_id = ${orgId} and id::text = ${id} and status <> 'REMOVED'
    union all
    select 1 from access_grants where org_id = ${orgId} and entity_type = 'user' and entity_id::text = ${id} and status <> 'revoked'`)

export const selectKnownApiKey = (db: Db, orgId: string, id: string) =>
  db.one(sql`select 1 from api_keys where org_id = ${orgId} and id::text = ${id}`)

export const selectKnownRole = (db: Db, orgId: string, id: string) =>
  db.one(sql`select 1 from roles where org_id = ${orgId} and id::text = ${id}`)
