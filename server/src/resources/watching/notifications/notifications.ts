import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import type { Target } from '../integrations/integrations.ts'
import type { Occasion } from '../monitors/monitors.ts'
import { wakeDelivery } from './delivery.ts'
import { insertNotification } from './rows.ts'

export { notificationDelivery } from './delivery.ts'
export { candidateKeys } from './report/candidates.ts'
export { paceSurprise, shareSurprise, standingOut, surpriseMin } from './report/surprise.ts'
export { visible } from './words.ts'

export type Notified = {
  readonly orgId: string
  readonly monitorId: string | undefined
  /** eventId is the change of the monitor as a whole that the occasion came with. */
  readonly eventId: string | undefined
  readonly occasion: Occasion
  readonly targets: readonly Target[]
  readonly isTest: boolean
}

/** writeNotifications writes down what is to be sent in the transaction that makes it necessary, one for each target, and wakes the senders. */
export async function writeNotifications(world: Pick<World, 'clock' | 'ids'>, tx: Db, notified: Notified): Promise<void> {
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
