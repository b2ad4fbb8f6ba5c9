/** The status of a group, or of a whole monitor. */
export type AlertStatus = 'OK' | 'NO_DATA' | 'WARN' | 'ALERT'

export type ComparisonOperator = 'BELOW' | 'BELOW_OR_EQUAL' | 'ABOVE' | 'ABOVE_OR_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'OUTSIDE'

/** `warning` is ignored for EQUAL and NOT_EQUAL. */
export type Thresholds = {
  readonly operator: ComparisonOperator
  readonly threshold: number
  readonly warning?: number | undefined
  readonly noDataStatus: AlertStatus
}

/** The kind of status change, as notifications name it. */
export type StatusTransition = 'ALERT' | 'WARN' | 'ALERT_TO_WARN' | 'ALERT_RECOVERY' | 'WARN_RECOVERY' | 'NO_DATA' | 'NO_DATA_RECOVERY'

/** Computes the status of a value; undefined means no events. */
export function statusOf(value: number | undefined, { operator, threshold, warning, noDataStatus }: Thresholds): AlertStatus {
  if (value === undefined || Number.isNaN(value)) return noDataStatus
  if (holds[operator](value, threshold)) return 'ALERT'
  const warns = warning !== undefined && operator !== 'EQUAL' && operator !== 'NOT_EQUAL'
  return warns && holds[operator](value, warning) ? 'WARN' : 'OK'
}

const holds: Record<ComparisonOperator, (value: number, bound: number) => boolean> = {
  BELOW: (value, bound) => value < bound,
  BELOW_OR_EQUAL: (value, bound) => value <= bound,
  ABOVE: (value, bound) => value > bound,
  ABOVE_OR_EQUAL: (value, bound) => value >= bound,
  EQUAL: (value, bound) => value === bound,
  NOT_EQUAL: (value, bound) => value !== bound,
  OUTSIDE: (value, bound) => Math.abs(value) > bound,
}

const gravity: Record<AlertStatus, number> = { OK: 0, NO_DATA: 1, WARN: 2, ALERT: 3 }

/** The status of a monitor with groups in these statuses; undefined without groups. */
export function worstOf(statuses: Iterable<AlertStatus>): AlertStatus | undefined {
  let worst: AlertStatus | undefined
  for (const status of statuses) if (worst === undefined || gravity[status] > gravity[worst]) worst = status
  return worst
}

/** Names the change from one status to another; undefined when they are equal. */
export function changeOf(from: AlertStatus, to: AlertStatus): StatusTransition | undefined {
  if (from === to) return undefined
  switch (to) {
    case 'ALERT':
      return 'ALERT'
    case 'WARN':
      return from === 'ALERT' ? 'ALERT_TO_WARN' : 'WARN'
    case 'NO_DATA':
      return 'NO_DATA'
    case 'OK':
      return from === 'ALERT' ? 'ALERT_RECOVERY' : from === 'WARN' ? 'WARN_RECOVERY' : 'NO_DATA_RECOVERY'
  }
}
