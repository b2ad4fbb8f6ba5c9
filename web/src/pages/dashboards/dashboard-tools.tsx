import type { Dashboard } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChartColumn, Group, History, LayoutTemplate, Pencil, Trash2, Unlink } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { ConfirmPanel } from '../../parts/records/confirm.tsx'
import { DASHBOARD_LISTS } from '../../parts/records/dashboard-list.ts'
import { ActionMenu, type MenuAction } from '../../parts/shell/action-menu.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { useMay } from '../../parts/shell/permitted.tsx'
import { rangeParamsOf } from '../../parts/time/range-params.ts'
import type { Range } from '../../parts/time/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { useDashboardChange } from './queries.ts'
import { SaveDashboardTemplate } from './save-dashboard-template.tsx'

type DashboardToolsProps = { dashboard: Dashboard; range: Range; isCompared: boolean; onCompare(): void }

/** The menu of a dashboard: widgets, the previous period, its name, templates and deletion. */
export function DashboardTools({ dashboard, range, isCompared, onCompare }: DashboardToolsProps) {
  const { id, name, template } = dashboard
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const may = useMay()
  const remove = async () => {
    await client.dashboards.remove({ params: { dashboardId: id } })
    // A kept list would show the deleted dashboard.
    queries.removeQueries({ queryKey: DASHBOARD_LISTS })
    await navigate({ to: '/dashboards', search: {} })
  }
  const detach = async () => {
    queries.setQueryData(['dashboards', id], await client.dashboards.detach({ params: { dashboardId: id } }))
  }
  const compare: MenuAction = {
    name: isCompared ? 'Stop comparing' : 'Compare',
    note: isCompared ? 'Show this period only' : 'Show the previous period in every chart',
    icon: History,
    run: onCompare,
  }
  const additions: readonly MenuAction[] = [
    {
      name: 'Add widget',
      note: 'A chart, number or list',
      icon: ChartColumn,
      link: { to: '/dashboards', search: { id, widget: 'new', ...rangeParamsOf(range) } },
    },
    { name: 'Add frame', note: 'Group widgets under a title', icon: Group, link: { to: '/dashboards', search: { id, frame: 'new' } } },
  ]
  const edits: readonly MenuAction[] = [
    { name: 'Rename', note: 'Change name and description', icon: Pencil, panel: (close) => <NameForm {...{ dashboard }} onEnd={close} /> },
    {
      name: 'Save as template',
      note: 'Create other dashboards like this one',
      icon: LayoutTemplate,
      panel: () => <SaveDashboardTemplate dashboard={dashboard} />,
    },
  ]
  const detachment: MenuAction = {
    name: 'Detach',
    note: 'Changes of the template no longer apply',
    icon: Unlink,
    panel: (close) => (
      <ConfirmPanel
        action="Detach"
        message="Detach this dashboard from its template? Its widgets stay as they are."
        onYes={detach}
        onEnd={close}
      />
    ),
  }
  const deletion: MenuAction = {
    name: 'Delete',
    icon: Trash2,
    isDestructive: true,
    panel: (close) => (
      <ConfirmPanel
        action="Delete"
        message={`Delete “${name}” and its widgets, except those on other dashboards?`}
        onYes={remove}
        onEnd={close}
      />
    ),
  }
  const mayWrite = may('dashboards_write')
  return (
    <ActionMenu
      actions={[
        ...(mayWrite ? additions : []),
        compare,
        ...(mayWrite ? edits : []),
        ...(mayWrite && template ? [detachment] : []),
        ...(may('dashboards_delete') ? [deletion] : []),
      ]}
    />
  )
}

function NameForm({ dashboard, onEnd }: { dashboard: Dashboard; onEnd(): void }) {
  const change = useDashboardChange(dashboard.id)
  const [failure, setFailure] = useState<unknown>()
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    setFailure(undefined)
    change({ name: text('name'), description: text('description') }).then(onEnd, setFailure)
  }
  return (
    <form aria-label="Describe the dashboard" onSubmit={send} className="flex w-64 max-w-full flex-col gap-2">
      <Field name="Name">
        <Input name="name" required maxLength={255} defaultValue={dashboard.name} />
      </Field>
      <Field name="Description">
        <TextArea name="description" maxLength={1_024} defaultValue={dashboard.description ?? ''} />
      </Field>
      <Button type="submit" variant="main">
        Save
      </Button>
      {failure !== undefined && <FailureNote thrown={failure} />}
    </form>
  )
}
