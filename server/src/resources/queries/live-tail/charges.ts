/** The part of a shared read that one caller is charged for, and its datasets. */
export type Charge = { readonly identityId: string; readonly logIds: readonly string[]; readonly bytes: number }

/** A caller that reads a dataset: the time of its last read, and the bytes of the dataset that it was charged for. */
export type TailWatcher = { readAtMs: number; paidBytes: number }

type WatchedTail = { readonly watchers: Map<string, TailWatcher> }

/** Records that a caller reads a dataset. A new caller starts at the lowest paid amount, so that it is not charged for earlier reads of the others. */
export function noteWatcher({ watchers }: WatchedTail, id: string, nowMs: number): void {
  const existing = watchers.get(id)
  const paidBytes =
    existing?.paidBytes ?? watchers.values().reduce((lowest, one) => Math.min(lowest, one.paidBytes), Number.POSITIVE_INFINITY)
  watchers.set(id, { readAtMs: nowMs, paidBytes: Number.isFinite(paidBytes) ? paidBytes : 0 })
}

/**
 * Returns the caller that is charged for the next read of a dataset: the one that has paid least. Each of these callers may see the dataset, because it
 * read the dataset just now. Callers without a read since `sinceMs` may have left and are removed.
 */
export function payerOf({ watchers }: WatchedTail, sinceMs: number): string | undefined {
  let payer: string | undefined
  for (const [id, { readAtMs, paidBytes }] of watchers) {
    if (readAtMs <= sinceMs) watchers.delete(id)
    else if (payer === undefined || paidBytes < (watchers.get(payer)?.paidBytes ?? 0)) payer = id
  }
  return payer
}

/** The charge for the part of one dataset in a shared read. */
export type Payment = { readonly logId: string; readonly identityId: string; readonly bytes: number }

/** Divides the bytes of a read evenly among its datasets. */
export function paymentsOf(bytes: number, logIds: readonly string[], payers: ReadonlyMap<string, string>): Payment[] {
  const paid = logIds.filter((logId) => payers.has(logId))
  const share = Math.floor(bytes / Math.max(1, paid.length))
  return paid.map((logId, index) => ({
    logId,
    identityId: payers.get(logId) ?? '',
    bytes: index === 0 ? bytes - share * (paid.length - 1) : share,
  }))
}

/** Groups payments by caller. */
export const chargesOf = (payments: readonly Payment[]): Charge[] =>
  [...Map.groupBy(payments, ({ identityId }) => identityId)].map(([identityId, own]) => ({
    identityId,
    logIds: own.map(({ logId }) => logId),
    bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
  }))
