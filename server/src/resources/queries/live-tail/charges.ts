/** A Charge is what one watcher pays of a read, and of which datasets. */
export type Charge = { readonly identityId: string; readonly logIds: readonly string[]; readonly bytes: number }

/** A TailWatcher is somebody who asked for a dataset: when last, and what it has paid for reads of it. */
export type TailWatcher = { readAtMs: number; paidBytes: number }

type Watched = { readonly watchers: Map<string, TailWatcher> }

/** noteWatcher keeps who asks for a dataset; a new one pays from now on, not for what the others have paid. */
export function noteWatcher({ watchers }: Watched, id: string, nowMs: number): void {
  const known = watchers.get(id)
  const paidBytes = known?.paidBytes ?? watchers.values().reduce((least, one) => Math.min(least, one.paidBytes), Number.POSITIVE_INFINITY)
  watchers.set(id, { readAtMs: nowMs, paidBytes: Number.isFinite(paidBytes) ? paidBytes : 0 })
}

/**
 * payerOf is who pays for the next read of a dataset: the one of its watchers who has paid least. Each of them may see the dataset, since they asked for it
 * just now; those who asked before `sinceMs` may have gone, and are forgotten.
 */
export function payerOf({ watchers }: Watched, sinceMs: number): string | undefined {
  let payer: string | undefined
  for (const [id, { readAtMs, paidBytes }] of watchers) {
    if (readAtMs <= sinceMs) watchers.delete(id)
    else if (payer === undefined || paidBytes < (watchers.get(payer)?.paidBytes ?? 0)) payer = id
  }
  return payer
}

/** A Payment is what somebody pays for the part that one dataset has in a read. */
export type Payment = { readonly logId: string; readonly identityId: string; readonly bytes: number }

/** paymentsOf divides the bytes of a read evenly among its datasets. */
export function paymentsOf(bytes: number, logIds: readonly string[], payers: ReadonlyMap<string, string>): Payment[] {
  const paid = logIds.filter((logId) => payers.has(logId))
  const share = Math.floor(bytes / Math.max(1, paid.length))
  return paid.map((logId, index) => ({
    logId,
    identityId: payers.get(logId) ?? '',
    bytes: index === 0 ? bytes - share * (paid.length - 1) : share,
  }))
}

/** chargesOf puts together what each pays. */
export const chargesOf = (payments: readonly Payment[]): Charge[] =>
  [...Map.groupBy(payments, ({ identityId }) => identityId)].map(([identityId, own]) => ({
    identityId,
    logIds: own.map(({ logId }) => logId),
    bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
  }))
