import type { contract, Monitor, MonitorEvaluation, ReplyOf } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { Check, CircleSlash, Clock, type LucideIcon, X } from 'lucide-react'
import { count } from '../../parts/chart/numbers.ts'
import { GroupText } from '../../parts/datasets/pattern-texts.tsx'
import { groupKeys } from '../../parts/query/condition.ts'
import { TruncationNote, useShown } from '../../parts/records/long-list.tsx'
import { StatusMark, statusNames } from '../../parts/records/status.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading, Panel } from '../../parts/shell/page.tsx'
import { clockOf, type Zone } from '../../parts/time/time-range.ts'
import { Icon } from '../../ui/icon.tsx'
import { groupText } from './events-of.ts'
import { verdictNames } from './labels.ts'
import type { LoadedEvaluations } from './loaded-evaluations.ts'

type Events = ReplyOf<typeof contract.monitors.events>['monitor_events']
export type Notifications = ReplyOf<typeof contract.monitors.notifications>['monitor_notifications']

const SHOWN_AT_ONCE = 200
/** The limit of both lists in the API; they contain the newest. */
const HISTORY_MAX = 10_000
const timeText = (ms: number, zone: Zone): string => `${clockOf(ms, zone).day} ${clockOf(ms, zone).clock.slice(0, 8)}`

type ChangesProps = { monitorId: string; events: Events | undefined; failure: unknown; zone: Zone; retry(): unknown }

/** Lists the status changes with their messages and reports. */
export function Changes({ monitorId, events, failure, zone, retry }: ChangesProps) {
  const { shown, more } = useShown(events ?? [], SHOWN_AT_ONCE)
  return (
    <Panel title="Changes">
      {failure && !events ? <FailureNote thrown={failure} again={retry} /> : null}
      {!events && !failure && <Loading />}
      {events?.length === 0 && <p className="p-3 text-soft">No status changes yet.</p>}
      {events && events.length > 0 && (
        <ol className="max-h-96 divide-y divide-line overflow-auto">
          {shown.map(({ time, monitor_status, previous_status, message, ai_report }) => (
            <li key={`${time} ${monitor_status}`} className="flex flex-col gap-1 px-3 py-1.5">
              <span className="flex flex-wrap items-center gap-2">
                <Link
                  to="/monitors"
                  search={{ id: monitorId, evaluation: time }}
                  title="Show the evaluation"
                  className="text-accent text-xs tabular-nums hover:underline"
                >
                  {timeText(time, zone)}
                </Link>
                <StatusMark status={monitor_status} isNamed />
                {previous_status && <span className="text-soft text-xs">after {statusNames[previous_status].toLowerCase()}</span>}
              </span>
              {message && <span className="break-words text-xs">{message}</span>}
              {ai_report && (
                <details>
                  <summary className="cursor-pointer text-accent text-xs">Report: what changed</summary>
                  <pre className="mt-1 whitespace-pre-wrap break-words rounded bg-sunk p-2 font-mono text-xs">{ai_report}</pre>
                </details>
              )}
            </li>
          ))}
        </ol>
      )}
      {more}
      {events && events.length >= HISTORY_MAX && <TruncationNote>Only the latest {count(HISTORY_MAX)}.</TruncationNote>}
    </Panel>
  )
}

type SentProps = {
  monitor: Monitor
  sent: Notifications | undefined
  kept: LoadedEvaluations | undefined
  failure: unknown
  zone: Zone
  retry(): unknown
}

type NotificationLine = {
  time: number
  key: string
  text: string
  note: string
  status: 'SENT' | 'FAILED' | 'IN_PROGRESS' | 'KEPT'
  isTest: boolean
}

const signs = {
  SENT: { name: 'sent', icon: Check },
  FAILED: { name: 'failed', icon: X },
  IN_PROGRESS: { name: 'in progress', icon: Clock },
  KEPT: { name: 'not sent', icon: CircleSlash },
} as const satisfies Record<NotificationLine['status'], { name: string; icon: LucideIcon }>

/** Lists the notifications with their results, and the suppressed ones with the reason. */
export function Sent({ monitor, sent, kept, failure, zone, retry }: SentProps) {
  const lines = [...(sent ?? []).map(notificationLine), ...suppressedLines(monitor, kept?.evaluations ?? [])].sort(
    (a, b) => b.time - a.time,
  )
  const { shown, more } = useShown(lines, SHOWN_AT_ONCE)
  const oldest = kept?.evaluations.at(-1)
  return (
    <Panel title="Notifications">
      {failure && !sent ? <FailureNote thrown={failure} again={retry} /> : null}
      {!sent && !failure && <Loading />}
      {sent && lines.length === 0 && <p className="p-3 text-soft">No notifications yet.</p>}
      {lines.length > 0 && (
        <ol className="max-h-96 divide-y divide-line overflow-auto">
          {shown.map(({ key, time, text, note, status, isTest }) => (
            <li key={key} className="flex flex-col px-3 py-1.5">
              <span className="flex flex-wrap items-center gap-2">
                <span className="text-soft text-xs tabular-nums">{timeText(time, zone)}</span>
                <span
                  className={`inline-flex items-center gap-1 ${status === 'FAILED' ? 'text-error' : status === 'KEPT' ? 'text-soft' : ''}`}
                >
                  <Icon of={signs[status].icon} size="small" />
                  {signs[status].name}
                </span>
                <span className="min-w-0 wrap-anywhere">
                  <GroupText keys={groupKeys(monitor.queries[0]?.groups)} name={text} />
                </span>
                {isTest && <span className="rounded bg-tint px-1 text-xs">test</span>}
              </span>
              {note !== '' && <span className="break-words text-soft text-xs">{note}</span>}
            </li>
          ))}
        </ol>
      )}
      {more}
      {sent && sent.length >= HISTORY_MAX && <TruncationNote>Only the latest {count(HISTORY_MAX)}.</TruncationNote>}
      {sent && kept && oldest && !kept.isEnd && (
        <TruncationNote>
          Suppressed notifications are listed from {timeText(oldest.time, zone)} on. Load older evaluations to see earlier ones.
        </TruncationNote>
      )}
    </Panel>
  )
}

function notificationLine({
  notification_id,
  time,
  status,
  type,
  destination,
  failure_reason,
  monitor_status,
  test,
  tries,
}: Notifications[number]): NotificationLine {
  const retry = tries.length > 1 ? `${tries.length} tries` : ''
  return {
    time,
    key: notification_id,
    text: `${statusNames[monitor_status]} to ${{ EMAIL: '', SLACK: 'chat ', WEBHOOK: 'webhook ' }[type]}${destination}`,
    note: [failure_reason, retry].filter(Boolean).join(' · '),
    status,
    isTest: test,
  }
}

const suppressedLines = (monitor: Monitor, evaluations: readonly MonitorEvaluation[]): NotificationLine[] =>
  evaluations.flatMap(({ time, groups }) =>
    groups.flatMap(({ group_id, after, verdict }) =>
      verdict === undefined || verdict === 'sent'
        ? []
        : [
            {
              time,
              key: `${time} ${group_id}`,
              text: `${statusNames[after]}${group_id === '' ? '' : ` of ${groupText(monitor, group_id)}`}`,
              note: verdictNames.get(verdict) ?? verdict,
              status: 'KEPT' as const,
              isTest: false,
            },
          ],
    ),
  )
