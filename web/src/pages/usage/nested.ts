import type { Series, UsageSeries } from '@dendro/api'

/** nestedOf are the groups of usage, the largest first. */
export const nestedOf = ({ groups_series }: UsageSeries): Series[] => groups_series.toSorted((a, b) => b.value - a.value)
