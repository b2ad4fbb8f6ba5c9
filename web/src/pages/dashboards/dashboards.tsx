import { useSearch } from '@tanstack/react-router'
import { FrameEditor } from './frame-editor.tsx'
import { FromPack } from './from-pack.tsx'
import { FromTemplate } from './from-template.tsx'
import { DashboardList } from './list.tsx'
import { MetricEditor } from './metric-editor.tsx'
import { MetricList } from './metric-list.tsx'
import { OneDashboard } from './one-dashboard.tsx'
import { DashboardTemplates } from './templates.tsx'
import { WidgetEditor } from './widget-editor.tsx'

/** Shows the list, one dashboard, or an editor, as the search parameters say. */
export function DashboardsPage() {
  const params = useSearch({ from: '/inside/dashboards' })
  if (params.metric !== undefined) return <MetricEditor key={params.metric} id={params.metric} />
  if (params.view === 'metrics') return <MetricList />
  if (params.view === 'templates') return <DashboardTemplates />
  if (params.template !== undefined) return <FromTemplate key={params.template} id={params.template} />
  if (params.pack !== undefined && params.of !== undefined)
    return <FromPack key={`${params.pack} ${params.of}`} pack={params.pack} datasetId={params.of} />
  if (params.id === undefined) return <DashboardList />
  if (params.frame !== undefined) return <FrameEditor key={params.frame} dashboardId={params.id} id={params.frame} />
  if (params.widget !== undefined) return <WidgetEditor key={params.widget} dashboardId={params.id} id={params.widget} params={params} />
  return <OneDashboard key={params.id} id={params.id} params={params} />
}
