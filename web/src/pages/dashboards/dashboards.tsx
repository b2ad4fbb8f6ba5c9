import { useSearch } from '@tanstack/react-router'
import { FrameEditor } from './frame-editor.tsx'
import { FromTemplate } from './from-template.tsx'
import { DashboardList } from './list.tsx'
import { MetricEditor } from './metric-editor.tsx'
import { MetricList } from './metric-list.tsx'
import { OneDashboard } from './one-dashboard.tsx'
import { DashboardTemplates } from './templates.tsx'
import { WidgetEditor } from './widget-editor.tsx'

/** DashboardsPage is the list of dashboards, one of them, or the writing of what they are made of, as the address says. */
export function DashboardsPage() {
  const asked = useSearch({ from: '/inside/dashboards' })
  if (asked.metric !== undefined) return <MetricEditor key={asked.metric} id={asked.metric} />
  if (asked.view === 'metrics') return <MetricList />
  if (asked.view === 'templates') return <DashboardTemplates />
  if (asked.template !== undefined) return <FromTemplate key={asked.template} id={asked.template} />
  if (asked.id === undefined) return <DashboardList />
  if (asked.frame !== undefined) return <FrameEditor key={asked.frame} dashboardId={asked.id} id={asked.frame} />
  if (asked.widget !== undefined) return <WidgetEditor key={asked.widget} dashboardId={asked.id} id={asked.widget} asked={asked} />
  return <OneDashboard key={asked.id} id={asked.id} asked={asked} />
}
