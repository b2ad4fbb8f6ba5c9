import { badField, badRequest } from '../../../kernel/errors.ts'
import { readStats } from '../../../reading/reading.ts'
import { chooseDatasets } from './chosen-datasets.ts'
import { labelNameOf } from './label-names.ts'
import { boundsOf } from './log-entries.ts'
import { parseLogqlLogs } from './logql/parse.ts'
import type { LabelMatcher } from './logql/tree.ts'
import { eventQueryOf, planLogs } from './loki-query.ts'
import { type LokiRequest, recordRead } from './request.ts'

const RANGE_MS = 6 * 3_600_000
/** The largest number of values that a list shows. */
const VALUES_MAX = 10_000

/** Lists the labels of the datasets that the caller sees and a selector may match. */
export async function listLabels({ world, actor, parameters }: LokiRequest): Promise<unknown> {
  parameters.range(world.clock.nowMs(), RANGE_MS)
  const { keys, datasets } = await chooseDatasets(world, actor, matchersOf(parameters.text('query')))
  return { status: 'success', data: datasets.length === 0 ? [] : keys.streamNames }
}

/** Lists the values of a label among the events of a range, sorted. */
export async function listLabelValues(request: LokiRequest): Promise<unknown> {
  const { world, parameters, segments, cost } = request
  const [name = ''] = segments
  if (labelNameOf(name) !== name) throw badField('name', 'must be the name of a label')
  const range = parameters.range(world.clock.nowMs(), RANGE_MS)
  const matchers = matchersOf(parameters.text('query'))
  const planned = await planLogs(request, { kind: 'logs', matchers, stages: [], at: { position: 0, length: 0 } })
  const groups = planned.keys.streamKeys(name)
  const values = new Set<string>()
  if (planned.datasets.length > 0) {
    const query = await eventQueryOf(request, planned, boundsOf(range))
    const found = await readStats(world.events, query, { calls: [{ name: 'count' }], groups, slices: 1, limit: VALUES_MAX })
    cost.bytes += found.cost.bytes
    if (found.groupsTotal > found.groups.length) throw tooMany(found.groupsTotal)
    for (const group of found.groups) values.add(group.values.find((value) => value !== null) ?? '')
    recordRead(request)
  }
  return { status: 'success', data: [...values].filter((value) => value !== '').sort() }
}

const tooMany = (count: number) =>
  badRequest(`the label has ${count} values; a list has at most ${VALUES_MAX}, so narrow the range or the selector`)

export function matchersOf(text: string | undefined): readonly LabelMatcher[] {
  if (text === undefined) return []
  const { matchers, stages } = parseLogqlLogs(text)
  if (stages.length > 0) throw badField('query', 'must be a selector without stages')
  return matchers
}
