import type { World } from '../../../world.ts'
import type { NotificationContent } from './message-text.ts'
import { withTexts } from './pattern-texts.ts'
import type { NotificationRow } from './rows.ts'

/** Collects everything that the message of a notification shows. */
export function contentOf({ deployment }: Pick<World, 'deployment'>, row: NotificationRow): NotificationContent {
  const { publicUrl, region } = deployment
  return {
    occasion: withTexts(row.occasion, new Map(Object.entries(row.briefing?.patterns ?? {}))),
    samples: row.briefing?.samples ?? [],
    report: row.briefing?.report,
    past: row.briefing?.past,
    isTest: row.test,
    link: publicUrl === undefined || row.monitor_id === null ? undefined : `${publicUrl}/app/monitors?id=${row.monitor_id}`,
    region,
  }
}
