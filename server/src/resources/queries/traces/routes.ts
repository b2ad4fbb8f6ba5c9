import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { listCalls } from './calls.ts'
import { findDifferences } from './differences.ts'
import { findTraces } from './find-traces.ts'
import { listOperations } from './operations.ts'
import { findTrace } from './traces.ts'

export const traceRoutes = (world: World): Routes =>
  routes('traces', contract.traces, {
    operations: ({ actor, query, signal }) => listOperations(world, actor, query, signal),
    calls: ({ actor, query, signal }) => listCalls(world, actor, query, signal),
    differences: ({ actor, query, signal }) => findDifferences(world, actor, query, signal),
    find: ({ actor, query, signal }) => findTraces(world, actor, query, signal),
    get: ({ actor, params, query, signal }) => findTrace(world, actor, params.traceId, query, signal),
  })
