import type { SourceState } from '@dendro/api'
import { CirclePause, CirclePlay, Hourglass, type LucideIcon, TriangleAlert } from 'lucide-react'
import { ago, bytes, quantity } from '../../../parts/chart/numbers.ts'
import { Icon } from '../../../ui/icon.tsx'

const signs: Readonly<Record<SourceState['status'], { text: string; icon: LucideIcon; color: string; iconColor: string }>> = {
  RUNNING: { text: 'Running', icon: CirclePlay, color: '', iconColor: 'text-accent' },
  DELAYED: { text: 'Delayed', icon: TriangleAlert, color: 'text-warn', iconColor: '' },
  WAITING: { text: 'Waiting for a process to read it', icon: Hourglass, color: 'text-soft', iconColor: '' },
  PAUSED: { text: 'Paused', icon: CirclePause, color: 'text-soft', iconColor: '' },
}

/** How far a source has read: what waits at its origin, what was refused, and the last error. */
export function SourcePosition({ state, nowMs }: { state: SourceState; nowMs: number }) {
  const { text, icon, color, iconColor } = signs[state.status]
  return (
    <>
      <span className={`flex items-baseline gap-1.5 ${color}`}>
        <Icon of={icon} size="small" className={`translate-y-0.5 ${iconColor}`} />
        {text}
        {state.failing_since !== undefined && `, first failed ${ago(state.failing_since, nowMs)}`}
      </span>
      <span className="block empty:hidden">{waitingText(state)}</span>
      {state.refused_events > 0 && (
        <span className="block text-error" title="They could not be stored; the ledger of the dataset says why.">
          {quantity(state.refused_events, 'event')} refused
        </span>
      )}
      {state.last_error !== undefined && <span className="wrap-anywhere block text-error text-xs">{state.last_error}</span>}
      <span className="block text-soft text-xs">
        {state.received_events === 0
          ? 'Nothing read yet'
          : `${quantity(state.received_events, 'event')} read, ${bytes(state.received_bytes)}`}
        {state.last_received_at !== undefined && `, last ${ago(state.last_received_at, nowMs)}`}
      </span>
    </>
  )
}

/** What the origin has and the service has not stored yet. A source that does not read does not know what is new. */
export function waitingText({
  status,
  waiting_bytes,
  waiting_messages,
}: Pick<SourceState, 'status' | 'waiting_bytes' | 'waiting_messages'>): string {
  const waiting = waiting_messages ?? waiting_bytes
  if (waiting === undefined) return ''
  if (waiting === 0) return status === 'RUNNING' ? 'up to date' : ''
  return `${waiting_messages === undefined ? bytes(waiting) : quantity(waiting, 'message')} behind`
}
