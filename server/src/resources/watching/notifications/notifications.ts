import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import type { Occasion } from '../alert-states/alert-states.ts'
import type { NotificationTarget } from '../integrations/integrations.ts'
import { wakeDelivery } from './delivery.ts'
import { insertNotification } from './rows.ts'

export { notificationDelivery } from './delivery.ts'
export { visible } from './message-text.ts'
export { candidateKeys } from './report/candidates.ts'
export { rateSurprise, shareSurprise, significantOnly, surpriseMin } from './report/surprise.ts'

export type NotificationRequest = {
  readonly orgId: string
  readonly monitorId: string | undefined
  /** The status change of the whole monitor that belongs to the occasion. */
  readonly eventId: string | undefined
  readonly occasion: Occasion
  readonly targets: readonly NotificationTarget[]
  readonly isTest: boolean
}

/** Queues one notification for each target in the transaction of the change, and wakes the delivery. */
export async function queueNotifications(world: Pick<World, 'clock' | 'ids'>, tx: Db, notified: NotificationRequest): Promise<void> {
  const { orgId, monitorId, eventId, occasion, targets, isTest } = notified
  for (const { type, destination, integration_id } of targets) {
    await insertNotification(tx, {
      org_id: orgId,
      id: world.ids.uuid(),
      monitor_id: monitorId ?? null,
      event_id: eventId ?? null,
      alert_id: occasion.alertId,
      group_id: occasion.group,
      time: occasion.atMs,
      test: isTest,
      type,
      destination,
      integration_id: integration_id ?? null,
      occasion,
      next_try_at: world.clock.nowMs(),
    })
  }
  if (targets.length > 0) await wakeDelivery(world, tx)
}
