/** One try of one notification. The id is the same for every try, so that the receiver can drop a duplicate. */
export type DeliveryAttempt = { readonly id: string; readonly attempt: number }

/** Headers of every notification request. */
export const deliveryHeaders = ({ id, attempt }: DeliveryAttempt): Record<string, string> => ({
  'x-dendro-delivery': id,
  'x-dendro-attempt': String(attempt),
})
