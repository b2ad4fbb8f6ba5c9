import type { MetricFormula, MetricQuery } from '@dendro/api'
import type { Change, Operator, Status } from './status.ts'

/** An Occasion is all that a message about a change can say; it is plain data and stays as it was when the change was seen. */
export type Occasion = {
  /** alertId is the same for an alert and its recovery. */
  readonly alertId: string
  readonly monitor: {
    readonly id: string
    readonly name: string
    readonly description?: string
    readonly type: 'PATTERN' | 'USAGE' | 'CHANGE_DETECTION' | 'ANOMALY_DETECTION'
    readonly operator: Operator
    readonly threshold: number
    readonly warningThreshold?: number
    /** window is the phrase, such as `Last 5 minutes`. */
    readonly window: string
    /** backMs is how far back the window lies that a change was compared with. */
    readonly backMs?: number
    readonly queries: readonly MetricQuery[]
    readonly formulas: readonly MetricFormula[]
    readonly reportEnabled: boolean
    readonly reportInstructions?: string
  }
  readonly change: Change
  /** before is what the group, or with `notify_once` the monitor, was in, after what it is in now. */
  readonly before: Status
  readonly after: Status
  /** isDelayed marks what a downtime that is over had held back. */
  readonly isDelayed: boolean
  /** group is '' for a monitor without groups, and groups the values of its keys. */
  readonly group: string
  readonly groups: Readonly<Record<string, string>>
  /** troubledGroups are the groups that are in ALERT or WARN now, at most 100 of them. */
  readonly troubledGroups: readonly string[]
  /** value is absent when there was nothing to measure; an infinite one is a text, since JSON has no such number. */
  readonly value?: number | 'Infinity' | '-Infinity'
  /** baseline is what the value was compared with, for changes and anomalies. */
  readonly baseline?: number
  /** threshold is the one that decided: that of the warning where the change is to or from WARN. */
  readonly threshold: number
  readonly fromMs: number
  readonly toMs: number
  readonly atMs: number
}
