import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { getCustomer, updateCustomer } from './customer.ts'

export const customerRoutes = (world: World): Routes =>
  routes('customer', contract.customer, {
    get: ({ actor }) => getCustomer(world, actor),
    update: ({ actor, body }) => updateCustomer(world, actor, body),
  })
