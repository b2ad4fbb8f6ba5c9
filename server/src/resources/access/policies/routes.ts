import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createPolicy, findPolicy, getPolicy, listPolicies, removePolicy, updatePolicy } from './policies.ts'

export const policyRoutes = (world: World): Routes =>
  routes('policies', contract.policies, {
    list: async ({ actor, query }) => ({ policies: await listPolicies(world, actor, query) }),
    create: ({ actor, body }) => createPolicy(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findPolicy(world, actor, params.policyId),
      ({ record }) => getPolicy(record),
    ),
    update: onRecord(
      ({ actor, params }) => findPolicy(world, actor, params.policyId),
      ({ actor, record, body }) => updatePolicy(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findPolicy(world, actor, params.policyId),
      ({ actor, record }) => removePolicy(world, actor, record),
    ),
    ofResource: async ({ actor, params }) => ({ policies: await listPolicies(world, actor, params) }),
    ofPrincipal: async ({ actor, params }) => ({ policies: await listPolicies(world, actor, params) }),
  })
