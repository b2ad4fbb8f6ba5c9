import { type DatasetFlow, flowOf } from '@dendro/api/dataset-flow'
import { CircleAlert, CircleCheck, CircleDashed, CircleMinus, type LucideIcon } from 'lucide-react'
import { ago } from '../../parts/chart/numbers.ts'
import { Icon } from '../../ui/icon.tsx'

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
export const FlowSign = ({ flow }: { flow: DatasetFlow }) => <Icon of={signs[flow].icon} size="small" className={signs[flow].color} />

const signs: Record<DatasetFlow, { icon: LucideIcon; color: string }> = {
  waiting: { icon: CircleDashed, color: 'text-soft' },
  receiving: { icon: CircleCheck, color: 'text-accent' },
  quiet: { icon: CircleMinus, color: 'text-warn' },
  silent: { icon: CircleAlert, color: 'text-error' },
}
