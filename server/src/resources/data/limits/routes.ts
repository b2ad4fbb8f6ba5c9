import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { limitValue } from './caps.ts'
import { createLimit, findLimit, listLimits, removeLimit, shownLimit, updateLimit } from './limits.ts'
import type { LimitMeter } from './metering.ts'
import { monthOf } from './month.ts'
import { countMonitors } from './rows.ts'

const byLimitId =
  (world: World) =>
  ({ actor, params }: RecordPath<'limitId'>) =>
    findLimit(world, actor, params.limitId)

export const limitRoutes = (world: World, meter: LimitMeter): Routes =>
  routes('limits', contract.limits, {
    list: ({ actor }) => listLimits(world, actor),
    create: ({ actor, body }) => createLimit(world, actor, body),
    get: onRecord(byLimitId(world), async ({ record }) => shownLimit(record)),
    update: onRecord(byLimitId(world), ({ actor, record, body }) => updateLimit(world, actor, record, body)),
    remove: onRecord(byLimitId(world), ({ actor, record }) => removeLimit(world, actor, record)),
    usage: onRecord(byLimitId(world), async ({ actor, record }) => {
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
    }),
  })
