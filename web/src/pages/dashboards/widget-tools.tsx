import type { Dashboard, Widget } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Permitted } from '../../parts/permitted.tsx'
import { useDashboards } from './queries.ts'

const item = 'rounded px-2 py-0.5 text-soft text-xs hover:bg-tint hover:text-ink'

/** WidgetTools edit a widget, add widgets to a frame, and remove a widget. */
export function WidgetTools({ dashboard, widget }: { dashboard: Dashboard; widget: Widget }) {
  const client = useClient()
  const queries = useQueryClient()
  const list = useDashboards()
  const isElsewhere = (list.data ?? []).some(({ id, widget_ids }) => id !== dashboard.id && widget_ids.includes(widget.id))
  const isFrame = widget.widget_ids.length > 0
  const remove = async () => {
    // The widgets of a removed frame return to the dashboard.
    if (isFrame) await client.dashboards.change({ params: { dashboardId: dashboard.id }, body: { append_widget_ids: widget.widget_ids } })
    if (isElsewhere) await client.dashboards.removeWidget({ params: { dashboardId: dashboard.id, widgetId: widget.id } })
    else await client.widgets.remove({ params: { widgetId: widget.id } })
    await queries.invalidateQueries({ queryKey: ['dashboards'] })
  }
  return (
    <Permitted to="dashboards_write">
      <span className="flex items-center">
        {isFrame && (
          <Link
            to="/dashboards"
            search={(now) => ({ ...now, id: dashboard.id, widget: 'new', into: widget.id })}
            className={item}
            aria-label={`Add a widget to ${widget.name}`}
          >
            Add
          </Link>
        )}
        <Link
          to="/dashboards"
          search={(now) => ({ ...now, id: dashboard.id, ...(isFrame ? { frame: widget.id } : { widget: widget.id }) })}
          className={item}
          aria-label={`Edit ${widget.name}`}
        >
          Edit
        </Link>
        <Confirm
          action="Remove"
          size="small"
          label={`Remove ${widget.name}`}
          message={`${isElsewhere ? `Remove “${widget.name}” from this dashboard? It stays on others.` : `Remove “${widget.name}”?`}${isFrame ? ' Its widgets return to the dashboard.' : ''}`}
          onYes={remove}
        />
      </span>
    </Permitted>
  )
}
