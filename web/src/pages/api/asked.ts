/** readAsked takes an address as it comes: which operation is shown. */
export const readAsked = ({ op }: Record<string, unknown>): { op?: string } => (typeof op === 'string' && op !== '' ? { op } : {})
