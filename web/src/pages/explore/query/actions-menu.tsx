import type { Event } from '@dendro/api'
import { Bell, Bookmark, Download, History, NotebookPen, NotebookText, Share2 } from 'lucide-react'
import { lazy } from 'react'
import { ActionMenu, type MenuAction } from '../../../parts/shell/action-menu.tsx'
import { loadCode } from '../../../parts/shell/page-code.ts'
import { useMay } from '../../../parts/shell/permitted.tsx'
import type { Zone } from '../../../parts/time/time-range.ts'
import type { Columns } from '../events/list/columns.ts'
import type { ChangeParams, ExploreParams } from '../explore-params.ts'
import { newMonitorParams } from '../share/create-monitor.ts'
import type { ViewRequest } from '../share/curl.ts'
import type { ExploreQuery } from './explore-query.ts'
import { HistoryMenu } from './history-menu.tsx'
import { SavedSearches } from './saved-searches.tsx'

// The panels are loaded when they are opened: the first rows do not wait for them.
const AddToNotebook = lazy(() =>
  loadCode(() => import('../share/add-to-notebook.tsx')).then(({ AddToNotebook: component }) => ({ default: component })),
)
const ShareMenu = lazy(() => loadCode(() => import('../share/share-menu.tsx')).then(({ ShareMenu: component }) => ({ default: component })))
const ExportMenu = lazy(() =>
  loadCode(() => import('../share/export-menu.tsx')).then(({ ExportMenu: component }) => ({ default: component })),
)

type ActionsMenuProps = {
  params: ExploreParams
  change: ChangeParams
  query: ExploreQuery
  columns: Columns
  loadedEvents: readonly Event[]
  view: ViewRequest
  zone: Zone
}

/** The one menu for what is done with a query besides running it. */
export function ActionsMenu({ params, change, query, columns, loadedEvents, view, zone }: ActionsMenuProps) {
  const may = useMay()
  const actions: readonly MenuAction[] = [
    {
      name: 'Saved searches',
      note: 'Save this search, or open a saved one',
      icon: Bookmark,
      panel: (close) => (
        <SavedSearches
          params={params}
          columns={columns.names}
          onOpen={(next) => {
            close()
            change(() => next)
          }}
        />
      ),
    },
    ...(may('saved_searches_write')
      ? [
          {
            name: 'Add to notebook',
            note: 'Keep this query with your words as a step of an investigation',
            icon: NotebookPen,
            panel: () => <AddToNotebook params={params} columns={columns.names} />,
          },
        ]
      : []),
    { name: 'Notebooks', note: 'Investigations of this organization', icon: NotebookText, link: { to: '/notebooks', search: {} } },
    {
      name: 'History',
      note: 'Recent queries in this browser',
      icon: History,
      panel: (close) => (
        <HistoryMenu
          zone={zone}
          onOpen={(by) => {
            close()
            change(by)
          }}
        />
      ),
    },
    {
      name: 'Share',
      note: 'Copy a link or a curl command',
      icon: Share2,
      panel: () => <ShareMenu params={params} columns={columns.names} view={view} />,
    },
    {
      name: 'Export',
      note: 'Download events as a file',
      icon: Download,
      panel: () => <ExportMenu query={query} loadedEvents={loadedEvents} />,
    },
    ...(may('monitors_write')
      ? [
          {
            name: 'Create monitor',
            note: 'Notify when this query crosses a threshold',
            icon: Bell,
            link: { to: '/monitors', search: newMonitorParams(params) } as const,
          },
        ]
      : []),
  ]
  return <ActionMenu actions={actions} title="Save, share, export, create a monitor" className="max-lg:ml-auto" />
}
