import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { readBudget } from './budget.ts'
import { setSpendSettings, spendSettings } from './settings.ts'
import { readSpend } from './spend.ts'
import { readSavings } from './ways.ts'

export const spendRoutes = (world: World): Routes =>
  routes('spend', contract.spend, {
    get: ({ actor, query }) => readSpend(world, actor, query),
    budget: ({ actor }) => readBudget(world, actor),
    savings: ({ actor, query }) => readSavings(world, actor, query),
    settings: ({ actor }) => spendSettings(world, actor.orgId),
    set: ({ actor, body }) => setSpendSettings(world, actor, body),
  })
