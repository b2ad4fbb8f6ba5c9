import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../http/actor.ts'
import type { World } from '../../world.ts'
import { allMetricDefinitions } from '../metric-definitions/metric-definitions.ts'
import { measureDefinition } from '../timeseries/timeseries.ts'
import type { WidgetRow } from './rows.ts'
import { within } from './tree.ts'
import { allWidgets } from './widgets.ts'

type Ask = BodyOf<typeof contract.widgets.data>
type Answer = ReplyOf<typeof contract.widgets.data>

/** widgetData measures all metrics of a widget and of those within it, over one range; a metric that is gone is left out. */
export async function widgetData(world: World, actor: Actor, record: WidgetRow, ask: Ask, signal: AbortSignal): Promise<Answer> {
  const definitions = new Map((await allMetricDefinitions(world, actor.orgId)).map((row) => [row.id, row]))
  const widgets = await allWidgets(world, actor.orgId)
  const shown = [...within([record.id], widgets)].flatMap((id) => widgets.find((widget) => widget.id === id) ?? [])
  const metrics: Answer['metrics'] = []
  const now = world.clock.nowMs()
  // One moment for all of them: what stands side by side is of the same range.
  const moment = { ...world, clock: { ...world.clock, nowMs: () => now } }
  for (const widget of shown) {
    for (const metric_id of widget.metric_ids) {
      const definition = definitions.get(metric_id)
      if (!definition) continue
      const { queries, formulas } = definition
      const timeseries = await measureDefinition(moment, actor, { queries, formulas: formulas ?? undefined }, ask, signal)
      metrics.push({ widget_id: widget.id, metric_id, timeseries })
    }
  }
  return { metrics }
}
