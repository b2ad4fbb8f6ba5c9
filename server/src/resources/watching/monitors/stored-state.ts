const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Validates the stored state: people and restores can change the table too. */
export function isValidState(state: unknown): boolean {
  if (!isObject(state) || !isObject(state.groups) || !isObject(state.whole)) return false
  return Object.values(state.groups).every((group) => isObject(group) && typeof group.status === 'string')
}
