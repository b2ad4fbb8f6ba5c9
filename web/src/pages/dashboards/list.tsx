import type { Dashboard } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { LayoutTemplate, Sigma } from 'lucide-react'
import { useState } from 'react'
import { ago } from '../../parts/chart/numbers.ts'
import { ContentPackOffers, ReadyMadeMenu, useReadyMadeAction } from '../../parts/records/content-packs.tsx'
import { useDashboardSearch } from '../../parts/records/dashboard-list.ts'
import { NameFirst } from '../../parts/records/name-first.tsx'
import { SearchedList } from '../../parts/records/searched-list.tsx'
import { ActionMenu, type MenuAction } from '../../parts/shell/action-menu.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { EmptyState, Page } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Caret } from '../../ui/caret.tsx'
import { Popover } from '../../ui/popover.tsx'
import { useDashboardTemplates } from './queries.ts'

/** links are behind one button on a phone. */
const links: readonly MenuAction[] = [
  { name: 'Metrics', note: 'Named queries of widgets', icon: Sigma, link: { to: '/dashboards', search: { view: 'metrics' } } },
  {
    name: 'Templates',
    note: 'Dashboards with parameters',
    icon: LayoutTemplate,
    link: { to: '/dashboards', search: { view: 'templates' } },
  },
]

/** Lists the dashboards by name, page by page, with a search. */
export function DashboardList() {
  const [find, setFind] = useState('')
  const list = useDashboardSearch(find)
  const readyMade = useReadyMadeAction('dashboards_write')
  return (
    <Page
      title="Dashboards"
      actions={
        <>
          <span className="flex items-center gap-2 max-sm:hidden">
            <Link to="/dashboards" search={{ view: 'metrics' }} className="px-2 text-accent hover:underline">
              Metrics
            </Link>
            <Permitted to="dashboards_write">
              <Templates />
            </Permitted>
          </span>
          <Permitted to={['dashboards_write', 'search_read']}>
            <ReadyMadeMenu />
          </Permitted>
          <Permitted to="dashboards_write">
            <NewDashboard />
          </Permitted>
          <span className="sm:hidden">
            <ActionMenu actions={[...readyMade, ...links]} />
          </span>
        </>
      }
    >
      <SearchedList
        noun="dashboard"
        of={list}
        find={find}
        onFind={setFind}
        none={
          <EmptyState title="No dashboards yet">
            <p className="text-soft">A dashboard shows metrics over one time range with one crosshair.</p>
            <Permitted to="dashboards_write">
              <NewDashboard label="Create the first dashboard" />
            </Permitted>
          </EmptyState>
        }
      >
        {(found) => <Cards dashboards={found} />}
      </SearchedList>
      <ContentPackOffers />
    </Page>
  )
}

const Cards = ({ dashboards }: { dashboards: readonly Dashboard[] }) => (
  <ul aria-label="Dashboards" className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3 wide:grid-cols-4">
    {dashboards.map(({ id, name, description, widget_ids, metadata }) => (
      <li key={id} className="rounded-md border border-line bg-panel p-3">
        <Link to="/dashboards" search={{ id }} className="break-words font-medium hover:underline">
          {name}
        </Link>
        {description && <p className="break-words text-soft text-xs">{description}</p>}
        <p className="text-soft text-xs">
          {widget_ids.length === 1 ? '1 widget' : `${widget_ids.length} widgets`} · changed{' '}
          {ago(metadata.modified_at ?? metadata.created_at ?? 0, Date.now())}
        </p>
      </li>
    ))}
  </ul>
)

function NewDashboard({ label = 'New dashboard' }: { label?: string }) {
  const client = useClient()
  const navigate = useNavigate()
  return (
    <NameFirst
      label={label}
      create={(name) => client.dashboards.create({ body: { name } })}
      stale={[['dashboards']]}
      onCreated={({ id }) => navigate({ to: '/dashboards', search: { id } })}
    />
  )
}

function Templates() {
  const { data } = useDashboardTemplates()
  const item = 'block rounded px-2 py-1 hover:bg-tint'
  return (
    <Popover
      label="Templates"
      trigger={
        <Button>
          From template <Caret />
        </Button>
      }
    >
      <ul className="flex w-72 max-w-full flex-col gap-1">
        {(data ?? []).map(({ id, name, description }) => (
          <li key={id}>
            <Link to="/dashboards" search={{ template: id }} className={item}>
              {name}
              {description && <span className="block text-soft text-xs">{description}</span>}
            </Link>
          </li>
        ))}
        {data?.length === 0 && <li className="px-2 py-1 text-soft">No templates yet.</li>}
        <li className="border-line border-t pt-1">
          <Link to="/dashboards" search={{ view: 'templates' }} className={`${item} text-accent`}>
            All templates
          </Link>
        </li>
      </ul>
    </Popover>
  )
}
