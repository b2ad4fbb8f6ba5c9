import { useSearch } from '@tanstack/react-router'
import { FromTemplate } from './from-template.tsx'
import { DashboardList } from './list.tsx'
import { OneDashboard } from './one-dashboard.tsx'
import { WidgetEditor } from './widget-editor.tsx'

/** DashboardsPage is the list of dashboards, one of them, or the writing of one of its widgets, as the address says. */
export function DashboardsPage() {
  const asked = useSearch({ from: '/inside/dashboards' })
  if (asked.template !== undefined) return <FromTemplate key={asked.template} id={asked.template} />
  if (asked.id === undefined) return <DashboardList />
  if (asked.widget !== undefined) return <WidgetEditor key={asked.widget} dashboardId={asked.id} id={asked.widget} asked={asked} />
  return <OneDashboard key={asked.id} id={asked.id} asked={asked} />
}
