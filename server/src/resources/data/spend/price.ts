import type { SpendPrice } from '@dendro/api'

export const BYTES_PER_GB = 1_000_000_000
/** The days that count for data that is kept without end. */
export const ENDLESS_DAYS = 365

/** Stored bytes, and these bytes times the days for which they are kept. */
export type PricedBytes = { readonly bytes: number; readonly byteDays: number }

/** What bytes cost: when they arrive, and for each day that they are kept. */
export const costOf = ({ bytes, byteDays }: PricedBytes, price: SpendPrice): number =>
  (bytes * price.per_gb + byteDays * price.per_gb_day) / BYTES_PER_GB

/** The member `cost` of a reply, absent without a price. */
export const costMember = (priced: PricedBytes, price: SpendPrice | undefined): { cost?: number } =>
  price ? { cost: costOf(priced, price) } : {}
