import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { readLedger } from './ledger.ts'

export const ledgerRoutes = (world: World): Routes =>
  routes('ledger', contract.ledger, {
    get: ({ actor, query }) => readLedger(world, actor, query),
  })
