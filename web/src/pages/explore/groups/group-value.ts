type Valued = { readonly value: number | null }

/** Groups without a value, such as an average of none, come after all others. */
export const rankOf = ({ value }: Valued): number => value ?? -Number.MAX_VALUE

/** Orders groups by their values, the largest first. */
export const byValue = (a: Valued, b: Valued): number => rankOf(b) - rankOf(a)
