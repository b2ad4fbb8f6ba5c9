import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { limitValue } from './caps.ts'
import { createLimit, findLimit, listLimits, removeLimit, shownLimit, updateLimit } from './limits.ts'
import type { LimitMeter } from './metering.ts'
import { monthOf } from './month.ts'
import { countMonitors } from './rows.ts'

export const limitRoutes = (world: World, meter: LimitMeter): Routes =>
  routes('limits', contract.limits, {
    list: ({ actor }) => listLimits(world, actor),
    create: ({ actor, body }) => createLimit(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findLimit(world, actor, params.limitId),
      async ({ record }) => shownLimit(record),
    ),
    update: onRecord(
      ({ actor, params }) => findLimit(world, actor, params.limitId),
      ({ actor, record, body }) => updateLimit(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findLimit(world, actor, params.limitId),
      ({ actor, record }) => removeLimit(world, actor, record),
    ),
    usage: onRecord(
      ({ actor, params }) => findLimit(world, actor, params.limitId),
      async ({ actor, record }) => {
        if (record.category === 'MONITOR_LIMITS') {
          return { limit_id: record.id, value: limitValue(record), used: (await countMonitors(world.meta, actor.orgId))?.count ?? 0 }
        }
        const month = monthOf(world.clock.nowMs())
        const { used, crossedAt } = await meter.used(actor, record, month)
        return {
          limit_id: record.id,
          value: limitValue(record),
          used,
          window_start: month.startMs,
          window_end: month.endMs,
          ...(crossedAt === undefined ? {} : { crossed_at: crossedAt }),
        }
      },
    ),
  })
