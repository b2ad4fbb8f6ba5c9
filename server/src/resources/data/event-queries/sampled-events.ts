import type { Filter } from '@dendro/language/tree'

/** How many events a stored one stands for, where an ingest rule has kept a share of the traces. */
export const WEIGHT_KEY = '$sampling.weight'

/** The events that stand for others too. */
export const isSampled: Filter = { kind: 'exists', key: WEIGHT_KEY, negated: false, at: { position: 0, length: 0 } }
