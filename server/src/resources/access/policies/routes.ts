import { type BodyOf, contract, type PolicyPreview } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { createPolicy, findPolicy, getPolicy, listPolicies, removePolicy, updatePolicy } from './policies.ts'

const byPolicyId =
  (world: World) =>
  ({ actor, params }: RecordPath<'policyId'>) =>
    findPolicy(world, actor, params.policyId)

type PreviewPolicy = (actor: Actor, request: BodyOf<typeof contract.policies.preview>, signal: AbortSignal) => Promise<PolicyPreview>

export const policyRoutes = (world: World, preview: PreviewPolicy): Routes =>
  routes('policies', contract.policies, {
    list: async ({ actor, query }) => ({ policies: await listPolicies(world, actor, query) }),
    create: ({ actor, body }) => createPolicy(world, actor, body),
    preview: ({ actor, body, signal }) => preview(actor, body, signal),
    get: onRecord(byPolicyId(world), ({ record }) => getPolicy(record)),
    update: onRecord(byPolicyId(world), ({ actor, record, body }) => updatePolicy(world, actor, record, body)),
    remove: onRecord(byPolicyId(world), ({ actor, record }) => removePolicy(world, actor, record)),
    ofResource: async ({ actor, params }) => ({ policies: await listPolicies(world, actor, params) }),
    ofPrincipal: async ({ actor, params }) => ({ policies: await listPolicies(world, actor, params) }),
  })
