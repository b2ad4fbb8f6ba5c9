import type { Customer, CustomerChange } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { modifiedBy } from '../../records.ts'
import { recordChange } from '../audit/audit.ts'
import { ownOrganization } from '../organizations/organizations.ts'
import { type CustomerRow, selectCustomer, upsertCustomer } from './rows.ts'

/** The customer record of an organization; until the first change its name is that of the organization. */
export async function getCustomer(world: World, actor: Actor): Promise<Customer> {
  const { own, manageable } = await ownOrganization(world, actor)
  const row = await world.meta.cached(actor.orgId, 'customer', async () => (await selectCustomer(world.meta, actor.orgId)) ?? null)
  return shownCustomer(world, row ?? initialCustomer(own), manageable)
}

export async function updateCustomer(world: World, actor: Actor, change: CustomerChange): Promise<Customer> {
  const { own, manageable } = await ownOrganization(world, actor)
  const entity = { type: 'customer', id: actor.orgId }
  return world.meta.write(actor.orgId, async (tx) => {
    const before = (await selectCustomer(tx, actor.orgId)) ?? initialCustomer(own)
    const next: CustomerRow = { ...before, ...change, ...modifiedBy(actor, world.clock.nowMs()) }
    await upsertCustomer(tx, next)
    const [was, is] = [shownCustomer(world, before, manageable), shownCustomer(world, next, manageable)]
    await recordChange(world, tx, actor, { entity, before: was, after: is })
    return is
  })
}

type OrganizationRow = Awaited<ReturnType<typeof ownOrganization>>['own']

const initialCustomer = ({ id, name, created_at, created_by, modified_at, modified_by }: OrganizationRow): CustomerRow => ({
  org_id: id,
  customer_name: name,
  billing_emails: [],
  created_at,
  created_by,
  modified_at,
  modified_by,
})

const shownCustomer = ({ deployment }: World, row: CustomerRow, organizations: readonly OrganizationRow[]): Customer => ({
  customer_id: row.org_id,
  org_id: row.org_id,
  customer_name: row.customer_name,
  billing_emails: row.billing_emails,
  contract_type: 'PAID',
  metadata: metadataOf(row),
  organisations: organizations.map(({ id, name }) => ({ org_id: id, region: deployment.region.toUpperCase(), name })),
})
