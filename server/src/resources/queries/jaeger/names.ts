import type { ReadCall } from '../../../http/protocol-reads.ts'
import { badField } from '../../../kernel/errors.ts'
import { readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import { spanDatasets, spanFilter } from '../traces/traces.ts'
import { kindText } from './shown-trace.ts'

/** The protocol gives no range for these lists. */
const RANGE_MS = 24 * 3_600_000
const NAMES_MAX = 10_000

/** Lists the services that sent spans in the last day, sorted. */
export async function listServices(world: World, call: ReadCall) {
  const groups = await readGroups(world, call, ['$service.name'], {})
  return { data: [...new Set(groups.map(([service]) => service ?? ''))].filter((service) => service !== '').sort() }
}

/** Lists the names of a service's spans. */
export async function listOperationNames(world: World, call: ReadCall) {
  const [service = ''] = call.segments
  const groups = await readGroups(world, call, ['$span.name'], { service })
  return { data: groups.map(([name]) => name ?? '').sort() }
}

/** Lists the names of a service's spans with their kinds. */
export async function listOperations(world: World, call: ReadCall) {
  const service = call.parameters.get('service')?.trim()
  if (!service) throw badField('service', 'is required', 'MISSING')
  const kind = call.parameters.get('spanKind')?.trim()
  const groups = await readGroups(world, call, ['$span.name', '$span.kind'], { service })
  return {
    data: groups
      .map(([name, of]) => ({ name: name ?? '', spanKind: kindText(of ?? '') }))
      .filter(({ spanKind }) => !kind || spanKind === kind)
      .sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0)),
  }
}

async function readGroups(world: World, { actor, signal }: ReadCall, groups: readonly string[], of: { service?: string }) {
  const startedMs = world.clock.monotonicMs()
  const datasets = await spanDatasets(world, actor)
  if (datasets.length === 0) return []
  const toMs = world.clock.nowMs()
  const bounds = { fromMs: toMs - RANGE_MS, toMs }
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter: spanFilter(of).whole, bounds, signal })
  const found = await readStats(world.events, eventQuery, { calls: [{ name: 'count' }], groups, slices: 1, limit: NAMES_MAX })
  recordSearch(world, actor, { datasets, bytes: found.cost.bytes, startedMs })
  return found.groups.map(({ values }) => values)
}
