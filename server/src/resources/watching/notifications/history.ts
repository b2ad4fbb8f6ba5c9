import type { World } from '../../../world.ts'
import type { NotificationRow } from './rows.ts'
import type { Told } from './words.ts'

/** toldOf is all that the message of a notification says. */
export function toldOf({ deployment }: Pick<World, 'deployment'>, row: NotificationRow): Told {
  const { publicUrl, region } = deployment
  return {
    occasion: row.occasion,
    samples: row.briefing?.samples ?? [],
    report: row.briefing?.report,
    past: row.briefing?.past,
    isTest: row.test,
    link: publicUrl === undefined || row.monitor_id === null ? undefined : `${publicUrl}/app/monitors?id=${row.monitor_id}`,
    region,
  }
}
