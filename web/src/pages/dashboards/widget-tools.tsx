import type { Dashboard, MetricQuery, Widget } from '@dendro/api'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Bell, Ellipsis, Pencil, Plus, Search } from 'lucide-react'
import { useState } from 'react'
import { EVERYTHING } from '../../parts/query/metric-queries.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { useMetricsById } from '../../parts/records/metric-list.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { rangeParamsOf } from '../../parts/time/range-params.ts'
import type { Range } from '../../parts/time/time-range.ts'
import { Icon } from '../../ui/icon.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { menuItem } from '../../ui/menu-item.ts'
import { Popover } from '../../ui/popover.tsx'
import { exploreLink } from './explore-link.ts'
import { useIsElsewhere } from './queries.ts'
import { styleOf } from './widget-style.ts'

type WidgetToolsProps = { dashboard: Dashboard; widget: Widget; range: Range }

/** The menu of a widget: its query in Explore or as a monitor, editing and removal. */
export function WidgetTools({ dashboard, widget, range }: WidgetToolsProps) {
  const [isOpen, setOpen] = useState(false)
  const isFrame = widget.widget_ids.length > 0
  const label = `Actions for ${widget.name}`
  return (
    <Popover label={label} open={isOpen} onOpenChange={setOpen} trigger={<IconButton icon={Ellipsis} label={label} />}>
      <div className="flex w-48 max-w-full flex-col">
        {!isFrame && <QueryActions widget={widget} range={range} />}
        <Permitted to="dashboards_write">
          {isFrame && (
            <Link
              to="/dashboards"
              search={(now) => ({ ...now, id: dashboard.id, widget: 'new', into: widget.id })}
              className={menuItem}
              aria-label={`Add a widget to ${widget.name}`}
            >
              <Icon of={Plus} className="text-soft" /> Add a widget
            </Link>
          )}
          <Link
            to="/dashboards"
            search={(now) => ({ ...now, id: dashboard.id, ...(isFrame ? { frame: widget.id } : { widget: widget.id }) })}
            className={menuItem}
            aria-label={`Edit ${widget.name}`}
          >
            <Icon of={Pencil} className="text-soft" /> Edit
          </Link>
          <span className="mt-1 flex border-line border-t pt-1">
            <RemoveWidget dashboard={dashboard} widget={widget} />
          </span>
        </Permitted>
      </div>
    </Popover>
  )
}

/** QueryActions open the query of the widget in Explore, and as a new monitor. */
function QueryActions({ widget, range }: { widget: Widget; range: Range }) {
  const client = useClient()
  const navigate = useNavigate()
  const metrics = useMetricsById(widget.metric_ids)
  const own = widget.metric_ids.flatMap((id) => metrics.data?.filter((one) => one.id === id) ?? [])
  const queries = own.flatMap((one) => one.queries)
  const [metric] = own
  const { alert } = styleOf(widget)
  const explore = useMutation({
    mutationFn: async () => {
      const [first] = queries
      const search = exploreLink(widget.type, queries, await datasetsOf(first), rangeParamsOf(range))
      await navigate({ to: '/explore', search })
    },
  })
  /** The datasets of a query; a selector is resolved by the service, and none means all datasets. */
  async function datasetsOf(query: MetricQuery | undefined): Promise<string[]> {
    const selector = query?.from_expr?.trim() ?? ''
    if (selector === EVERYTHING) return []
    if (selector === '') return query?.from ?? []
    return (await client.datasets.list({ query: { from_expr: selector } })).datasets.map(({ id }) => id)
  }
  return (
    <>
      <button type="button" className={menuItem} disabled={!metric || explore.isPending} onClick={() => explore.mutate()}>
        <Icon of={Search} className="text-soft" /> Open in Explore
      </button>
      {(explore.error ?? metrics.error) && <FailureNote thrown={explore.error ?? metrics.error} isSmall />}
      <Permitted to="monitors_write">
        {metric && (
          <Link
            to="/monitors"
            search={{
              edit: 'new',
              metric: metric.id,
              ...(alert === undefined ? {} : { threshold: alert }),
              ...rangeParamsOf(range),
            }}
            className={menuItem}
          >
            <Icon of={Bell} className="text-soft" /> Create monitor
          </Link>
        )}
      </Permitted>
    </>
  )
}

function RemoveWidget({ dashboard, widget }: Omit<WidgetToolsProps, 'range'>) {
  const client = useClient()
  const queries = useQueryClient()
  const { data: isElsewhere, refetch } = useIsElsewhere(dashboard.id, widget.id)
  const isFrame = widget.widget_ids.length > 0
  const remove = async () => {
    // The widgets of a removed frame return to the dashboard.
    if (isFrame) await client.dashboards.change({ params: { dashboardId: dashboard.id }, body: { append_widget_ids: widget.widget_ids } })
    if ((await refetch({ throwOnError: true })).data)
      await client.dashboards.removeWidget({ params: { dashboardId: dashboard.id, widgetId: widget.id } })
    else await client.widgets.remove({ params: { widgetId: widget.id } })
    await queries.invalidateQueries({ queryKey: ['dashboards'] })
  }
  return (
    <Confirm
      action="Remove"
      size="small"
      label={`Remove ${widget.name}`}
      message={`${isElsewhere ? `Remove “${widget.name}” from this dashboard? It stays on others.` : `Remove “${widget.name}”?`}${isFrame ? ' Its widgets return to the dashboard.' : ''}`}
      onYes={remove}
    />
  )
}
