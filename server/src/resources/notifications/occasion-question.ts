import type { MetricQuery } from '@dendro/api'
import type { Actor } from '../../http/actor.ts'
import { parseFilter } from '../../query/filter.ts'
import { matchDatasets, parseSelector } from '../../query/selector.ts'
import type { Filter } from '../../query/tree.ts'
import type { Bounds, Question } from '../../reading/question.ts'
import type { World } from '../../world.ts'
import { allDatasets } from '../datasets/datasets.ts'
import { and, questionFor } from '../search/question.ts'
import { selectOrganizationNumber } from './rows.ts'

type Reader = Pick<World, 'meta' | 'deployment' | 'clock'>

/** What an occasion looks at costs little: whoever waits for the message waits for it too. */
const BUDGET = { bytes: 2 ** 34, rows: 200_000_000, seconds: 8 }

export type Asked = { readonly orgId: string; readonly query: MetricQuery; readonly groups: Readonly<Record<string, string>> }

/** questionOn asks what a query of a monitor asks, of the group alone if there is one; undefined when it reads nothing. */
export async function questionOn(world: Reader, asked: Asked, bounds: Bounds, signal: AbortSignal): Promise<Question | undefined> {
  const { orgId, query, groups } = asked
  const all = await allDatasets(world, orgId)
  const ids = new Set(query.from)
  const datasets = query.from_expr?.trim() ? matchDatasets(parseSelector(query.from_expr), all) : all.filter(({ id }) => ids.has(id))
  const orgNumber = (await selectOrganizationNumber(world.meta, orgId))?.number
  if (datasets.length === 0 || orgNumber === undefined) return undefined
  const filter = and(parseFilter(query.where, 'where').filter, onlyGroup(groups))
  const budget = { ...BUDGET, memoryBytes: world.deployment.queryLimits.memoryBytes }
  return questionFor(world, nobodyIn(orgId, orgNumber), { datasets, filter, bounds, signal, budget })
}

const NOWHERE = { position: 0, length: 0 }

function onlyGroup(groups: Readonly<Record<string, string>>): Filter {
  const conditions = Object.entries(groups).map(
    ([key, text]): Filter => ({ kind: 'compare', key, operator: '=', value: { kind: 'text', text }, at: NOWHERE }),
  )
  return conditions.reduce(and, { kind: 'all' })
}

/** nobodyIn asks for the organisation itself: a monitor belongs to it and not to whoever made it. */
const nobodyIn = (orgId: string, orgNumber: number): Actor => ({
  orgId,
  orgNumber,
  identity: { type: 'API_KEY_ID', id: orgId },
  name: 'monitor',
  roles: [],
  permissions: new Set(),
  facts: { correlationId: '', action: '', address: '', userAgent: '', accept: '', baseUrl: '' },
})
