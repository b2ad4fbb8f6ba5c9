import { ago } from '../../parts/numbers.ts'

const MINUTE_MS = 60_000
const RECEIVING_MS = 5 * MINUTE_MS
const QUIET_MS = 24 * 60 * MINUTE_MS

/** Freshness shows by shape and word whether data still arrives. */
export function Freshness({ lastMs, nowMs }: { lastMs: number | undefined; nowMs: number }) {
  const [sign, word, className] = stateOf(lastMs, nowMs)
  return (
    <span className="inline-flex items-baseline gap-1.5 whitespace-nowrap">
      <span aria-hidden className={className}>
        {sign}
      </span>
      <span>{word}</span>
      {lastMs !== undefined && <span className="text-soft text-xs tabular-nums">{ago(lastMs, nowMs)}</span>}
    </span>
  )
}

function stateOf(lastMs: number | undefined, nowMs: number): [sign: string, word: string, className: string] {
  if (lastMs === undefined) return ['○', 'waiting', 'text-soft']
  if (nowMs - lastMs < RECEIVING_MS) return ['●', 'receiving', 'text-accent']
  return nowMs - lastMs < QUIET_MS ? ['◐', 'quiet', 'text-warn'] : ['□', 'silent', 'text-error']
}
