import type { SpendDimension } from '@dendro/api'
import { oneOf, readParams, type SearchParamsOf } from '../../parts/shell/search-params.ts'
import { type RangeParams, readRangeParams } from '../../parts/time/range-params.ts'

export const dimensions = ['dataset', 'pattern', 'field', 'sender', 'key', 'protocol'] as const satisfies readonly SpendDimension[]

const schema = { by: oneOf(dimensions) }

/** The range and what spend is divided by, datasets by default. */
export type SpendParams = RangeParams & SearchParamsOf<typeof schema>
export const readSpendParams = (search: Record<string, unknown>): SpendParams => ({
  ...readRangeParams(search),
  ...readParams(schema, search),
})
