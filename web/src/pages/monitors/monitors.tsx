import { useSearch } from '@tanstack/react-router'
import { MonitorEditor } from './editor.tsx'
import { FromTemplate } from './from-template.tsx'
import { MonitorList } from './list.tsx'
import { OneMonitor } from './one-monitor.tsx'
import { MonitorTemplates } from './templates.tsx'

/** MonitorsPage is the list of monitors, one of them, or the writing of one, as the address says. */
export function MonitorsPage() {
  const asked = useSearch({ from: '/inside/monitors' })
  if (asked.view === 'templates') return <MonitorTemplates key={asked.edit} first={asked.edit} />
  if (asked.template !== undefined) return <FromTemplate key={asked.template} id={asked.template} />
  if (asked.edit !== undefined)
    return <MonitorEditor key={`${asked.edit} ${asked.of}`} asked={asked} id={asked.edit === 'new' ? undefined : asked.edit} />
  if (asked.id !== undefined) return <OneMonitor key={asked.id} id={asked.id} look={asked.look} />
  return <MonitorList asked={asked} />
}
