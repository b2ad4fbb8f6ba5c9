import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { list, Metadata, text, uuid } from './values.ts'

const EMAILS_MAX = 100

const Customer = z
  .object({
    customer_id: z.string(),
    org_id: uuid,
    customer_name: z.string(),
    billing_emails: z.array(z.string()),
    contract_type: z.string(),
    ou_id: z.string().optional(),
    parent: z.string().optional(),
    metadata: Metadata,
    organisations: z.array(z.object({ org_id: uuid, region: z.string(), name: z.string() })),
  })
  .meta({ id: 'Customer', description: 'The customer who runs the organizations; for information only.' })
export type Customer = z.output<typeof Customer>

const CustomerChange = z.object({ customer_name: text(1, 255), billing_emails: list(z.email().max(320), { max: EMAILS_MAX }) })
export type CustomerChange = z.output<typeof CustomerChange>

export const customer = {
  get: endpoint({
    method: 'GET',
    path: '/customer',
    permission: 'customer_read',
    tier: 'X',
    summary: 'The customer record',
    reply: Customer,
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/customer',
    permission: 'customer_write',
    tier: 'X',
    summary: 'Change the name and the addresses of the customer record',
    body: CustomerChange,
    reply: Customer,
  }),
}
