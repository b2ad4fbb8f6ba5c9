import type { Filter } from '@dendro/language/tree'
import { badField, badRequest } from '../../../kernel/errors.ts'
import type { StatsResult } from '../../../reading/query.ts'
import { readStats } from '../../../reading/reading.ts'
import { seenEventsFor } from '../../access/policies/policies.ts'
import { and } from '../../data/event-queries/event-queries.ts'
import { chooseDatasets } from './chosen-datasets.ts'
import { labelNameOf } from './label-names.ts'
import { boundsOf } from './log-entries.ts'
import { parseLogqlLogs } from './logql/parse.ts'
import type { LabelMatcher } from './logql/tree.ts'
import { eventQueryOf, type LokiCaller, type PlannedLogs, planLogs } from './loki-query.ts'
import { type LokiRequest, recordRead } from './request.ts'

const RANGE_MS = 6 * 3_600_000
/** The largest number of values that a list shows. */
const VALUES_MAX = 10_000
const at = { position: 0, length: 0 }

/**
 * Lists the labels of the datasets that the caller sees and a selector may match. A dataset has the labels of all its events; callers who see only some
 * of them get the labels that these have in the range.
 */
export async function listLabels(request: LokiRequest): Promise<unknown> {
  const { world, actor, parameters } = request
  const range = parameters.range(world.clock.nowMs(), RANGE_MS)
  const { keys, datasets } = await chooseDatasets(world, actor, matchersOf(parameters.text('query')))
  const seen = datasets.length === 0 ? undefined : await seenEventsFor(world, actor)
  if (datasets.some((dataset) => seen?.(dataset))) {
    const labels = await countedLabels(request, await planSelector(request), range)
    return { status: 'success', data: labels.map(({ label }) => label) }
  }
  return { status: 'success', data: datasets.length === 0 ? [] : keys.streamNames }
}

/** Lists the values of a label among the events of a range, sorted. */
export async function listLabelValues(request: LokiRequest): Promise<unknown> {
  const { world, parameters, segments } = request
  const [name = ''] = segments
  if (labelNameOf(name) !== name) throw badField('name', 'must be the name of a label')
  const range = parameters.range(world.clock.nowMs(), RANGE_MS)
  const planned = await planSelector(request)
  const values = await readAllValues(request, planned, { keys: planned.keys.streamKeys(name), range })
  if (planned.datasets.length > 0) recordRead(request)
  return { status: 'success', data: values.sort() }
}

/** Lists the labels that the events of a range have, with the number of their values. */
export async function countLabelValues(request: LokiRequest): Promise<unknown> {
  const range = request.parameters.range(request.world.clock.nowMs(), RANGE_MS)
  return { detectedLabels: await countedLabels(request, await planSelector(request), range) }
}

async function countedLabels(
  request: LokiRequest,
  planned: PlannedLogs,
  range: WantedValues['range'],
): Promise<{ label: string; cardinality: number }[]> {
  const labels: { label: string; cardinality: number }[] = []
  for (const name of planned.datasets.length === 0 ? [] : planned.keys.streamNames) {
    const cardinality = await countValues(request, planned, { keys: planned.keys.streamKeys(name), range })
    if (cardinality > 0) labels.push({ label: name, cardinality })
  }
  if (planned.datasets.length > 0) recordRead(request)
  return labels
}

const planSelector = (request: LokiRequest): Promise<PlannedLogs> =>
  planLogs(request, { kind: 'logs', matchers: matchersOf(request.parameters.text('query')), stages: [], at })

type WantedValues = { readonly keys: readonly string[]; readonly range: { readonly startNs: bigint; readonly endNs: bigint } }

/** Returns at most `limit` values of a label, the most frequent first. */
export async function readLabelValues(
  request: LokiCaller,
  planned: PlannedLogs,
  { limit, ...wanted }: WantedValues & { readonly limit: number },
): Promise<string[]> {
  return valuesOf(await readGroups(request, planned, wanted, { filter: planned.filter, limit })).slice(0, limit)
}

async function readAllValues(request: LokiCaller, planned: PlannedLogs, wanted: WantedValues): Promise<string[]> {
  const found = await readGroups(request, planned, wanted, { filter: planned.filter, limit: VALUES_MAX })
  if (found.groupsTotal > found.groups.length) throw tooMany(found.groupsTotal)
  return valuesOf(found)
}

/** Values beyond those that a list may have are counted by the store alone. It can do so for labels that one key holds. */
async function countValues(request: LokiCaller, planned: PlannedLogs, wanted: WantedValues): Promise<number> {
  const found = await readGroups(request, planned, wanted, { filter: planned.filter, limit: VALUES_MAX })
  if (found.groupsTotal === found.groups.length) return valuesOf(found).length
  const [key = '', ...others] = wanted.keys
  if (others.length > 0) throw tooMany(found.groupsTotal)
  const empty: Filter = { kind: 'compare', key, operator: '=', value: { kind: 'text', text: '' }, at }
  const filled: Filter = {
    kind: 'and',
    of: [
      { kind: 'exists', key, negated: false, at },
      { kind: 'not', of: empty },
    ],
  }
  return (await readGroups(request, planned, wanted, { filter: and(planned.filter, filled), limit: 1 })).groupsTotal
}

type Groups = Pick<StatsResult, 'groups' | 'groupsTotal'>

async function readGroups(
  request: LokiCaller,
  planned: PlannedLogs,
  { keys, range }: WantedValues,
  { filter, limit }: { readonly filter: Filter; readonly limit: number },
): Promise<Groups> {
  if (planned.datasets.length === 0) return { groups: [], groupsTotal: 0 }
  const query = await eventQueryOf(request, { ...planned, filter }, boundsOf(range))
  const found = await readStats(request.world.events, query, { calls: [{ name: 'count' }], groups: keys, slices: 1, limit })
  request.cost.bytes += found.cost.bytes
  return found
}

/** Of several keys, the first that an event has holds its value. */
const valuesOf = ({ groups }: Groups): string[] => [
  ...new Set(groups.flatMap(({ values }) => values.find((value) => value !== null) || [])),
]

const tooMany = (count: number) =>
  badRequest(`the label has ${count} values; a list has at most ${VALUES_MAX}, so narrow the range or the selector`)

export function matchersOf(text: string | undefined): readonly LabelMatcher[] {
  if (text === undefined) return []
  const { matchers, stages } = parseLogqlLogs(text)
  if (stages.length > 0) throw badField('query', 'must be a selector without stages')
  return matchers
}
