import type { MetricFormula, MetricQuery } from '@dendro/api'
import type { AlertStatus, ComparisonOperator, StatusTransition } from './status.ts'

/**
 * The status change that a notification reports, with everything that its message can say. It is stored with the notification, as it was
 * when the status changed.
 */
export type Occasion = {
  /** One id for an alert and its recovery. */
  readonly alertId: string
  readonly monitor: {
    readonly id: string
    readonly name: string
    readonly description?: string
    readonly type: 'PATTERN' | 'USAGE' | 'CHANGE_DETECTION' | 'ANOMALY_DETECTION'
    readonly operator: ComparisonOperator
    readonly threshold: number
    readonly warningThreshold?: number
    /** The time range as written, such as `Last 5 minutes`. */
    readonly window: string
    /** The distance to the compared window, for change detection. */
    readonly backMs?: number
    readonly queries: readonly MetricQuery[]
    readonly formulas: readonly MetricFormula[]
    readonly reportEnabled: boolean
    readonly reportInstructions?: string
  }
  readonly change: StatusTransition
  /** The status before and after: of the group, or with `notify_once` of the monitor. */
  readonly before: AlertStatus
  readonly after: AlertStatus
  /** True when a downtime held the notification back. */
  readonly isDelayed: boolean
  /** The group id ('' without groups), and the values of its keys. */
  readonly group: string
  readonly groups: Readonly<Record<string, string>>
  /** The groups in ALERT or WARN, at most 100. */
  readonly troubledGroups: readonly string[]
  /** Absent when there was nothing to measure. Infinity is a string because JSON has no such number. */
  readonly value?: number | 'Infinity' | '-Infinity'
  /** The value it was compared with, for changes and anomalies. */
  readonly baseline?: number
  /** What a value of spend rests on, in words. */
  readonly evidence?: string
  /** The threshold that decided: the warning threshold for a change to or from WARN. */
  readonly threshold: number
  readonly fromMs: number
  readonly toMs: number
  readonly atMs: number
}
