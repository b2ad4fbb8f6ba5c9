import { useSearch } from '@tanstack/react-router'
import { MonitorEditor } from './editor.tsx'
import { FromTemplate } from './from-template.tsx'
import { MonitorList } from './list.tsx'
import { OneMonitor } from './one-monitor.tsx'
import { MonitorTemplates } from './templates.tsx'

/** Shows the list, one monitor, or an editor, as the search parameters say. */
export function MonitorsPage() {
  const params = useSearch({ from: '/inside/monitors' })
  if (params.view === 'templates') return <MonitorTemplates key={params.edit} first={params.edit} />
  if (params.template !== undefined) return <FromTemplate key={params.template} id={params.template} />
  if (params.edit !== undefined)
    return <MonitorEditor key={`${params.edit} ${params.of}`} params={params} id={params.edit === 'new' ? undefined : params.edit} />
  if (params.id !== undefined) return <OneMonitor key={params.id} id={params.id} evaluationMs={params.evaluation} />
  return <MonitorList params={params} />
}
