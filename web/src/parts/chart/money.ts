/** The code of ISO 4217 for an amount without a currency. */
export const NO_CURRENCY = 'XXX'

/** Writes an amount with its currency, and small amounts with the digits that they need. */
export function money(amount: number, currency: string): string {
  const isSmall = amount !== 0 && Math.abs(amount) < 0.1
  const digits = isSmall ? { maximumSignificantDigits: 2 } : {}
  return new Intl.NumberFormat('en', { style: 'currency', currency, ...digits }).format(amount)
}
