import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { createPolicy, findPolicy, getPolicy, listPolicies, removePolicy, updatePolicy } from './policies.ts'

const byPolicyId =
  (world: World) =>
  ({ actor, params }: RecordPath<'policyId'>) =>
    findPolicy(world, actor, params.policyId)

export const policyRoutes = (world: World): Routes =>
  routes('policies', contract.policies, {
    list: async ({ actor, query }) => ({ policies: await listPolicies(world, actor, query) }),
    create: ({ actor, body }) => createPolicy(world, actor, body),
    get: onRecord(byPolicyId(world), ({ record }) => getPolicy(record)),
    update: onRecord(byPolicyId(world), ({ actor, record, body }) => updatePolicy(world, actor, record, body)),
    remove: onRecord(byPolicyId(world), ({ actor, record }) => removePolicy(world, actor, record)),
    ofResource: async ({ actor, params }) => ({ policies: await listPolicies(world, actor, params) }),
    ofPrincipal: async ({ actor, params }) => ({ policies: await listPolicies(world, actor, params) }),
  })
