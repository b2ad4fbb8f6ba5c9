import { expect } from 'vitest'
import type { Senders } from './senders.ts'

/** Creates a key that may search, and a policy that hides a dataset from it. */
export async function newKeyWithout(senders: Senders, dataset: string): Promise<string> {
  const key = await senders.org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'limited', roles: ['SearchApi'] } })
  const found = await senders.found('default', dataset)
  const hidden = await senders.org.ask('POST', '/policies', {
    body: {
      policy_type: 'LOG_FORBID',
      resource: { resource_type: 'LOG', resource_id: found?.id },
      actions: ['*'],
      principal: { principal_type: 'APIKEY', principal_id: key.body.id },
    },
  })
  expect(hidden.status).toBe(201)
  return key.body.key
}
