/** A Status is what a group, or a whole monitor, is in. */
export type Status = 'OK' | 'NO_DATA' | 'WARN' | 'ALERT'

export type Operator = 'BELOW' | 'BELOW_OR_EQUAL' | 'ABOVE' | 'ABOVE_OR_EQUAL' | 'EQUAL' | 'NOT_EQUAL' | 'OUTSIDE'

/** Thresholds decide what a value means; `warning` has no say with EQUAL and NOT_EQUAL. */
export type Thresholds = {
  readonly operator: Operator
  readonly threshold: number
  readonly warning?: number | undefined
  readonly noDataStatus: Status
}

/** A Change is how receivers are told that a status became another. */
export type Change = 'ALERT' | 'WARN' | 'ALERT_TO_WARN' | 'ALERT_RECOVERY' | 'WARN_RECOVERY' | 'NO_DATA' | 'NO_DATA_RECOVERY'

/** statusOf judges a value; undefined is a group without events. */
export function statusOf(value: number | undefined, { operator, threshold, warning, noDataStatus }: Thresholds): Status {
  if (value === undefined || Number.isNaN(value)) return noDataStatus
  if (holds[operator](value, threshold)) return 'ALERT'
  const warns = warning !== undefined && operator !== 'EQUAL' && operator !== 'NOT_EQUAL'
  return warns && holds[operator](value, warning) ? 'WARN' : 'OK'
}

const holds: Record<Operator, (value: number, bound: number) => boolean> = {
  BELOW: (value, bound) => value < bound,
  BELOW_OR_EQUAL: (value, bound) => value <= bound,
  ABOVE: (value, bound) => value > bound,
  ABOVE_OR_EQUAL: (value, bound) => value >= bound,
  EQUAL: (value, bound) => value === bound,
  NOT_EQUAL: (value, bound) => value !== bound,
  OUTSIDE: (value, bound) => Math.abs(value) > bound,
}

const gravity: Record<Status, number> = { OK: 0, NO_DATA: 1, WARN: 2, ALERT: 3 }

/** worstOf is the status of a monitor whose groups are in these; undefined when it has no groups. */
export function worstOf(statuses: Iterable<Status>): Status | undefined {
  let worst: Status | undefined
  for (const status of statuses) if (worst === undefined || gravity[status] > gravity[worst]) worst = status
  return worst
}

/** changeOf names the step from one status to another; undefined when they are the same. */
export function changeOf(from: Status, to: Status): Change | undefined {
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
