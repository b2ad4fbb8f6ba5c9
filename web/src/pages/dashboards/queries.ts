import type { Dashboard, Widget } from '@dendro/api'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { SERIES_MAX } from '../../parts/chart/measured.ts'
import { DASHBOARD_LISTS } from '../../parts/records/dashboard-list.ts'
import { useClient } from '../../parts/shell/client.ts'
import { useMay } from '../../parts/shell/permitted.tsx'
import { boundsOf, gridOf, type Range } from '../../parts/time/time-range.ts'
import { slicesFor, styleOf } from './widget-style.ts'

/** Loads whether another dashboard shows a widget too. */
export function useIsElsewhere(dashboardId: string, widgetId: string) {
  const client = useClient()
  return useQuery({
    queryKey: ['dashboards', 'of widget', widgetId],
    queryFn: async ({ signal }) => (await client.dashboards.list({ query: { widget_id: widgetId, limit: 2 }, signal })).dashboards,
    select: (dashboards) => dashboards.some(({ id }) => id !== dashboardId),
  })
}

export function useDashboard(id: string) {
  const client = useClient()
  return useQuery({ queryKey: ['dashboards', id], queryFn: ({ signal }) => client.dashboards.get({ params: { dashboardId: id }, signal }) })
}

/** Loads all widgets, which frames need to find theirs. */
export function useAllWidgets(isNeeded: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['widgets'],
    enabled: isNeeded,
    queryFn: async ({ signal }) => (await client.widgets.list({ signal })).widgets,
  })
}

/** Loads all monitors; each evaluates a metric. Callers without access to monitors get none. */
export function useMetricMonitors() {
  const client = useClient()
  const may = useMay()
  return useQuery({
    queryKey: ['monitors'],
    enabled: may('monitors_read'),
    queryFn: async ({ signal }) => (await client.monitors.list({ signal })).monitors,
  })
}

export function useDashboardTemplates() {
  const client = useClient()
  return useQuery({
    queryKey: ['dashboard templates'],
    queryFn: async ({ signal }) => (await client.dashboardTemplates.list({ signal })).templates,
  })
}

export function useMetrics() {
  const client = useClient()
  return useQuery({
    queryKey: ['metric definitions'],
    queryFn: async ({ signal }) => (await client.metricDefinitions.list({ signal })).metric_definitions,
  })
}

const REFRESH_MS = 30_000

/** Loads a widget's data and, for a comparison, that of the previous period; relative ranges refresh while the page is visible. */
export function useWidgetData(widget: Widget, range: Range, refreshCount: number, isCompared: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['widget data', widget.id, widget.metadata.modified_at ?? 0, range, refreshCount, isCompared],
    placeholderData: keepPreviousData,
    refetchInterval: 'words' in range ? REFRESH_MS : false,
    queryFn: async ({ signal }) => {
      const nowMs = Date.now()
      const grid = gridOf(boundsOf(range, nowMs), slicesFor(styleOf(widget)))
      const load = async (shiftMs: number) => {
        const body = {
          from_ts: Math.max(0, grid.fromMs - shiftMs),
          to_ts: grid.toMs - shiftMs,
          num_of_slices: grid.slices,
          limit: SERIES_MAX,
          delta: widget.type === 'score',
        }
        return (await client.widgets.data({ params: { widgetId: widget.id }, body, signal, repeatable: true })).metrics
      }
      const [metrics, before] = await Promise.all([load(0), isCompared ? load(grid.toMs - grid.fromMs) : undefined])
      return { metrics, before, grid, nowMs }
    },
  })
}
export type WidgetData = NonNullable<ReturnType<typeof useWidgetData>['data']>

/** Applies changes to a dashboard one after the other and caches the result. */
export function useDashboardChange(id: string) {
  const client = useClient()
  const queries = useQueryClient()
  const { mutateAsync } = useMutation({
    // A scope runs the changes one after the other, so that an earlier response never overwrites a later one.
    scope: { id: `dashboard ${id}` },
    mutationFn: async (body: { name?: string; description?: string; layout?: Dashboard['layout'] }) => {
      const changed = await client.dashboards.change({ params: { dashboardId: id }, body })
      await queries.cancelQueries({ queryKey: ['dashboards', id], exact: true })
      queries.setQueryData(['dashboards', id], changed)
      await queries.invalidateQueries({ queryKey: DASHBOARD_LISTS })
    },
  })
  return mutateAsync
}
