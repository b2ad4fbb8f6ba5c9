import type { ForwardDelivery } from '@dendro/api'
import { CircleCheck, CircleDashed, TriangleAlert } from 'lucide-react'
import { ago, quantity } from '../../../parts/chart/numbers.ts'
import { Icon } from '../../../ui/icon.tsx'

/** How far events are delivered: what waits and since when, what is lost, and the last error. */
export function DeliveryState({ delivery, nowMs }: { delivery: ForwardDelivery; nowMs: number }) {
  const { status, delivered_events, last_delivered_at, delayed_since, waiting_events, oldest_waiting_at, last_error, lost_events } =
    delivery
  const isDelayed = status === 'DELAYED'
  const isNew = delivered_events === 0 && !isDelayed
  return (
    <>
      <span className={`flex items-baseline gap-1.5 ${isDelayed ? 'text-warn' : ''}`}>
        <Icon
          of={isDelayed ? TriangleAlert : isNew ? CircleDashed : CircleCheck}
          size="small"
          className={`translate-y-0.5 ${isDelayed ? '' : isNew ? 'text-soft' : 'text-accent'}`}
        />
        {isDelayed
          ? `Delayed${delayed_since === undefined ? '' : `, first failed ${ago(delayed_since, nowMs)}`}`
          : isNew
            ? 'Nothing delivered yet'
            : 'Delivering'}
      </span>
      {waiting_events !== undefined && waiting_events > 0 && (
        <span className="block">
          {quantity(waiting_events, 'event')} wait{waiting_events === 1 ? 's' : ''}
          {oldest_waiting_at !== undefined && `, the oldest arrived ${ago(oldest_waiting_at, nowMs)}`}
        </span>
      )}
      {lost_events > 0 && (
        <span className="block text-error" title="Retention deleted them while they waited.">
          {quantity(lost_events, 'event')} lost: deleted by retention while {lost_events === 1 ? 'it' : 'they'} waited
        </span>
      )}
      {last_error !== undefined && <span className="wrap-anywhere block text-error text-xs">{last_error}</span>}
      {delivered_events > 0 && (
        <span className="block text-soft text-xs">
          {quantity(delivered_events, 'event')} delivered
          {last_delivered_at !== undefined && `, last ${ago(last_delivered_at, nowMs)}`}
        </span>
      )}
    </>
  )
}
