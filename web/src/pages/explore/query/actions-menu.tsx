import type { Event } from '@dendro/api'
import { useNavigate } from '@tanstack/react-router'
import { ArrowLeft, Bell, Bookmark, Download, Ellipsis, History, type LucideIcon, Share2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useMay } from '../../../parts/permitted.tsx'
import type { Zone } from '../../../parts/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { Popover } from '../../../ui/popover.tsx'
import type { Columns } from '../events/columns.ts'
import type { ChangeParams, ExploreParams } from '../explore-params.ts'
import { newMonitorParams } from '../share/create-monitor.ts'
import type { ViewRequest } from '../share/curl.ts'
import { ExportMenu } from '../share/export-menu.tsx'
import { ShareMenu } from '../share/share-menu.tsx'
import type { ExploreQuery } from './explore-query.ts'
import { HistoryMenu } from './history-menu.tsx'
import { SavedSearches } from './saved-searches.tsx'

type ActionsMenuProps = {
  params: ExploreParams
  change: ChangeParams
  query: ExploreQuery
  columns: Columns
  loadedEvents: readonly Event[]
  view: ViewRequest
  zone: Zone
  datasetName(id: string): string
}

type Action = { name: string; note: string; icon: LucideIcon } & ({ panel: ReactNode } | { run(): unknown })

/** ActionsMenu is the one menu for what is done with a query besides running it. */
export function ActionsMenu({ params, change, query, columns, loadedEvents, view, zone, datasetName }: ActionsMenuProps) {
  const [isOpen, setOpen] = useState(false)
  const [opened, setOpened] = useState<string>()
  const navigate = useNavigate()
  const may = useMay()
  const close = () => setOpen(false)
  const actions: readonly Action[] = [
    {
      name: 'Saved searches',
      note: 'Save this search, or open a saved one',
      icon: Bookmark,
      panel: (
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
    {
      name: 'History',
      note: 'Recent queries in this browser',
      icon: History,
      panel: (
        <HistoryMenu
          zone={zone}
          nameOfDataset={datasetName}
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
      panel: <ShareMenu params={params} columns={columns.names} view={view} />,
    },
    { name: 'Export', note: 'Download events as a file', icon: Download, panel: <ExportMenu query={query} loadedEvents={loadedEvents} /> },
    ...(may('monitors_write')
      ? [
          {
            name: 'Create monitor',
            note: 'Notify when this query crosses a threshold',
            icon: Bell,
            run: () => navigate({ to: '/monitors', search: newMonitorParams(params) }),
          },
        ]
      : []),
  ]
  const shown = actions.find(({ name }) => name === opened)
  return (
    <Popover
      label={shown?.name ?? 'Actions'}
      open={isOpen}
      onOpenChange={(next) => {
        setOpen(next)
        setOpened(undefined)
      }}
      trigger={
        <Button title="Save, share, export, create a monitor" aria-label="Actions" className="max-lg:ml-auto">
          <Icon of={Ellipsis} />
          <span className="max-xl:hidden">Actions</span>
        </Button>
      }
    >
      {shown && 'panel' in shown ? (
        <>
          <p className="mb-2 flex items-center gap-1 font-medium">
            <IconButton icon={ArrowLeft} label="Back to all actions" onClick={() => setOpened(undefined)} />
            {shown.name}
          </p>
          {shown.panel}
        </>
      ) : (
        <ul className="flex w-72 max-w-full flex-col">
          {actions.map((action) => (
            <li key={action.name}>
              <button
                type="button"
                aria-label={action.name}
                className="flex w-full items-start gap-2.5 rounded px-2 py-1.5 text-left hover:bg-tint"
                onClick={() => ('panel' in action ? setOpened(action.name) : action.run())}
              >
                <Icon of={action.icon} className="mt-0.5 text-soft" />
                <span>
                  {action.name}
                  <span className="block text-soft text-xs">{action.note}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Popover>
  )
}
