/** A Delivery names one notification to one receiver: its id is the same at every try, so that the receiver can drop a second copy. */
export type Delivery = { readonly id: string; readonly attempt: number }

/** deliveryHeaders go with every request that notifies. */
export const deliveryHeaders = ({ id, attempt }: Delivery): Record<string, string> => ({
  'x-dendro-delivery': id,
  'x-dendro-attempt': String(attempt),
})
