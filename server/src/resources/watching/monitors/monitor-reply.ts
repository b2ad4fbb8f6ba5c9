import type { Monitor } from '@dendro/api'
import { metadataOf } from '../../../meta/metadata.ts'
import { groupValues, isValidState } from '../alert-states/alert-states.ts'
import { type MonitorRow, type StateRow, watchedKeys } from '../monitor-definitions/monitor-definitions.ts'

type MonitorStateColumns = Pick<StateRow, 'status' | 'state' | 'last_trigger_ts' | 'looked_at'>

export const isMuted = ({ muted_until }: Pick<MonitorRow, 'muted_until'>, nowMs: number): boolean =>
  muted_until !== null && (muted_until < 0 || muted_until > nowMs)

/** Combines the stored definition with the state from evaluations; a monitor that was never evaluated is OK. */
export function monitorReply(row: MonitorRow, stored: MonitorStateColumns | undefined, nowMs: number): Monitor {
  return {
    id: row.id,
    name: row.name,
    ...(row.description === null ? {} : { description: row.description }),
    type: row.type,
    monitor_type: row.type,
    comparison_operator: row.comparison_operator,
    threshold: row.threshold,
    ...(row.warning_threshold === null ? {} : { warning_threshold: row.warning_threshold }),
    window: row.time_window,
    actions: row.actions,
    status: stored?.status ?? 'OK',
    monitored_groups: stored ? shownGroups(row, stored) : [],
    no_data_status: row.no_data_status,
    notify_once: row.notify_once,
    ...(row.group_retention === null ? {} : { group_retention: row.group_retention }),
    ...(row.muted_until !== null && isMuted(row, nowMs) ? { muted_until: row.muted_until } : {}),
    ...(stored && stored.last_trigger_ts !== null ? { last_trigger_ts: stored.last_trigger_ts } : {}),
    ...(stored && stored.looked_at !== null ? { last_evaluated_ts: stored.looked_at } : {}),
    ...(row.aux === null ? {} : { aux: row.aux }),
    ...(row.compare_to === null ? {} : { compare_to: row.compare_to }),
    ...(row.change_type === null ? {} : { change_type: row.change_type }),
    ...(row.evaluation_window === null ? {} : { evaluation_window: row.evaluation_window }),
    ...(row.anomaly_algorithm === null ? {} : { anomaly_algorithm: row.anomaly_algorithm }),
    ai_report_enabled: row.ai_report_enabled,
    ...(row.ai_report_instructions === null ? {} : { ai_report_instructions: row.ai_report_instructions }),
    metric_id: row.metric_id,
    queries: row.queries,
    formulas: row.formulas,
    ...(row.template === null ? {} : { template: row.template }),
    tags: row.tags,
    created_at: row.created_at,
    metadata: metadataOf(row),
  }
}

const shownGroups = (row: MonitorRow, { state }: MonitorStateColumns): Monitor['monitored_groups'] => {
  // A damaged row must not break the list of monitors.
  if (!isValidState(state)) return []
  const groups = Object.entries(state.groups).filter(([group]) => group !== '')
  const keys = groups.length === 0 ? [] : watchedKeys(row)
  return groups.map(([group_id, { status }]) => ({ group_id, groups: groupValues(group_id, keys), status }))
}
