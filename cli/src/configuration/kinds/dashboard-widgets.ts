import { isDeepStrictEqual } from 'node:util'
import { ApiFailure, type BodyInput, type contract } from '@dendro/api'
import { type ConfigFields, type ConfigService, listOf, pick, type Send } from '../kind.ts'

/** The ids of a widget and of what is in it. Something shared is also used elsewhere, so that a change of it makes a copy. */
export type WidgetParts = {
  id: string
  isShared: boolean
  metrics: readonly { id: string; isShared: boolean }[]
  widgets: readonly WidgetParts[]
}
export type DashboardParts = { widgets: readonly WidgetParts[] }

type WidgetBody = BodyInput<typeof contract.widgets.update>
type MetricBody = BodyInput<typeof contract.metricDefinitions.create>
type Position = { id: string; x: number; y: number; w: number; h: number }
type Siblings = { wanted: readonly ConfigFields[]; current: readonly ConfigFields[]; parts: readonly WidgetParts[] }

export type WrittenWidgets = {
  placement: { widget_ids: string[]; layout: { widget_layouts: Position[] } }
  /** Runs the request that uses the widgets; if it fails, those that were created are deleted. */
  orUndone<T>(use: () => Promise<T>): Promise<T>
  /** Deletes the widgets and metrics that nothing uses any more. */
  removeUnused(): Promise<void>
}

/** Writes the widgets of a dashboard, inner ones first. A widget is recognized by its name among its siblings. */
export async function writeWidgets(service: ConfigService, siblings: Siblings, send: Send): Promise<WrittenWidgets> {
  const writer = new WidgetWriter(service, send)
  const orUndone = <T>(use: () => Promise<T>): Promise<T> =>
    use().catch(async (thrown: unknown) => {
      await writer.undo().catch(() => undefined)
      throw thrown
    })
  const placement = await orUndone(() => writer.writeSiblings(siblings, false))
  return { placement, orUndone, removeUnused: () => removeUnused(service, siblings.parts, writer.kept, send) }
}

class WidgetWriter {
  readonly kept = new Set<string>()
  readonly #service: ConfigService
  readonly #send: Send
  readonly #undo: (() => Promise<unknown>)[] = []

  constructor(service: ConfigService, send: Send) {
    this.#service = service
    this.#send = send
  }

  async undo(): Promise<void> {
    for (const step of [...this.#undo].reverse()) await step()
  }

  async writeSiblings({ wanted, current, parts }: Siblings, isFrozen: boolean): Promise<WrittenWidgets['placement']> {
    const matches = matchesByName(wanted, current)
    const ids: string[] = []
    const layouts: Position[] = []
    for (const [at, widget] of wanted.entries()) {
      const match = matches[at]
      const [fields, known] = match === undefined ? [] : [current[match], parts[match]]
      const id = await this.#writeWidget(widget, fields && known ? { fields, parts: known } : undefined, isFrozen)
      ids.push(id)
      if (widget.position !== undefined) layouts.push({ ...(widget.position as Omit<Position, 'id'>), id })
    }
    return { widget_ids: ids, layout: { widget_layouts: layouts } }
  }

  async #writeWidget(
    wanted: ConfigFields,
    known: { fields: ConfigFields; parts: WidgetParts } | undefined,
    isFrozen: boolean,
  ): Promise<string> {
    const { client, signal } = this.#service
    if (known && isDeepStrictEqual(withoutPosition(wanted), withoutPosition(known.fields))) {
      this.#keep(known.parts)
      return known.parts.id
    }
    const isCopied = isFrozen || known?.parts.isShared === true
    const metric_ids: string[] = []
    for (const [at, metric] of listOf(wanted.metrics).entries()) {
      const stored = known && { fields: listOf(known.fields.metrics)[at] as ConfigFields | undefined, ...known.parts.metrics[at] }
      metric_ids.push(await this.#writeMetric(metric as ConfigFields, stored, isCopied))
    }
    const inner = {
      wanted: listOf(wanted.widgets) as ConfigFields[],
      current: listOf(known?.fields.widgets) as ConfigFields[],
      parts: known?.parts.widgets ?? [],
    }
    const placement = await this.writeSiblings(inner, isCopied)
    const body = {
      ...pick(wanted, ['name', 'description', 'type', 'aux']),
      tags: wanted.tags ?? {},
      metric_ids,
      ...placement,
    } as WidgetBody
    if (known && !isCopied) {
      const { id } = known.parts
      await this.#send(() => client.widgets.update({ params: { widgetId: id }, body, signal }))
      this.kept.add(id)
      return id
    }
    const { id } = await this.#send(() => client.widgets.create({ body, signal }))
    this.#undo.push(() => client.widgets.remove({ params: { widgetId: id } }))
    return id
  }

  async #writeMetric(
    wanted: ConfigFields,
    known: { fields: ConfigFields | undefined; id?: string; isShared?: boolean } | undefined,
    isFrozen: boolean,
  ): Promise<string> {
    const { client, signal } = this.#service
    const id = known?.id
    const isSame = isDeepStrictEqual(wanted, known?.fields)
    if (id !== undefined && (isSame || (!isFrozen && known?.isShared === false))) {
      if (!isSame) await this.#send(() => client.metricDefinitions.update({ params: { metricId: id }, body: wanted as MetricBody, signal }))
      this.kept.add(id)
      return id
    }
    const made = await this.#send(() => client.metricDefinitions.create({ body: wanted as MetricBody, signal }))
    this.#undo.push(() => client.metricDefinitions.remove({ params: { metricId: made.id } }))
    return made.id
  }

  #keep({ id, metrics, widgets }: WidgetParts): void {
    this.kept.add(id)
    for (const metric of metrics) this.kept.add(metric.id)
    for (const widget of widgets) this.#keep(widget)
  }
}

const withoutPosition = ({ position: _, ...fields }: ConfigFields): ConfigFields => fields

/** For each wanted widget the index of the current one with its name, the first with the first and so on. */
function matchesByName(wanted: readonly ConfigFields[], current: readonly ConfigFields[]): (number | undefined)[] {
  const free = new Map<unknown, number[]>()
  for (const [at, { name }] of current.entries()) free.set(name, [...(free.get(name) ?? []), at])
  return wanted.map(({ name }) => free.get(name)?.shift())
}

/** Deletes the widgets that are only here and were not kept, outer ones first, and then their metrics. */
async function removeUnused(service: ConfigService, parts: readonly WidgetParts[], kept: ReadonlySet<string>, send: Send): Promise<void> {
  const { client, signal } = service
  for (const { id } of exclusive(parts)) {
    if (!kept.has(id)) await send(() => client.widgets.remove({ params: { widgetId: id }, signal })).catch(unlessUsedOrGone)
  }
  await removeMetrics(service, parts, kept, send)
}

/** Deletes the metrics of deleted widgets. */
export async function removeMetrics(
  { client, signal }: ConfigService,
  parts: readonly WidgetParts[],
  kept: ReadonlySet<string>,
  send: Send,
): Promise<void> {
  const metrics = exclusive(parts).flatMap((widget) => widget.metrics)
  for (const { id, isShared } of metrics) {
    if (isShared || kept.has(id)) continue
    await send(() => client.metricDefinitions.remove({ params: { metricId: id }, signal })).catch(unlessUsedOrGone)
  }
}

/** The widgets that nothing else has, at any depth. */
const exclusive = (parts: readonly WidgetParts[]): WidgetParts[] =>
  parts.flatMap((part) => (part.isShared ? [] : [part, ...exclusive(part.widgets)]))

function unlessUsedOrGone(thrown: unknown): void {
  if (!(thrown instanceof ApiFailure) || (thrown.status !== 404 && thrown.status !== 409)) throw thrown
}
