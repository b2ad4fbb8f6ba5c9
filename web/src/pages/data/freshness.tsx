import { CircleAlert, CircleCheck, CircleDashed, CircleMinus, type LucideIcon } from 'lucide-react'
import { ago } from '../../parts/numbers.ts'
import { Icon } from '../../ui/icon.tsx'

const MINUTE_MS = 60_000
const RECEIVING_MS = 5 * MINUTE_MS
const QUIET_MS = 24 * 60 * MINUTE_MS

/** Freshness shows by shape and word whether data still arrives. */
export function Freshness({ lastMs, nowMs }: { lastMs: number | undefined; nowMs: number }) {
  const [icon, word, className] = stateOf(lastMs, nowMs)
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <Icon of={icon} size="small" className={className} />
      <span>{word}</span>
      {lastMs !== undefined && <span className="text-soft text-xs tabular-nums">{ago(lastMs, nowMs)}</span>}
    </span>
  )
}

function stateOf(lastMs: number | undefined, nowMs: number): [icon: LucideIcon, word: string, className: string] {
  if (lastMs === undefined) return [CircleDashed, 'waiting', 'text-soft']
  if (nowMs - lastMs < RECEIVING_MS) return [CircleCheck, 'receiving', 'text-accent']
  return nowMs - lastMs < QUIET_MS ? [CircleMinus, 'quiet', 'text-warn'] : [CircleAlert, 'silent', 'text-error']
}
