import { contract } from '@dendro/api'
import type { Meter } from '../../../http/measure.ts'
import { type Routes, routes } from '../../../http/mount.ts'
import { forbidden } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { managementId } from '../../access/organizations/organizations.ts'

/** Metrics of the whole deployment with all organizations, for its managers only. */
export const metricsRoutes = (world: Pick<World, 'meta'>, meter: Meter): Routes =>
  routes('metrics', contract.metrics, {
    get: async ({ actor }) => {
      if (actor.orgId !== (await managementId(world))) {
        throw forbidden('the metrics cover the whole deployment and are only for the management organization')
      }
      return meter.print()
    },
  })
