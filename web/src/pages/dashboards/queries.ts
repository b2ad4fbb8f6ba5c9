import type { Dashboard, Widget } from '@dendro/api'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { SERIES_MAX } from '../../parts/chart/measured.ts'
import { readAllById } from '../../parts/records/by-id.ts'
import { DASHBOARD_LISTS } from '../../parts/records/dashboard-list.ts'
import { recordsOf, searchedText, searchOf, usePages, useSearched } from '../../parts/records/pages.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { boundsOf, gridOf, type Range } from '../../parts/time/time-range.ts'
import type { DendroClient } from '../../session/session.ts'
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

export const readWidgets = (client: DendroClient, ids: readonly string[], signal?: AbortSignal): Promise<readonly Widget[]> =>
  readAllById(ids, async (some) => {
    const query = { widget_ids: [...some], limit: some.length }
    return (await client.widgets.list({ query, ...(signal ? { signal } : {}) })).widgets
  })

/** Loads the widgets inside some frames. */
export function useInnerWidgets(frames: readonly Widget[]) {
  const client = useClient()
  const ids = frames.flatMap(({ widget_ids }) => widget_ids)
  return useQuery({
    queryKey: ['widgets', 'by id', [...ids].sort()],
    queryFn: ({ signal }) => readWidgets(client, ids, signal),
    // A frame that gets a widget keeps the others meanwhile.
    placeholderData: keepPreviousData,
  })
}

/** Loads a frame with the widgets inside it. */
export function useFrame(id: string | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['widgets', 'frame', id],
    // The form begins with what is stored, not with what was loaded for an earlier one.
    gcTime: 0,
    enabled: id !== undefined,
    queryFn: async ({ signal }) => {
      const frame = await client.widgets.get({ params: { widgetId: id ?? '' }, signal })
      return { frame, inner: await readWidgets(client, frame.widget_ids, signal) }
    },
  })
}

/** Loads the widgets that the service finds by words and that are no frames, sorted by name, page by page. */
function useFoundWidgets(words: string) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: ['widgets', 'list', search],
    read: (page, signal) => client.widgets.list({ query: { sort: 'name', is_frame: false, ...search, ...page }, signal }),
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ widgets }) => widgets)), [list.data])
  return { ...list, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

export const widgetText = ({ name, description = '', tags }: Widget): string => searchedText([name, description], tags)

/** The widgets that contain the typed words and are no frames. */
export const useWidgetSearch = (words: string) => useSearched(words, useFoundWidgets, widgetText)

export function useDashboardTemplates() {
  const client = useClient()
  return useQuery({
    queryKey: ['dashboard templates'],
    queryFn: async ({ signal }) => (await client.dashboardTemplates.list({ signal })).templates,
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
