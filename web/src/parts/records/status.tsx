import type { Monitor } from '@dendro/api'
import { ArrowRight } from 'lucide-react'
import { Icon } from '../../ui/icon.tsx'

export type Status = Monitor['status']

/** statuses are sorted worst first. */
export const statuses: readonly Status[] = ['ALERT', 'WARN', 'NO_DATA', 'OK']
export const statusNames: Record<Status, string> = { ALERT: 'Alert', WARN: 'Warning', NO_DATA: 'No data', OK: 'OK' }

const forms: Record<Status, { path: string; fill: string; symbol: string; y: number }> = {
  ALERT: { path: 'M6 1h8l5 5v8l-5 5H6l-5-5V6z', fill: 'fill-error', symbol: 'A', y: 14 },
  WARN: { path: 'M10 1l9.5 18H.5z', fill: 'fill-warn', symbol: 'W', y: 17 },
  NO_DATA: { path: 'M2 2h16v16H2z', fill: 'fill-soft', symbol: 'N', y: 14 },
  OK: { path: 'M10 1a9 9 0 1 1 0 18a9 9 0 1 1 0-18z', fill: 'fill-accent', symbol: '', y: 14 },
}

/** Shows a status by shape and letter as well as by color. */
export function StatusMark({ status, isNamed = false }: { status: Status; isNamed?: boolean }) {
  const { path, fill, symbol, y } = forms[status]
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <svg
        viewBox="0 0 20 20"
        width="18"
        height="18"
        role="img"
        aria-label={isNamed ? undefined : statusNames[status]}
        aria-hidden={isNamed}
        className="shrink-0"
      >
        <path d={path} className={fill} />
        {symbol === '' ? (
          <path
            d="M6 10.5l2.7 2.8L14 7.5"
            className="fill-none stroke-panel"
            strokeWidth="2"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        ) : (
          <text x="10" y={y} textAnchor="middle" fontSize={status === 'WARN' ? 9 : 11} className="fill-panel font-bold">
            {symbol}
          </text>
        )}
      </svg>
      {isNamed && statusNames[status]}
    </span>
  )
}

/** WaitingMark stands for the status of a monitor that was not evaluated yet. */
export function WaitingMark({ isNamed = false }: { isNamed?: boolean }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap text-soft">
      <svg
        viewBox="0 0 20 20"
        width="18"
        height="18"
        role="img"
        aria-label={isNamed ? undefined : WAITING}
        aria-hidden={isNamed}
        className="shrink-0 fill-none stroke-current"
        strokeWidth="1.6"
      >
        <circle cx="10" cy="10" r="8" strokeDasharray="3 2.4" />
        <path d="M10 5.5v5l3 1.8" />
      </svg>
      {isNamed && WAITING}
    </span>
  )
}

const WAITING = 'Waiting for its first evaluation'

/** Shows a status change, or the status when it did not change. */
export function Step({ before, after }: { before: Status; after: Status }) {
  return (
    <span className="inline-flex items-center gap-1">
      {before !== after && (
        <>
          <StatusMark status={before} /> <Icon of={ArrowRight} size="small" className="text-soft" />
        </>
      )}
      <StatusMark status={after} isNamed />
    </span>
  )
}
