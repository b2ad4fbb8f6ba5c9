import { CircleAlert, CircleCheck, CircleDashed, CircleMinus, type LucideIcon } from 'lucide-react'
import { ago } from '../../parts/chart/numbers.ts'
import { Icon } from '../../ui/icon.tsx'
import type { Flow } from './params.ts'

const MINUTE_MS = 60_000
const RECEIVING_MS = 5 * MINUTE_MS
const QUIET_MS = 24 * 60 * MINUTE_MS

/** flowOf is waiting before the first event, and quiet or silent when none has come for a while. */
export function flowOf(lastMs: number | undefined, nowMs: number): Flow {
  if (lastMs === undefined) return 'waiting'
  if (nowMs - lastMs < RECEIVING_MS) return 'receiving'
  return nowMs - lastMs < QUIET_MS ? 'quiet' : 'silent'
}

/** Shows by shape and word whether data still arrives. */
export function Freshness({ lastMs, nowMs }: { lastMs: number | undefined; nowMs: number }) {
  const flow = flowOf(lastMs, nowMs)
  return (
    <span className="inline-flex items-center gap-x-1.5 whitespace-nowrap max-sm:flex-wrap">
      <FlowSign flow={flow} />
      <span>{flow}</span>
      {lastMs !== undefined && <span className="text-soft text-xs tabular-nums">{ago(lastMs, nowMs)}</span>}
    </span>
  )
}

/** The icon of a state. */
export const FlowSign = ({ flow }: { flow: Flow }) => <Icon of={signs[flow].icon} size="small" className={signs[flow].color} />

const signs: Record<Flow, { icon: LucideIcon; color: string }> = {
  waiting: { icon: CircleDashed, color: 'text-soft' },
  receiving: { icon: CircleCheck, color: 'text-accent' },
  quiet: { icon: CircleMinus, color: 'text-warn' },
  silent: { icon: CircleAlert, color: 'text-error' },
}
