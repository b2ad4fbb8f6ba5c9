import type { contract, MonitorEvaluation, ReplyOf } from '@dendro/api'
import { badField } from '../../../kernel/errors.ts'
import type { MetaWorld } from '../../../world.ts'
import type { MonitorRow } from '../monitor-definitions/monitor-definitions.ts'
import { type HistorySpan, selectEvaluations, selectEvents, selectGroupHistory, selectNotifications } from './history-rows.ts'

type HistoryQuery = { from_ts?: number | undefined; to_ts?: number | undefined }
type Events = ReplyOf<typeof contract.monitors.events>
type Notifications = ReplyOf<typeof contract.monitors.notifications>

const EVALUATIONS = 100

/** Returns the status changes of a monitor, newest first, and those of its groups, oldest first. */
export async function listEvents(world: MetaWorld, monitor: MonitorRow, query: HistoryQuery): Promise<Events> {
  const span = spanOf(query)
  const [events, history] = await Promise.all([
    selectEvents(world.meta, monitor.org_id, monitor.id, span),
    selectGroupHistory(world.meta, monitor.org_id, monitor.id, span),
  ])
  return {
    monitor_events: events.map(({ monitor_id, time, monitor_status, previous_status, message, ai_report }) => ({
      monitor_id,
      time,
      monitor_status,
      previous_status,
      ...(message === null ? {} : { message }),
      ...(ai_report === null ? {} : { ai_report }),
    })),
    groups_history: [...Map.groupBy(history, ({ group_id }) => group_id)].map(([group_id, rows]) => ({
      monitor_id: monitor.id,
      group_id,
      history: rows.map(({ time, status }) => ({ time, status })),
    })),
  }
}

export async function listNotifications(world: MetaWorld, monitor: MonitorRow, query: HistoryQuery): Promise<Notifications> {
  const rows = await selectNotifications(world.meta, monitor.org_id, monitor.id, spanOf(query))
  return {
    monitor_notifications: rows.map((row) => ({
      monitor_id: row.monitor_id,
      notification_id: `${new Date(row.time).toISOString()}_${row.id}`,
      time: row.time,
      status: row.state,
      type: row.type,
      destination: row.destination,
      ...(row.failure_reason === null ? {} : { failure_reason: row.failure_reason }),
      monitor_status: row.monitor_status,
      test: row.test,
      tries: row.tries.map(({ at, status, failure }) => ({
        time: at,
        ...(status === undefined ? {} : { status }),
        ...(failure === undefined ? {} : { failure_reason: failure }),
      })),
    })),
  }
}

export async function listEvaluations(
  world: MetaWorld,
  monitor: MonitorRow,
  { limit = EVALUATIONS, ...query }: HistoryQuery & { limit?: number | undefined },
): Promise<{ evaluations: MonitorEvaluation[] }> {
  const rows = await selectEvaluations(world.meta, monitor.org_id, monitor.id, spanOf(query), limit)
  return { evaluations: rows.map(({ record, time, from_ts, to_ts, status }) => ({ time, from_ts, to_ts, status, ...record })) }
}

/** Each bound is optional; without bounds everything stored is returned. */
function spanOf({ from_ts = 0, to_ts = Number.MAX_SAFE_INTEGER }: HistoryQuery): HistorySpan {
  if (from_ts > to_ts) throw badField('from_ts', 'must not be later than to_ts', 'OUT_OF_RANGE')
  return { fromMs: from_ts, toMs: to_ts }
}
