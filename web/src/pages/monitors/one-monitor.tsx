import type { Monitor } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Copy, LayoutTemplate, Send, Trash2 } from 'lucide-react'
import { ago } from '../../parts/chart/numbers.ts'
import { GroupText, QueryText } from '../../parts/datasets/pattern-texts.tsx'
import { groupKeys } from '../../parts/query/condition.ts'
import { ConfirmPanel } from '../../parts/records/confirm.tsx'
import { LinkedText } from '../../parts/records/linked-text.tsx'
import { MissingRecord } from '../../parts/records/records.tsx'
import { StatusMark, WaitingMark } from '../../parts/records/status.tsx'
import { ActionMenu, type MenuAction } from '../../parts/shell/action-menu.tsx'
import { BackToMonitors } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Page, Panel } from '../../parts/shell/page.tsx'
import { Permitted, useMay } from '../../parts/shell/permitted.tsx'
import { useZone } from '../../parts/time/zone.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Evaluations } from './evaluations.tsx'
import { groupText } from './events-of.ts'
import { Changes, Sent } from './history.tsx'
import { ruleText } from './labels.ts'
import { Mute, mutedText } from './mute.tsx'
import { useHistory, useMonitor } from './queries.ts'
import { TestNotification } from './sample-notification.tsx'
import { SaveMonitorTemplate } from './save-monitor-template.tsx'

/** Shows the status of a monitor, its evaluations, status changes and notifications. */
export function OneMonitor({ id, evaluationMs }: { id: string; evaluationMs: number | undefined }) {
  const monitor = useMonitor(id)
  const { evaluations, older, events, sent } = useHistory(id)
  const [zone] = useZone()
  if (!monitor.data) return <MissingRecord title="Monitor" noun="monitor" of={monitor} back={<BackToMonitors />} />
  return (
    <Page title={monitor.data.name} back={<BackToMonitors />} actions={<Actions monitor={monitor.data} />}>
      <Head monitor={monitor.data} muted={mutedText(monitor.data, zone)} />
      <Evaluations
        monitor={monitor.data}
        kept={evaluations.data}
        sent={sent.data}
        failure={evaluations.error}
        retry={() => evaluations.refetch()}
        chosenMs={evaluationMs}
        older={older}
      />
      <Groups monitor={monitor.data} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Changes monitorId={id} events={events.data?.monitor_events} failure={events.error} retry={() => events.refetch()} zone={zone} />
        <Sent
          monitor={monitor.data}
          sent={sent.data}
          kept={evaluations.data}
          failure={sent.error}
          retry={() => sent.refetch()}
          zone={zone}
        />
      </div>
    </Page>
  )
}

function Actions({ monitor }: { monitor: Monitor }) {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const may = useMay()
  const remove = async () => {
    await client.monitors.remove({ params: { monitorId: monitor.id } })
    queries.removeQueries({ queryKey: ['monitors', 'pages'] })
    await navigate({ to: '/monitors', search: {} })
    await queries.invalidateQueries({ queryKey: ['monitors'], exact: true })
  }
  const edits: readonly MenuAction[] = [
    {
      name: 'Send a test notification',
      note: 'Check that the recipients get it',
      icon: Send,
      panel: () => <TestNotification monitor={monitor} />,
    },
    {
      name: 'Copy',
      note: 'Create a monitor with the same settings',
      icon: Copy,
      link: { to: '/monitors', search: { edit: 'new', of: monitor.id } },
    },
    {
      name: 'Save as template',
      note: 'Create other monitors like this one',
      icon: LayoutTemplate,
      panel: () => <SaveMonitorTemplate monitor={monitor} />,
    },
  ]
  const deletion: MenuAction = {
    name: 'Delete',
    icon: Trash2,
    isDestructive: true,
    panel: (close) => <ConfirmPanel action="Delete" message={`Delete “${monitor.name}” and its history?`} onYes={remove} onEnd={close} />,
  }
  return (
    <>
      <Permitted to="monitors_write">
        <Mute monitors={[monitor]} />
        <Link to="/monitors" search={{ edit: monitor.id }} className={buttonClass()}>
          Edit
        </Link>
      </Permitted>
      <ActionMenu actions={[...(may('monitors_write') ? edits : []), ...(may('monitors_delete') ? [deletion] : [])]} />
    </>
  )
}

type HeadProps = { monitor: Monitor; muted: string | undefined }

function Head({ monitor, muted }: HeadProps) {
  const { status, last_trigger_ts, last_evaluated_ts, description, tags } = monitor
  return (
    <div className="-mt-2 flex flex-col gap-1">
      <p className="flex flex-wrap items-center gap-x-3">
        {last_evaluated_ts === undefined ? <WaitingMark isNamed /> : <StatusMark status={status} isNamed />}
        {last_trigger_ts !== undefined && <span className="text-soft">triggered {ago(last_trigger_ts, Date.now())}</span>}
        {muted && <span className="text-soft">{muted}</span>}
        {Object.entries(tags).map(([name, value]) => (
          <span key={name} className="rounded bg-tint px-1.5 text-xs">
            {name}: {value}
          </span>
        ))}
      </p>
      <p className="break-words">
        <QueryText text={ruleText(monitor)} />
      </p>
      {description && (
        <p className="whitespace-pre-wrap break-words text-soft">
          <LinkedText text={description} />
        </p>
      )}
    </div>
  )
}

function Groups({ monitor }: { monitor: Monitor }) {
  const { monitored_groups } = monitor
  if (monitored_groups.length === 0) return null
  const worst = ['ALERT', 'WARN', 'NO_DATA', 'OK']
  const sorted = monitored_groups.toSorted(
    (a, b) => worst.indexOf(a.status) - worst.indexOf(b.status) || (a.group_id < b.group_id ? -1 : 1),
  )
  return (
    <Panel title={`Groups (${monitored_groups.length})`}>
      <ul className="flex max-h-60 flex-wrap gap-x-4 gap-y-1 overflow-auto p-3">
        {sorted.map(({ group_id, status }) => (
          <li key={group_id} className="flex min-w-0 items-center gap-1.5">
            <StatusMark status={status} />
            <span className="truncate font-mono text-xs">
              <GroupText keys={groupKeys(monitor.queries[0]?.groups)} name={groupText(monitor, group_id)} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
