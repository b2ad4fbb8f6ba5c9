import { AUDIT_COLLECTION } from '../../access/audit/audit.ts'

/** The events that the service writes to see whether they are found. */
export const CANARY_COLLECTION = '.canary'
const CANARY_DAYS = 1

type FixedRetention = { readonly days: number | undefined; readonly reason: string }

const fixed: ReadonlyMap<string, FixedRetention> = new Map([
  // They never disappear before their records.
  [AUDIT_COLLECTION, { days: undefined, reason: 'the events of the audit trail are kept forever' }],
  [CANARY_COLLECTION, { days: CANARY_DAYS, reason: 'the events of the canary are kept for a day' }],
])

/** How long the events of a collection are kept about which no rule decides. */
export const fixedRetention = (collection: string): FixedRetention | undefined => fixed.get(collection)
