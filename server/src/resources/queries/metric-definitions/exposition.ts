import type { MetricTimeseries, Series } from '@dendro/api'
import { Gauge, Registry } from 'prom-client'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { Failure, forbidden } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { measureAll } from '../timeseries/timeseries.ts'
import { type MetricDefinitionRow, seenMetricDefinitions } from './metric-definitions.ts'

const WINDOW_S = 300
const MS_PER_S = 1_000
/** The largest number of groups of one query. */
const GROUPS_MAX = 1_000
const UP = 'dendro_metric_definition_up'

/** One value of a metric with its labels. */
type Sample = { readonly name: string; readonly help: string; readonly labels: Readonly<Record<string, string>>; readonly value: number }

/**
 * Prints the queries and formulas of the named metric definitions that the caller sees, in the Prometheus text format. Each is computed over the
 * last seconds. A definition whose query cannot run does not fail the others.
 */
export async function printMetricDefinitions(
  world: World,
  actor: Actor,
  seconds: number | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (!hasPermission(actor, 'dashboards_read')) throw forbidden('this needs the permission dashboards_read, which the caller does not hold')
  const toMs = world.clock.nowMs()
  const bounds = { fromMs: toMs - (seconds ?? WINDOW_S) * MS_PER_S, toMs }
  const samples: Sample[] = []
  for (const definition of await namedDefinitions(world, actor))
    samples.push(...(await samplesOf(world, actor, definition, bounds, signal)))
  return printSamples(samples)
}

/** Definitions without a name belong to a widget or a monitor. */
const namedDefinitions = async (world: World, actor: Actor): Promise<readonly MetricDefinitionRow[]> =>
  (await seenMetricDefinitions(world, actor)).filter(({ name, made_for }) => name !== null && !made_for)

async function samplesOf(
  world: World,
  actor: Actor,
  { id, name, description, queries, formulas }: MetricDefinitionRow,
  bounds: { fromMs: number; toMs: number },
  signal: AbortSignal,
): Promise<Sample[]> {
  const up = (value: number): Sample => ({
    name: UP,
    help: 'Whether the metric definition could be computed',
    labels: { definition: id },
    value,
  })
  try {
    const measured = await measureAll(
      world,
      actor,
      { queries, formulas: formulas ?? undefined, bounds, slices: 1, limit: GROUPS_MAX, warn: 'nothing' },
      signal,
    )
    const names = new Set<string>()
    const found = Object.entries(measured).flatMap(([part, one]) => {
      const metric = freeName(metricNameOf(`dendro_${name}_${part}`), names)
      const help = description?.trim() || `${part} of the metric definition ${name}`
      return valuesOf(one).map(({ labels, value }) => ({ name: metric, help, labels: { ...labels, definition: id }, value }))
    })
    return [up(1), ...found]
  } catch (thrown) {
    if (!(thrown instanceof Failure) || (thrown.status !== 400 && thrown.status !== 404)) throw thrown
    return [up(0)]
  }
}

type LabeledValue = Pick<Sample, 'labels' | 'value'>

/** The total, or the groups. Nothing that has no value is printed. */
function valuesOf({ aggregates, groups_series }: MetricTimeseries): LabeledValue[] {
  if (groups_series.length > 0) return groups_series.flatMap((series) => groupValues(series, {}))
  const value = aggregates[0]?.value
  return typeof value === 'number' ? [{ labels: {}, value }] : []
}

function groupValues({ key = '', name, value, groups_series }: Series, outer: Readonly<Record<string, string>>): LabeledValue[] {
  const labels = { ...outer, [freeLabel(key, outer)]: name }
  if (!groups_series) return [{ labels, value }]
  // The type of a recursive schema is known for one level only.
  return (groups_series as unknown as readonly Series[]).flatMap((series) => groupValues(series, labels))
}

/** The name of a label for a key. Names that are in use, and those with a meaning for scrapers, get an underscore at the end. */
function freeLabel(key: string, used: Readonly<Record<string, string>>): string {
  let name = key.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^_+/, '')
  if (!/^[a-zA-Z]/.test(name)) name = `key_${name}`
  while (name === 'definition' || Object.hasOwn(used, name)) name = `${name}_`
  return name
}

/** Different names of queries may become the same: then the later ones get an underscore at the end. */
function freeName(wanted: string, used: Set<string>): string {
  let name = wanted
  while (used.has(name)) name = `${name}_`
  used.add(name)
  return name
}

const metricNameOf = (text: string): string => text.replaceAll(/[^a-zA-Z0-9_]+/g, '_').toLowerCase()

/** Several definitions may have metrics of the same name; their labels tell them apart. */
function printSamples(samples: readonly Sample[]): Promise<string> {
  const registry = new Registry()
  for (const [name, own] of Map.groupBy(samples, (sample) => sample.name)) {
    const labelNames = [...new Set(own.flatMap(({ labels }) => Object.keys(labels)))]
    const gauge = new Gauge({ name, help: own[0]?.help ?? name, labelNames, registers: [registry] })
    for (const { labels, value } of own) gauge.set(labels, value)
  }
  return registry.metrics()
}
