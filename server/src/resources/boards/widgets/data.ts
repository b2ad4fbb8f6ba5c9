import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { allMetricDefinitions } from '../../queries/metric-definitions/metric-definitions.ts'
import { measureDefinition } from '../../queries/timeseries/timeseries.ts'
import type { WidgetRow } from './rows.ts'
import { within } from './tree.ts'
import { allWidgets } from './widgets.ts'

type WidgetDataRequest = BodyOf<typeof contract.widgets.data>
type WidgetDataReply = ReplyOf<typeof contract.widgets.data>

/** The number of metrics measured concurrently; each may run several queries. */
const AT_ONCE = 4

/** Measures all metrics of a widget and its inner widgets over one range; deleted metrics are omitted. */
export async function widgetData(
  world: World,
  actor: Actor,
  record: WidgetRow,
  request: WidgetDataRequest,
  signal: AbortSignal,
): Promise<WidgetDataReply> {
  const definitions = new Map((await allMetricDefinitions(world, actor.orgId)).map((row) => [row.id, row]))
  const widgets = await allWidgets(world, actor.orgId)
  const shown = [...within([record.id], widgets)].flatMap((id) => widgets.find((widget) => widget.id === id) ?? [])
  const now = world.clock.nowMs()
  // One time for all, so that neighboring charts have the same range.
  const moment = { ...world, clock: { ...world.clock, nowMs: () => now } }
  const wanted = shown.flatMap(({ id, metric_ids }) =>
    metric_ids.flatMap((metric_id) => {
      const definition = definitions.get(metric_id)
      return definition ? [{ widget_id: id, metric_id, definition }] : []
    }),
  )
  const metrics: WidgetDataReply['metrics'] = []
  for (let first = 0; first < wanted.length; first += AT_ONCE) {
    const measured = wanted.slice(first, first + AT_ONCE).map(async ({ definition: { queries, formulas }, ...named }) => ({
      ...named,
      timeseries: await measureDefinition(moment, actor, { queries, formulas: formulas ?? undefined }, request, signal),
    }))
    metrics.push(...(await Promise.all(measured)))
  }
  return { metrics }
}
