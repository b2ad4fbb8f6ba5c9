import type { Filter } from '@dendro/language/tree'
import { jsonReply, type ReadCall } from '../../../http/protocol-reads.ts'
import type { LongRawReply } from '../../../http/raw-handler.ts'
import { badField } from '../../../kernel/errors.ts'
import { readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { ALL_EVENTS, and, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import { isRoot, resourceAttributes, spanDatasets, spanFilter, traceSpan } from '../traces/traces.ts'
import { rangeOf } from './parameters.ts'
import { parseTraceql } from './traceql.ts'
import { fieldKeys, rootKeys } from './traceql-conditions.ts'

/** Names of attributes are those of the newest spans of the range. */
const NEWEST = 1_000
const VALUES_MAX = 1_000
const INTRINSIC = ['duration', 'kind', 'name', 'rootName', 'rootServiceName', 'status', 'statusMessage', 'traceDuration']
const SCOPES = ['resource', 'span', 'intrinsic'] as const
/** Scopes of the protocol whose attributes are not searched. */
const otherScopes: ReadonlySet<string> = new Set(['event', 'link', 'instrumentation'])
type Scope = (typeof SCOPES)[number]

const fixedValues: ReadonlyMap<string, readonly string[]> = new Map([
  ['status', ['error', 'ok', 'unset']],
  ['kind', ['client', 'consumer', 'internal', 'producer', 'server']],
])

/** Lists the names of attributes by scope. */
export async function listScopedTags(world: World, call: ReadCall): Promise<LongRawReply> {
  const scope = call.parameters.get('scope')?.trim() || 'none'
  if (otherScopes.has(scope)) return jsonReply({ scopes: [{ name: scope, tags: [] }], metrics: {} })
  if (scope !== 'none' && !SCOPES.some((one) => one === scope)) throw badField('scope', `must be one of ${SCOPES.join(', ')}`)
  const names = await tagNames(world, call)
  const scopes = SCOPES.filter((one) => scope === 'none' || one === scope)
  return jsonReply({ scopes: scopes.map((name) => ({ name, tags: names[name] })), metrics: {} })
}

/** Lists the names of attributes. */
export async function listTags(world: World, call: ReadCall): Promise<LongRawReply> {
  const names = await tagNames(world, call)
  return jsonReply({ tagNames: [...names.resource, ...names.span].sort(), metrics: {} })
}

async function tagNames(world: World, { actor, parameters, signal }: ReadCall): Promise<Record<Scope, readonly string[]>> {
  const startedMs = world.clock.monotonicMs()
  const bounds = rangeOf(parameters, world.clock.nowMs())
  const datasets = await spanDatasets(world, actor)
  if (datasets.length === 0) return { resource: [], span: [], intrinsic: INTRINSIC }
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter: spanFilter({}).whole, bounds, signal })
  const { events, cost } = await readEvents(world.events, eventQuery, { limit: NEWEST, newestFirst: true, keys: 'all', withRaw: false })
  recordSearch(world, actor, { datasets, bytes: cost.bytes, startedMs })
  const divided = events.map((event) => resourceAttributes(traceSpan(event)))
  const namesIn = (all: readonly Readonly<Record<string, string>>[]) => [...new Set(all.flatMap(Object.keys))].sort()
  return {
    resource: namesIn(divided.map(({ ofResource }) => ofResource)),
    span: namesIn(divided.map(({ ofSpan }) => ofSpan)),
    intrinsic: INTRINSIC,
  }
}

/** Lists the values of an attribute or an intrinsic field, with their types. */
export async function listTypedValues(world: World, call: ReadCall): Promise<LongRawReply> {
  const { type, values } = await tagValues(world, call)
  return jsonReply({ tagValues: values.map((value) => ({ type, value })), metrics: {} })
}

/** Lists the values of an attribute. */
export async function listValues(world: World, call: ReadCall): Promise<LongRawReply> {
  const { values } = await tagValues(world, call)
  return jsonReply({ tagValues: values, metrics: {} })
}

async function tagValues(world: World, { actor, parameters, segments, signal }: ReadCall) {
  const startedMs = world.clock.monotonicMs()
  const name = (segments[0] ?? '').replace(/^span:/, '')
  const fixed = fixedValues.get(name)
  if (fixed) return { type: 'keyword', values: fixed }
  const bounds = rangeOf(parameters, world.clock.nowMs())
  const rootKey = rootKeys.get(name)
  const also = rootKey === undefined ? filterOf(parameters) : and(isRoot, filterOf(parameters))
  const datasets = await spanDatasets(world, actor)
  if (datasets.length === 0) return { type: 'string', values: [] }
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter: spanFilter({ also }).whole, bounds, signal })
  const groups = [rootKey ?? keyOf(name)]
  const found = await readStats(world.events, eventQuery, { calls: [{ name: 'count' }], groups, slices: 1, limit: VALUES_MAX })
  recordSearch(world, actor, { datasets, bytes: found.cost.bytes, startedMs })
  return { type: 'string', values: found.groups.flatMap(({ values: [value] }) => (value === null || value === undefined ? [] : [value])) }
}

/** Clients send the query as far as it is typed. What is not valid yet narrows nothing. */
function filterOf(parameters: URLSearchParams): Filter {
  try {
    return parseTraceql(parameters.get('q') ?? '').filter
  } catch {
    return ALL_EVENTS
  }
}

const keyOf = (name: string): string => fieldKeys.get(name) ?? `$${name.replace(/^(?:span|resource)?\./, '')}`
