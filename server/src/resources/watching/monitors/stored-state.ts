const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** isSoundState checks what the store gave back: nothing but this program writes it, but people and restores reach the table too. */
export function isSoundState(state: unknown): boolean {
  if (!isObject(state) || !isObject(state.groups) || !isObject(state.whole)) return false
  return Object.values(state.groups).every((group) => isObject(group) && typeof group.status === 'string')
}
